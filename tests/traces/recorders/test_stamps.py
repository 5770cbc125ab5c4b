"""Stamps in the order of their recorder: threads out of order, clocks that were set back, stamps from long before."""

import numpy as np

from rocketproof.traces.recorders.stamps import SetBack, in_own_order

MS = 1_000
SECOND = 1_000 * MS


def stamps(*millis: int) -> list[int]:
    return [one * MS for one in millis]


def test_threads_out_of_order_count_as_the_one_before() -> None:
    ordered, back = in_own_order(np.array(stamps(5_000, 4_000, 5_001)))
    assert (ordered.tolist(), back) == (stamps(5_000, 5_000, 5_001), ())


def test_a_clock_that_was_set_back_goes_on() -> None:
    ordered, back = in_own_order(np.array(stamps(1_000, 9_000, 4_000, 6_000, 6_500, 8_000, 12_000)))
    assert ordered.tolist() == stamps(1_000, 9_000, 9_000, 11_000, 11_500, 13_000, 17_000)
    assert back == (SetBack(row=2, at=9 * SECOND, by=5 * SECOND),)


def test_a_clock_is_set_back_twice_and_to_the_end() -> None:
    ordered, back = in_own_order(np.array(stamps(9_000, 6_000, 8_000, 5_000, 7_000)))
    assert ordered.tolist() == stamps(9_000, 9_000, 11_000, 11_000, 13_000)
    assert [(one.row, one.by) for one in back] == [(1, 3 * SECOND), (3, 3 * SECOND)]


def test_a_clock_that_is_set_back_at_the_end_goes_on() -> None:
    ordered, back = in_own_order(np.array(stamps(8_000, 9_000, 4_000, 4_010, 4_010)))
    assert ordered.tolist() == stamps(8_000, 9_000, 9_000, 9_010, 9_010)
    assert [(one.row, one.by) for one in back] == [(2, 5 * SECOND)]


def test_stamps_from_before_a_process_was_suspended_stay() -> None:
    held_up = stamps(1_000, 1_001, 131_000, 1_002, 1_003, 131_001)
    ordered, back = in_own_order(np.array(held_up))
    assert (ordered.tolist(), back) == (held_up, ())


def test_a_file_in_no_order_stays_as_it_is_and_is_no_work_without_end() -> None:
    backwards = np.arange(20_000, 0, -1) * 2 * SECOND
    ordered, back = in_own_order(backwards)
    assert (ordered.tolist(), back) == (backwards.tolist(), ())


def test_thousands_of_events_pass_before_the_clock_is_where_it_was() -> None:
    passed = np.arange(0, 60 * SECOND, 3 * MS)
    told = np.where(passed < 30 * SECOND, passed, passed - 20 * SECOND)
    ordered, back = in_own_order(told)
    row = int(np.flatnonzero(passed >= 30 * SECOND)[0])
    assert back == (SetBack(row=row, at=int(passed[row - 1]), by=20 * SECOND - 3 * MS),)
    assert np.abs(ordered - passed).max() == 3 * MS
