"""What is imported is held against the claims: right, wrong, and not to be told."""

import pytest

from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.engine.local import check_locally
from rocketproof.traces.io import open_trace

from .test_broker_log import joined, log, subscribed
from .test_client_log import MQ, NAMING, new, rebalanced
from .test_listener_log import LOG
from .test_message_trace import CALL, KEY, PUB, T, body


def verdicts(tmp_path, **files):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    result = check_locally(open_trace([tmp_path]), settings=Settings())
    return {each.claim.id: (each.verdict.name, each.judged, each.violated) for each in result.verdicts}


def test_seven_deliveries_wait_as_their_levels_say(tmp_path):
    found = verdicts(tmp_path, log=LOG)
    assert found["retry-waits-as-its-level-says"] == ("HOLDS", 6, 0)
    assert found["attempts-follow-each-other"] == ("NOT_OBSERVABLE", 6, 0)  # a copy's count is told by who stores it
    assert found["nothing-skipped"] == ("NOT_OBSERVABLE", 0, 0)


def test_a_retry_that_comes_too_soon_may_have_asked_for_it(tmp_path):
    # A listener may choose a level of its own, and its broker may have levels of its own: nobody told either.
    assert LOG.count("09:18:40") == 2
    found = verdicts(tmp_path, log=LOG.replace("09:18:40", "09:18:10"))
    assert found["retry-waits-as-its-level-says"] == ("UNKNOWN", 6, 0)


def calls(*attempts):
    """A body in which a message fails with each of these counts, ten minutes apart."""
    records = [PUB]
    for attempt in attempts:
        time, call = T + attempt * 600_000, CALL[:-4] + f"{attempt:04X}"
        records.append(["SubBefore", time, "R", "CG", call, KEY, attempt, ""])
        records.append(["SubAfter", call, KEY, 5, "false", "", 4, time + 5, "CG"])
    return body(*records)


def test_a_message_trace_that_lacks_an_attempt_settles_nothing(tmp_path):
    # TR-2: what is not in a message trace may have been lost, whatever it is.
    assert verdicts(tmp_path, trace=calls(0, 1, 2))["attempts-follow-each-other"] == ("NOT_OBSERVABLE", 2, 0)
    assert verdicts(tmp_path, trace=calls(0, 2))["attempts-follow-each-other"] == ("UNKNOWN", 1, 0)


@pytest.mark.parametrize(
    ("other", "expression", "one", "same"),
    [
        ("10.0.0.5@1", "b", ("VIOLATED", 1, 1), ("VIOLATED", 4, 1)),
        ("10.0.0.6@1", "b", ("HOLDS", 2, 0), ("VIOLATED", 4, 1)),
        ("10.0.0.6@1", "a", ("HOLDS", 2, 0), ("HOLDS", 4, 0)),
    ],
)
def test_a_broker_log_tells_clashes_and_differences(tmp_path, other, expression, one, same):
    here, there = "10.0.0.5:1", "10.0.0.6:1"
    messages = [
        joined("10.0.0.5@1", here),
        subscribed(here, subscription="a"),
        joined(other, there),
        subscribed(there, subscription=expression),
    ]
    found = verdicts(tmp_path, log=log(*messages) + log("the end", at="2024-05-01 10:30:00"))
    assert found["one-process-for-each-client-id"] == one
    assert found["same-subscriptions"] == same


@pytest.mark.parametrize(("value", "expected"), [("0", ("NOT_OBSERVABLE", 3, 0)), ("5", ("HOLDS", 3, 0))])
def test_a_client_log_does_not_tell_whether_a_broker_restarted_where_an_offset_went_back(tmp_path, value, expected):
    lines = [
        (f"doRebalance, CG, add a new mq, {MQ}", "00"),
        (rebalanced("10.0.0.5@4242#81", members=1), "00"),
        (NAMING.replace(f"{MQ} 1", f"{MQ} 4"), "10"),
        (NAMING.replace(f"{MQ} 1", f"{MQ} 4"), "20"),
        (NAMING.replace(f"{MQ} 1", f"{MQ} {value}"), "30"),
        (f"doRebalance, CG, remove unnecessary mq, {MQ}", "40"),
    ]
    text = "".join(new(message, at=f"2024-05-01 10:00:{second}.000") for message, second in lines)
    assert verdicts(tmp_path, log=text)["offset-never-back-without-cause"] == expected


def hand_over(pid, at, *, gives_up=False, members=2):
    """What a member logs that takes a queue, stores its offset for some minutes, and may give it up."""
    client = f"10.0.0.5@{pid}#81"
    rows = [(rebalanced(client, members=members), f"{at}:02"), (f"doRebalance, CG, add a new mq, {MQ}", f"{at}:01")]
    rows += [(NAMING.replace("4242", str(pid)), f"{at + minute}:10") for minute in range(4)]
    if gives_up:
        rows += [(f"doRebalance, CG, remove unnecessary mq, {MQ}", f"{at + 4}:00")]
    return "".join(
        new(message, at=f"2024-05-01 10:{time.zfill(5)}.000", process=pid)
        for message, time in sorted(rows, key=lambda row: row[1].zfill(5))
    )


@pytest.mark.parametrize(("members", "verdict"), [(1, "HOLDS"), (2, "UNKNOWN")])
def test_the_log_of_one_member_of_several_does_not_tell_what_the_others_do(tmp_path, members, verdict):
    found = verdicts(tmp_path, log=hand_over(4242, 10, gives_up=True, members=members))
    for claim in ("overlaps-are-short", "only-owners-commit"):
        assert found[claim][0] == verdict, claim


def test_the_logs_of_all_members_tell(tmp_path):
    logs = {"one": hand_over(4242, 10, gives_up=True), "two": hand_over(4343, 15, gives_up=True)}
    assert verdicts(tmp_path, **logs)["only-owners-commit"][0] == "HOLDS"


def test_copies_of_a_file_of_offsets_do_not_tell_what_was_between_them(tmp_path):
    table = '{"offsetTable":{"orders@CG":{0:%d}}}'
    files = {f"consumerOffset.json.17145576{second}0000": table % second for second in (10, 20, 30)}
    assert verdicts(tmp_path, **files)["offset-never-back-without-cause"][0] == "NOT_OBSERVABLE"
