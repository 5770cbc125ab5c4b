"""Processes that nobody recorded beside, or after, one of their client id: by the offsets that brokers took and nobody
sent, and by lists of members.
"""

from __future__ import annotations

from rocketproof.traces.recorders.joining import CAME_BACK, SHARED_UNSEEN, join
from rocketproof.traces.recorders.recording import Recording
from rocketproof.traces.recorders.sharing import MANY, continuing, sharing

from ...agents import QUEUE, Line, at

SECOND = 1_000_000


def commits(begin: int, count: int, **fields: str) -> list[Line]:
    """Offsets from ``begin`` on, one each second."""
    return [at((10 + n) * SECOND, "commit", **QUEUE, client="c", offset=begin + n, **fields) for n in range(count)]


def lives(*events: Line) -> list[Line]:
    ends = (at(time * SECOND, "heartbeat", client="c", group="orders") for time in (0, 500))
    return sorted([*ends, *events], key=lambda event: (event["time"], event["micros"]))


def recordings(**files: list[Line]) -> list[Recording]:
    return [Recording.of_events(f"{name.replace('_', '-')}.jsonl", events) for name, events in files.items()]


def shared(client: list[Line], broker: list[Line]) -> list[tuple[str, str]]:
    return list(sharing(recordings(client_8_orders=client, broker_7_broker_a=broker)))


def test_a_broker_takes_what_no_recorded_process_has_sent() -> None:
    own, of_other = commits(0, 50), commits(1_000, MANY)
    assert shared(lives(*own), [*own, *of_other]) == [("c", "orders")]
    assert shared(lives(*own), [*own, *of_other[1:]]) == []  # too few
    assert shared(lives(*own, *of_other), [*own, *of_other]) == []
    assert shared(lives(*own), own) == []


def test_what_may_have_another_reason_tells_of_no_other_process() -> None:
    own, of_other = commits(0, 50), commits(1_000, MANY)
    assert shared(own, [*own, *[{**one, "time": one["time"] + 900_000} for one in of_other]]) == []  # it has ended
    assert shared(lives(), of_other) == []  # the client's offsets were not recorded
    assert shared(lives(*own), [*own, *commits(1_000, MANY, path="file")]) == []


def test_what_a_broker_stores_instead_of_what_was_sent_tells_of_no_other_process() -> None:
    own = commits(0, 50)
    altered = [{**one, "offset": one["offset"] + 1_000} for one in own]
    assert shared(lives(*own), [*own[:20], *altered[20:]]) == []
    assert shared(lives(*own), [*own, *altered]) == [("c", "orders")]
    misplaced = [{**one, "queue": 7} for one in own]
    assert shared(lives(*own), [*own[:20], *misplaced[20:]]) == []
    assert shared(lives(*own), [*own, *misplaced]) == [("c", "orders")]


def test_it_is_a_gap_of_the_client_in_its_group() -> None:
    own, of_other = commits(0, 50), commits(1_000, MANY)
    events = join(recordings(client_8_orders=lives(*own), broker_7_broker_a=[*own, *of_other])).table.to_pylist()
    gaps = [(one["client"], one["group"]) for one in events if one["detail"] == SHARED_UNSEEN]
    assert gaps == [("c", "orders")]


def lists(*members: tuple[int, str]) -> list[Line]:
    own = {"broker": "broker-a", "group": "orders"}
    return [at(time * SECOND, "members", **own, members=names.split()) for time, names in members]


def unrecorded(broker: list[Line], *clients: list[Line], ends: int = 600) -> list[tuple[int, int]]:
    """When a client was not recorded, s, with an end of the whole recording."""
    files = {f"client_{8 + n}_orders": events for n, events in enumerate(clients)}
    last = at(ends * SECOND, "file_persist", broker="broker-a", detail="consumerOffset")
    begin = int(at(0, "gap")["time"])
    found = continuing(recordings(broker_7_broker_a=[*broker, last], **files))
    return [((since - begin) // 1000, (until - begin) // 1000) for who, since, until in found if who == ("c", "orders")]


def test_a_client_that_comes_back_unrecorded_is_missing_until_its_next_recording() -> None:
    first = [*commits(0, 3), at(20 * SECOND, "client_stop", client="c", group="orders")]
    later = {**commits(7, 1)[0], "time": first[0]["time"] + 100_000}
    again = [at(300 * SECOND, "client_start", client="c", group="orders")]
    assert unrecorded([later], first) == [(20, 600)]
    assert unrecorded([later], first, again) == [(20, 300)]
    assert unrecorded(lists((30, "d"), (90, "c d")), first, again) == [(20, 300)]


def test_what_arrives_late_or_was_not_noticed_to_be_gone_has_not_come_back() -> None:
    first = [*commits(0, 3), at(20 * SECOND, "client_stop", client="c", group="orders")]
    under_way = {**commits(2, 1)[0], "time": first[0]["time"] + 14_000}
    assert unrecorded([under_way], first) == []
    assert unrecorded(lists((30, "c d"), (90, "c d"), (160, "d")), first) == []
    assert unrecorded(lists((10, "d"), (30, "c d"), (160, "d")), first) == []  # left out only before it ended
    silent = [at(0, "heartbeat", client="c", group="orders"), at(20 * SECOND, "deliver", client="c", group="orders")]
    assert unrecorded([{**commits(7, 1)[0], "time": first[0]["time"] + 100_000}], silent) == []  # commits not recorded


def test_an_offset_that_it_never_sent_shows_that_its_recording_lacks_the_end() -> None:
    first = commits(0, 3)  # the last one at 12 s
    never_sent = {**commits(7, 1)[0], "time": first[0]["time"] + 3_500}
    assert unrecorded([never_sent], first) == [(12, 13)]
    sent = {**commits(2, 1)[0], "time": first[0]["time"] + 3_500}
    assert unrecorded([sent], first) == []


def test_its_absence_is_a_gap_of_its_last_process() -> None:
    first = [*commits(0, 3), at(20 * SECOND, "client_stop", client="c", group="orders")]
    later = {**commits(7, 1)[0], "time": first[0]["time"] + 100_000}
    events = join(recordings(client_8_orders=first, broker_7_broker_a=[*commits(0, 3), later])).table.to_pylist()
    gaps = [(one["incarnation"], one["due"], one["time"]) for one in events if one["detail"] == CAME_BACK]
    assert gaps == [(0, first[-1]["time"], later["time"])]
