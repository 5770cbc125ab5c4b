"""One header for several files: what one does not say another one may, and contradictions are told once."""

from __future__ import annotations

from rocketproof.traces.format.header import Stated, header_json, merge, read_header
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.format.problems import Problems
from rocketproof.traces.format.schema import BOTH, Group, Header


def said(file: str, **group: object) -> Stated:
    """The header of a JSON file that says something of the group ``orders``."""
    return read_header({"rocketproof_trace": 1, "groups": {"orders": group}}, file=file, line=1, problems=Problems())


def merged(*stated: Stated) -> tuple[Group, list[str]]:
    problems = Problems()
    return merge(stated, problems).groups["orders"], [f"{one.file}: {one.what}" for one in problems.kept]


def test_the_consume_timeout_of_a_group_is_the_longest_of_the_files_that_name_it() -> None:
    def file(name: str, timeout: int, *groups: str) -> Stated:
        given = {
            "rocketproof_trace": 1,
            "groups": {group: {} for group in groups},
            "timers": {"consume_timeout": timeout},
        }
        return read_header(given, file=name, line=1, problems=Problems())

    problems = Problems()
    short, long, longer = file("a", 60_000, "orders"), file("b", 900_000, "stock"), file("c", 120_000, "orders")
    joined = merge([short, long, longer], problems)
    assert {name: group.consume_timeout for name, group in joined.groups.items()} == {
        "orders": 120_000,
        "stock": 900_000,
    }
    assert (joined.timers, problems.kept) == ({"consume_timeout": 900_000}, [])
    # What was joined says the same again, alone or beside others.
    again = read_header(header_json(joined), file="d", line=1, problems=problems)
    for files in ([again], [again, short], [short, again]):
        assert merge(files, problems).groups == joined.groups
    damaged = said("e", consume_timeout=0)
    assert damaged.header.groups["orders"].consume_timeout is None


def test_a_group_that_an_application_pulls_for_is_so_whatever_others_take_it_for() -> None:
    for files in (
        [said("a", listener="pull"), said("b", listener="orderly")],
        [said("b", listener="orderly"), said("a", listener="pull")],
    ):
        group, told = merged(*files)
        assert (group.listener, told) == ("pull", [])
        assert group.differs.startswith("its application pulls")


def test_deaths_are_recorded_where_each_file_with_owners_tells_them() -> None:
    def evidence(*kinds: tuple[Kind, ...]) -> frozenset[Kind]:
        return merge([Stated(header=Header(evidence=frozenset(each))) for each in kinds], Problems()).evidence

    joined, log, broker = (Kind.ASSIGN, Kind.CLIENT_CRASH), (Kind.ASSIGN, Kind.REVOKE), (Kind.STORE,)
    assert evidence(joined, broker) == {*joined, *broker}
    assert evidence(joined, log, broker) == {Kind.ASSIGN, Kind.REVOKE, Kind.STORE}


LACKING = {"c@1": {"orders": ["deliver", "result"], "stock": ["pull"]}}


def test_what_a_client_does_not_record_of_a_group_is_read_as_it_was_written() -> None:
    problems = Problems()
    header = read_header({"rocketproof_trace": 1, "lacking": LACKING}, file="a", line=1, problems=problems).header
    assert problems.kept == []
    assert header.lacking[("c@1", "orders")] == {Kind.DELIVER, Kind.RESULT}
    assert header_json(header)["lacking"] == LACKING
    assert merge([Stated(header=Header()), Stated(header=header)], problems).lacking == header.lacking


def test_damage_in_what_is_not_recorded_is_told() -> None:
    for damaged in (7, {"c@1": ["deliver"]}, {"c@1": {"orders": ["sing"]}}, {"c@1": {"orders": 7}}):
        problems = Problems()
        read_header({"rocketproof_trace": 1, "lacking": damaged}, file="a", line=1, problems=problems)
        assert problems.count == 1


def test_what_a_log_does_not_know_of_a_group_a_later_file_says() -> None:
    log = Stated(header=Header(groups={"orders": Group(mode="clustering")}), file="a.log")
    agent = said("b.jsonl", mode="clustering", listener="orderly", max_attempts=3, strategy="AVG_BY_CIRCLE")
    expected = Group(mode="clustering", listener="orderly", max_attempts=3, strategy="AVG_BY_CIRCLE")
    assert merged(log, agent) == (expected, [])
    assert merged(agent, log) == (expected, [])


def test_a_default_that_is_said_contradicts_what_is_not() -> None:
    known, told = merged(said("a.jsonl", mode="clustering"), said("b.jsonl", mode="broadcasting"))
    assert known == Group(mode="both")
    assert told == ["b.jsonl: mode of group orders is broadcasting, in a.jsonl clustering"]


def test_members_with_both_listeners() -> None:
    one, other = said("a.jsonl", listener="orderly"), said("b.jsonl", listener="concurrently")
    known, told = merged(one, other, said("c.jsonl", listener="orderly"))
    assert known.listener == BOTH
    assert told == ["b.jsonl: listener of group orders is concurrently, in a.jsonl orderly"]


def test_what_several_files_say_otherwise_is_told_once() -> None:
    _, told = merged(said("a.jsonl", strategy="AVG"), *(said(f"{n}.jsonl", strategy="CONFIG") for n in range(3)))
    assert told == ["0.jsonl: strategy of group orders is CONFIG, in a.jsonl AVG (and so in 2 more files)"]


def test_members_may_differ_in_their_maximum() -> None:
    known, told = merged(said("a.jsonl", max_attempts=16), *(said(f"{n}.jsonl", max_attempts=2) for n in range(3)))
    assert (known.max_attempts, known.lowest_max_attempts, told) == (16, 2, [])
    known, _ = merged(said("a.jsonl", max_attempts=2), said("b.jsonl", max_attempts=2))
    assert (known.max_attempts, known.lowest_max_attempts) == (2, None)


def test_the_default_of_an_orderly_listener_is_the_highest_maximum() -> None:
    files = [said(f"{n}.jsonl", listener="orderly", max_attempts=n) for n in (2, -1, 5)]
    known, _ = merged(*files)
    assert (known.max_attempts, known.lowest_max_attempts) == (-1, 2)
    assert (known.maximum, known.lowest_maximum) == (2**31 - 1, 2)


def test_a_damaged_member_is_not_said() -> None:
    assert merged(said("a.jsonl", listener=7), said("b.jsonl", listener="orderly")) == (Group(listener="orderly"), [])
