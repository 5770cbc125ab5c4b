"""Collecting from a cluster: what is read, what is not asked, going on, limits, and what goes wrong."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from rocketproof.traces.cluster.collect import GAPS, GROWING, MESSAGES, SAMPLES, TRACE, Asked, Collected, Collection
from rocketproof.traces.cluster.folder import Folder
from rocketproof.traces.cluster.questions import READER, TRACE_TOPIC, Cluster, Request
from rocketproof.traces.cluster.queues import Limits
from rocketproof.traces.cluster.remoting import ClusterError, Credentials
from rocketproof.traces.cluster.samples import Sampling
from rocketproof.traces.io.open import open_trace

from .fake import FakeCluster, Message

T = 1_700_000_000_000
KEY = "0A00000512670000000000000000000{}"
CALL = "0A000005126718B4AAC200000000000{}"


def pub(number: int, topic: str = "orders") -> str:
    fields = ["Pub", T, "DEFAULT", "PG", topic, KEY.format(number), "a", "k", "10.0.0.1:1", 4, 2, 0, "id", "true"]
    return "\x01".join(map(str, fields)) + "\x02"


def call(number: int, group: str = "CG") -> str:
    before = ["SubBefore", T + 10, "DEFAULT", group, CALL.format(number), KEY.format(number), 0, "k"]
    after = ["SubAfter", CALL.format(number), KEY.format(number), 5, "true", "k", 0, T + 20, group]
    return "".join("\x01".join(map(str, fields)) + "\x02" for fields in (before, after))


def trace(*records: str, time: int = T + 30, packed: bool = False) -> Message:
    return Message(body="".join(records).encode(), time=time, packed=packed)


def a_cluster(**more: object) -> FakeCluster:
    return FakeCluster(
        queues={
            (TRACE_TOPIC, 0): [trace(pub(1), call(1)), trace(pub(2), packed=True), trace(call(2))],
            ("orders", 0): [Message(body=b"x", time=T, key=KEY.format(1)), Message(body=b"y", time=T + 1)],
            ("%RETRY%CG", 0): [],
        },
        offsets={("CG", "orders", 0): 2},
        members={"CG": ["10.0.0.5@4711"]},
        **more,  # type: ignore[arg-type]
    )


def collected(
    fake: FakeCluster,
    folder: Path,
    asked: Asked = Asked(groups=("CG",)),  # noqa: B008
    *,
    since: int = T - 1000,
    until: int | None = None,
    limits: Limits | None = None,
    credentials: Credentials | None = None,
    watch: float = 0,
    clock: int = T + 60_000,
) -> Collected:
    cluster = Cluster((fake.address,), credentials=credentials)
    times = iter(range(clock, clock + 10_000_000, 1000))
    try:
        with Folder(folder, asked.as_told(), GROWING) as kept:
            collection = Collection(
                cluster,
                asked,
                kept,
                since=since,
                until=until,
                limits=limits or Limits(messages=1000, size=1 << 20, seconds=60),
                sampling=Sampling(clock=lambda: next(times)),
            )
            return collection.run(watch=watch, every=0.05)
    finally:
        cluster.close()


def lines(folder: Path, name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / name).read_text().splitlines()]


def events(folder: Path) -> list[dict[str, object]]:
    wanted = ("time", "kind", "group", "topic", "broker", "queue", "offset", "key", "members", "result")
    found = [event for batch in open_trace([folder]).batches(list(wanted)) for event in batch.to_pylist()]
    return [{name: value for name, value in event.items() if value is not None} for event in found]


def test_a_folder_holds_traces_offsets_members_and_routes_and_nothing_is_changed(tmp_path: Path) -> None:
    with a_cluster() as fake:
        result = collected(fake, tmp_path / "out")
    assert result.written == {TRACE: 3, SAMPLES: 4}
    assert not result.unread
    found = [(event["kind"], event.get("offset")) for event in events(tmp_path / "out")]
    assert sorted(map(str, found)) == sorted(
        map(
            str,
            [
                *[("store", None)] * 2,
                *[("deliver", None), ("result", None)] * 2,
                *[("route", None)] * 2,
                ("members", None),
                ("commit", 2),
                *[("gap", None)] * 3,
            ],
        )
    )
    assert set(fake.asked) <= set(Request)
    assert {(pull["consumerGroup"], pull["sysFlag"]) for pull in fake.pulled} == {(READER, "4")}
    head = lines(tmp_path / "out", SAMPLES)[0]
    assert (head["release"], head["delays"]) == ("5.3.1", "1s 5s 10s")


def test_the_next_run_adds_what_is_new_and_nothing_twice(tmp_path: Path) -> None:
    with a_cluster() as fake:
        collected(fake, tmp_path / "out")
        assert not collected(fake, tmp_path / "out", clock=T + 90_000).written
        fake.queues[TRACE_TOPIC, 0].append(trace(call(3)))
        fake.offsets["CG", "orders", 0] = 1
        result = collected(fake, tmp_path / "out", clock=T + 120_000)
    assert result.written == {TRACE: 1, SAMPLES: 1}
    assert [line["offset"] for line in lines(tmp_path / "out", TRACE)] == [0, 1, 2, 3]
    assert [line["offset"] for line in lines(tmp_path / "out", SAMPLES) if line.get("kind") == "commit"] == [2, 1]
    sampled, kept_back = lines(tmp_path / "out", GAPS)[1:]
    assert (sampled["due"], sampled["group"], sampled["broker"]) == (T + 63_000, "CG", "a")
    assert (kept_back["group"], "broker" in kept_back) == ("CG", False)
    assert min(int(str(gap["time"])) for gap in (sampled, kept_back)) > T + 120_000


@pytest.mark.parametrize("after", [0, 1, 2, 3, 4])
def test_a_run_that_ends_anywhere_is_gone_on_with(tmp_path: Path, after: int) -> None:
    asked = Asked(groups=("CG",), messages=True)
    with a_cluster() as whole:
        collected(whole, tmp_path / "whole", asked)
    with a_cluster(dies_after=after) as fake:
        if after < 2:
            with pytest.raises(ClusterError, match=r"broker a at .* does not answer: the connection ended"):
                collected(fake, tmp_path / "out", asked)
            fake.dies_after = -1
        collected(fake, tmp_path / "out", asked)
    for name in (TRACE, MESSAGES):
        assert (tmp_path / "out" / name).read_text() == (tmp_path / "whole" / name).read_text()


def test_a_line_that_was_being_written_is_cut_off_and_read_again(tmp_path: Path) -> None:
    with a_cluster() as fake:
        collected(fake, tmp_path / "out")
        whole = (tmp_path / "out" / TRACE).read_text()
        with (tmp_path / "out" / TRACE).open("a") as file:
            file.write('{"bornHost": "/10.0')
        (tmp_path / "out" / "mine.txt").write_text("notes")
        collected(fake, tmp_path / "out")
    assert (tmp_path / "out" / TRACE).read_text() == whole
    assert (tmp_path / "out" / "mine.txt").exists()


def test_a_limit_stops_between_answers_and_the_next_run_reads_on(tmp_path: Path) -> None:
    with a_cluster() as fake:
        fake.queues[TRACE_TOPIC, 1] = [trace(call(4)), trace(call(5))]
        first = collected(fake, tmp_path / "out", limits=Limits(messages=2, size=1 << 20, seconds=60))
        assert first.written[TRACE] == 3
        assert {(queue.id, why) for queue, why in first.unread.items()} == {(1, "the limit of 2 messages is reached")}
        assert collected(fake, tmp_path / "out").written[TRACE] == 2


def test_only_the_window_and_only_the_groups_are_taken(tmp_path: Path) -> None:
    with a_cluster() as fake:
        fake.queues[TRACE_TOPIC, 0] = [
            trace(call(1), time=T - 5000),
            trace(pub(1), pub(2, "other"), call(1), call(2, "others")),
            trace(call(3), time=T + 5000),
        ]
        result = collected(fake, tmp_path / "out", until=T + 5000)
    assert result.written[TRACE] == 1
    assert result.left_out == {"record of another group or topic": 3}
    (line,) = lines(tmp_path / "out", TRACE)
    assert (line["offset"], str(line["body"]).count("\x02")) == (1, 3)


def test_messages_of_topics_retries_and_dead_letters(tmp_path: Path) -> None:
    with a_cluster() as fake:
        fake.queues["%RETRY%CG", 0] = [Message(body=b"x", time=T + 2, key=KEY.format(1), attempt=1)]
        fake.queues["%DLQ%CG", 0] = [Message(body=b"x", time=T + 3, key=KEY.format(1), attempt=16)]
        fake.queues["orders", 0][0] = None
        result = collected(fake, tmp_path / "out", Asked(groups=("CG",), messages=True, trace_topic=""))
    assert result.written[MESSAGES] == 3
    kinds = [(line["kind"], line["attempt"], line.get("offset")) for line in lines(tmp_path / "out", MESSAGES)[1:]]
    assert sorted(kinds, key=str) == [("dead_letter", 16, None), ("delay_deliver", 1, 0), ("store", 0, 1)]
    assert all("body" not in line for line in lines(tmp_path / "out", MESSAGES))


def test_messages_that_were_deleted_before_they_were_read_are_a_gap(tmp_path: Path) -> None:
    asked = Asked(groups=("CG",), messages=True, trace_topic="")
    with a_cluster() as fake:
        collected(fake, tmp_path / "out", asked)
        fake.queues["orders", 0] = [None, None, None, None, Message(body=b"z", time=T + 9)]
        result = collected(fake, tmp_path / "out", asked)
    assert (result.written[MESSAGES], result.lost) == (1, 2)
    gaps = [line["detail"] for line in lines(tmp_path / "out", GAPS)[1:] if line.get("topic") == "orders"]
    assert gaps == ["queue 0: 2 messages were deleted before they were read"]


def test_headers_in_rocketmqs_own_form_are_read(tmp_path: Path) -> None:
    with a_cluster(binary=True) as fake:
        assert collected(fake, tmp_path / "out").written == {TRACE: 3, SAMPLES: 4}


def test_a_group_of_nobody_is_known_to_a_broker_of_4x_by_its_offsets(tmp_path: Path) -> None:
    with a_cluster(release="V4_9_8") as fake:
        fake.members.clear()
        collected(fake, tmp_path)
        assert {343, 208} <= set(fake.asked)
    (offset,) = (event for event in events(tmp_path) if event["kind"] == "commit")
    assert (offset["topic"], offset["offset"]) == ("orders", 2)


def test_watching_samples_again_and_again(tmp_path: Path) -> None:
    with a_cluster() as fake:
        result = collected(fake, tmp_path / "out", watch=0.2)
    assert result.samples >= 2
    assert result.written == {TRACE: 3, SAMPLES: 4}


def test_requests_are_signed_where_there_is_an_account(tmp_path: Path) -> None:
    account = Credentials(access_key="reader", secret_key="12345678", token="t")
    assert "12345678" not in repr(account)
    with a_cluster(account=account) as fake:
        with pytest.raises(ClusterError, match=r"does not allow to read the brokers .*: --credentials, or ROCKET"):
            collected(fake, tmp_path / "out")
        wrong = Credentials(access_key="reader", secret_key="87654321")
        with pytest.raises(ClusterError, match="The account needs to read"):
            collected(fake, tmp_path / "out", credentials=wrong)
        assert collected(fake, tmp_path / "out", credentials=account).written[TRACE] == 3
    assert all(b"12345678" not in path.read_bytes() for path in (tmp_path / "out").iterdir())


def test_a_signature_is_that_of_the_java_client() -> None:
    """AclUtils#calSignature of the values in the order of their names: HMAC-SHA1 in base64."""
    signed = Credentials(access_key="rocketmq2", secret_key="12345678").signed({"topic": "orders", "queueId": "3"})
    # echo -n 'rocketmq23orders' | openssl dgst -sha1 -hmac 12345678 -binary | base64
    assert signed["Signature"] == "z8VW3V2A8LVRzLEUhKWZPNt/M5g="
    assert signed["AccessKey"] == "rocketmq2"


def test_what_is_not_there_is_told_in_a_line(tmp_path: Path) -> None:
    with a_cluster(refused=(TRACE_TOPIC,)) as fake:
        with pytest.raises(ClusterError, match=f"a does not allow to read offsets of {TRACE_TOPIC} .code 16"):
            collected(fake, tmp_path / "1")
        with pytest.raises(ClusterError, match="group CGX: no broker knows a member of it, or offsets"):
            collected(fake, tmp_path / "2", Asked(groups=("CGX",)))
        assert [path.name for path in (tmp_path / "2").iterdir()] == ["_lock"]
        with pytest.raises(ClusterError, match="topic nix: the name server does not know it"):
            collected(fake, tmp_path / "3", Asked(topics=("nix",)))
        fake.queues = {at: kept for at, kept in fake.queues.items() if at[0] != TRACE_TOPIC}
        with pytest.raises(ClusterError, match=f"no topic {TRACE_TOPIC}.*traceTopicEnable=true"):
            collected(fake, tmp_path / "4", Asked(topics=("orders",)))
        (note,) = collected(fake, tmp_path / "5").notes
        assert "traceTopicEnable=true" in note
    with pytest.raises(ClusterError, match=r"no name server answers: .*refused.*--tls"):
        collected(fake, tmp_path / "6")


def test_a_folder_is_of_one_question_and_one_run(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with a_cluster() as fake:
        collected(fake, out)
        with pytest.raises(ClusterError, match="was collected with another --group"):
            collected(fake, out, Asked(groups=("others",)))
        with Folder(out, Asked(groups=("CG",)).as_told(), GROWING), pytest.raises(ClusterError, match="another run"):
            collected(fake, out)
        os.truncate(out / TRACE, 5)
        with pytest.raises(ClusterError, match="is shorter than what was collected"):
            collected(fake, out)
        (tmp_path / "notes.txt").write_text("mine")
        with pytest.raises(ClusterError, match="holds something else"):
            collected(fake, tmp_path)


def test_a_body_that_cannot_be_read_is_counted(tmp_path: Path) -> None:
    with a_cluster() as fake:
        fake.queues[TRACE_TOPIC, 0].append(Message(body=b"\xff\xfe", time=T))
        assert collected(fake, tmp_path / "out").left_out == {"message of the trace topic whose body cannot be read": 1}
