import pytest

from rocketproof.traces.engine.findings import Doubt
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.message_status import MessageStatus
from rocketproof.traces.format.schema import Group

from .message_events import ALL, DEAD_LETTERS, START, Script, check

EXACTLY, AFTER = "dead-letter-exactly-at-the-maximum", "nothing-after-the-dead-letter"
FOLLOW, WITHIN = "attempts-follow-each-other", "attempts-within-the-maximum"
TWO = {"G": Group(max_attempts=2)}


def last(count: int = 2, *, named: int | None = 2, **sent: int | str) -> Script:
    """A message that fails at ``count``, and is sent back."""
    script = Script().deliver(0, count).result(10, "later", count)
    return script.send_back(12, count, named=named, **sent)  # type: ignore[arg-type]


def test_a_dead_letter_at_the_maximum():
    said = check(last().dead_letter(11, 3), end=100_000, groups=TWO)
    assert said.violated == {}
    assert (said.judged(EXACTLY), said.judged(AFTER)) == (1, 1)
    assert said.chains == [(MessageStatus.DEAD_LETTERED, 3, 0)]


def test_what_is_sent_back_at_the_maximum_becomes_a_dead_letter_at_once():
    again = "sent-back-message-comes-again"
    assert check(last(), end=8_012, groups=TWO).violated == {}
    said = check(last(), end=8_013, groups=TWO)
    assert said.violated == {again: 1}
    assert [(row["value"], row["expected"]) for row in said.violations(again)] == [(0, 1)]
    assert again not in check(last().dead_letter(11, 3), end=100_000, groups=TWO).violated
    # A fallback may wait in the schedule topic first; and what is not recorded is not missed.
    assert again not in check(last(path="fallback"), end=8_013, groups=TWO).violated
    assert check(last(), end=100_000, groups=TWO, evidence=ALL - {Kind.DEAD_LETTER}).doubtful == {again: 1}
    assert check(last().add(20, Kind.GAP, due=START + 5), end=8_013, groups=TWO).doubtful == {again: 1}


def test_a_dead_letter_too_early():
    (found,) = check(last(1).dead_letter(11, 2), groups=TWO).violations(EXACTLY)
    assert (found["value"], found["expected"], found["doubt"]) == (1, 2, 0)


def test_a_listener_may_give_up_at_once():
    assert check(last(0, level=-1).dead_letter(11, 1), groups=TWO).violated == {}


def test_a_retry_of_what_the_listener_gave_up():
    assert check(last(0, level=-1).delay_store(11, 1, 3, 10_011), end=100, groups=TWO).violated == {EXACTLY: 1}


def test_a_retry_at_the_maximum():
    said = check(last().delay_store(11, 3, 5, 60_011), end=100, groups=TWO)
    assert said.violated == {EXACTLY: 1}
    assert [(row["value"], row["expected"]) for row in said.violations(EXACTLY)] == [(2, 2)]


def test_without_send_backs_a_listener_may_have_given_up():
    script = Script().deliver(0, 1).result(10, "later", 1).dead_letter(11, 2)
    assert check(script, groups=TWO, evidence=ALL - {Kind.SEND_BACK}).doubtful == {EXACTLY: 1}
    assert check(script, groups=TWO).violated == {EXACTLY: 1}
    assert check(script.add(12, Kind.GAP, due=START), groups=TWO).violations(EXACTLY)[0]["doubt"] == Doubt.GAP


def test_without_a_known_maximum_an_early_dead_letter_is_in_doubt():
    script = Script().deliver(0, 1).result(10, "later", 1).dead_letter(11, 2)
    assert check(script, groups={}, evidence=ALL - {Kind.SEND_BACK}).doubtful == {EXACTLY: 1}
    script = Script().deliver(0, 16).result(10, "later", 16).dead_letter(11, 17)
    assert check(script, groups={}, evidence=ALL - {Kind.SEND_BACK}).doubtful == {}


@pytest.mark.parametrize(("release", "violated"), [("5.3.3", {EXACTLY: 1}), ("4.9.8", {})])
def test_a_fallback_of_4_x_gives_up_one_try_early(release: str, violated: dict[str, int]):
    script = Script().deliver(0, 1).result(10, "later", 1).send_back(11, 1, named=2, result="failed")
    script.send_back(13, 1, named=2, path="fallback").dead_letter(12, 2)
    assert check(script, release=release).violated == violated


@pytest.mark.parametrize(("release", "violated"), [("5.3.3", {EXACTLY: 1}), ("4.9.8", {})])
def test_a_dead_letter_that_waits_in_the_schedule_topic(release: str, violated: dict[str, int]):
    script = Script().deliver(0, 2).result(10, "later", 2).send_back(11, 2, named=2, result="failed")
    script.add(12, Kind.DELAY_STORE, topic=DEAD_LETTERS, broker="b", queue=0, attempt=3, key="m", level=5,
               due=START + 60_012)  # fmt: skip
    script.send_back(13, 2, named=2, path="fallback").dead_letter(60_012, 3)
    assert check(script, release=release).violated == violated


def test_a_dead_letter_that_comes_late():
    (found,) = check(last().dead_letter(60_011, 3), groups=TWO).violations(EXACTLY)
    assert (found["value"], found["expected"]) == (START + 60_011, START + 10)
    assert check(last().dead_letter(20_000, 3), groups=TWO).violated == {}


def test_a_dead_letter_is_delivered_again():
    script = last().dead_letter(11, 3).deliver(60_020, 3, offset=30)
    assert check(script, groups=TWO).violated == {AFTER: 1, WITHIN: 1}
    script = last(level=-1, named=9).dead_letter(11, 3).deliver(60_020, 4, offset=30)
    said = check(script, groups=TWO)
    assert said.violated == {AFTER: 1, FOLLOW: 1, WITHIN: 1, "maximum-as-configured": 1}
    assert [(row["value"], row["expected"]) for row in said.violations(AFTER)] == [(4, 3)]


def test_a_group_that_reads_its_own_dead_letters():
    script = last().dead_letter(11, 3).deliver(900_000, 3, offset=0, topic=DEAD_LETTERS)
    assert AFTER not in check(script, groups=TWO).violated


def test_the_last_attempt_may_come_again_from_its_queue():
    script = last().dead_letter(11, 3).client(500, Kind.CLIENT_CRASH).deliver(900, 2, client="c2")
    assert AFTER not in check(script, groups=TWO).violated


def test_of_two_copies_one_may_be_given_up_before_the_other_comes():
    script = Script().deliver(0).result(10, "later").dead_letter(11, 1).send_back(5_012, level=-1, result="failed")
    script.send_back(5_014, path="fallback").delay_store(5_013, 1, 3, 15_013).delay_deliver(15_013, 1, 20)
    assert check(script.deliver(15_020, 1, offset=20)).violated == {}


def test_only_one_dead_letter_of_one_failure():
    assert check(last().dead_letter(11, 3).dead_letter(400, 3, offset=1), groups=TWO).violated == {
        "every-copy-has-a-cause": 1
    }


@pytest.mark.parametrize(("client", "count"), [("c1", 1), ("c2", 0)])
def test_what_is_a_dead_letter_is_one_even_if_it_was_consumed_meanwhile(client: str, count: int):
    # SB-7: the broker stores the dead letter, and refuses; the client tries again by itself, or another does.
    script = last(0, named=0, result="failed").dead_letter(11, 1).send_back(13, 0, result="failed", path="fallback")
    script.deliver(5_013, count, client=client, offset=7, topic="T")
    script.result(5_020, "ok", count, client=client, offset=7, topic="T")
    said = check(script, end=100_000)
    assert said.chains == [(MessageStatus.DEAD_LETTERED, 1, 0)]
    # The monitor by queue counts it among the acknowledged.
    assert said.statuses == {MessageStatus.ACKNOWLEDGED: -1, MessageStatus.DEAD_LETTERED: 1}


def test_an_orderly_client_of_4_x_names_the_count_that_failed():
    orderly = {"G": Group(max_attempts=2, listener="orderly")}
    said = check(last(path="fallback").dead_letter(11, 2), end=100_000, groups=orderly)
    assert said.violated == {}
    assert said.chains == [(MessageStatus.DEAD_LETTERED, 3, 0)]
    assert check(last(path="fallback").dead_letter(11, 2), end=100_000, groups=TWO).violated != {}
    # Where no lock of the group lives, it is a retry, with that count too.
    kept = last(path="fallback").delay_store(11, 2, 5, 60_011)
    assert "sent-back-message-comes-again" not in check(kept, end=900_000, groups=orderly).violated
    early = check(last(1, path="fallback").dead_letter(11, 1), end=100_000, groups=orderly)
    assert early.violated == {EXACTLY: 1}


def test_what_takes_too_long_is_not_given_up():
    slow = Script().deliver(0, 0).expire(60_000)
    too_early = slow.send_back(60_010, 0, named=2, path="expired", level=-1).dead_letter(60_009, 1)
    assert check(too_early, end=100_000, groups=TWO).violated == {EXACTLY: 1}


def test_a_dead_letter_without_its_count_is_of_the_failure_before_it():
    # Of two copies of one attempt both become dead letters; and a client that could not send back had counted on.
    def untold(script: Script, time: int) -> Script:
        return script.add(time, Kind.DEAD_LETTER, topic=DEAD_LETTERS, broker="b", key=script.key)

    script = Script().deliver(0, 1).result(10, "later", 1).send_back(11, 1, result="failed")
    script.send_back(12, 1, result="failed", path="fallback").deliver(5_012, 2, offset=7).result(5_020, "later", 2)
    script.send_back(5_021, 2, named=9, result="failed").send_back(5_022, 2, named=9, path="fallback")
    script.deliver(90_000, 1).result(90_010, "later", 1)
    untold(script, 90_011).send_back(90_012, 1, named=1).deliver(90_020, 1, offset=8).result(
        90_030, "later", 1, offset=8
    )
    untold(script, 90_031).send_back(90_032, 1, offset=8, named=1)
    assert FOLLOW not in check(script, groups={"G": Group(max_attempts=1)}).violated


def test_a_second_attempt_of_a_fallback_is_given_up_without_a_count():
    """SB-8: a live lock of the group makes it a dead letter at once, whatever its count (SB-15)."""
    orderly = {"G": Group(max_attempts=1, listener="orderly")}
    said = check(last(1, named=1, path="fallback").dead_letter(11, 0), end=100_000, groups=orderly)
    assert (said.violated, said.doubtful) == ({}, {})
    assert (said.judged("sent-back-message-comes-again"), said.judged(EXACTLY)) == (1, 0)
