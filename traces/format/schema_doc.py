"""The description of the trace format, made from the schema itself: docs/trace-format.md.

``python -m rocketproof.traces.format.schema_doc`` prints it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import pyarrow as pa

from .header import MARK
from .kinds import Kind, Path, Result
from .schema import FIELDS, HEADER_KEY, TIMERS, VERSION, Field, Group, Header

KINDS: Mapping[Kind, tuple[str, str, str]] = {
    Kind.CLIENT_START: ("client", "group", "The client instance runs."),
    Kind.CLIENT_STOP: ("client", "group", "An orderly shutdown is complete."),
    Kind.CLIENT_CRASH: ("client", "group", "The process died, as an observer outside saw it."),
    Kind.HEARTBEAT: ("client", "group, subscriptions", "The client tells the brokers what it consumes."),
    Kind.UNREGISTER: ("client", "group", "The client leaves the group (request 35)."),
    Kind.BROKER_START: ("broker", "", "The broker serves requests."),
    Kind.BROKER_STOP: ("broker", "", "An orderly shutdown of the broker is complete."),
    Kind.BROKER_CRASH: ("broker", "", "The broker died, as an observer outside saw it."),
    Kind.ROLE_CHANGE: ("broker", "result", "The broker becomes master or slave."),
    Kind.MEMBERS: ("broker", "group, members", "The list of members that the broker has for the group."),
    Kind.ROUTE: (
        "client, or nobody for the name server",
        "topic, queues",
        "The queues of the topic, as the client or the name server knows them.",
    ),
    Kind.REBALANCE: (
        "client",
        "group, topic, members, queues, assigned, detail",
        "One pass of rebalance over one topic: what it saw and what it answered; `detail` is the strategy.",
    ),
    Kind.ASSIGN: ("client", "group, queue, offset", "The client adds the queue, and will pull from `offset`."),
    Kind.REVOKE: ("client", "group, queue, path", "The client drops the queue; `path` is why."),
    Kind.LOCK: ("client", "group, queue, result", "The client asked the broker to lock the queue: `ok` or `failed`."),
    Kind.UNLOCK: ("client", "group, queue", "The client gives the lock back."),
    Kind.LOCK_LOST: ("client", "group, queue", "The client finds its lock expired or refused."),
    Kind.OFFSET_QUERY: (
        "client",
        "group, queue, offset, result",
        "The client asked for the stored offset: `ok` with `offset`, `none` where nothing is stored, or `error`.",
    ),
    Kind.COMMIT_MEMORY: ("client", "group, queue, offset", "The offset in the client's own table becomes `offset`."),
    Kind.COMMIT: (
        "client, or broker",
        "group, queue, offset, path",
        "The group's stored offset becomes `offset`; `path` is on which way.",
    ),
    Kind.RESET: ("broker", "group, queue, offset", "An operator sets the group's offset."),
    Kind.CORRECT: ("client", "group, queue, offset", "The client mends an illegal pull offset to `offset`."),
    Kind.FILE_LOAD: ("client, or broker", "group", "Offsets are loaded from a file."),
    Kind.FILE_PERSIST: ("client, or broker", "group", "Offsets are written to a file."),
    Kind.PULL: ("client", "group, queue, offset", "Messages are asked for, from `offset` on."),
    Kind.PULL_RESULT: (
        "client",
        "group, queue, offset, result, next, min, max, count",
        "The answer to a pull from `offset`.",
    ),
    Kind.FLOW_CONTROL: ("client", "group, queue, path", "The client does not pull now; `path` is why."),
    Kind.DELIVER: (
        "client",
        "group, queue, offset, key or origin, attempt, count, next",
        "The listener is called with the message at `offset`.",
    ),
    Kind.RESULT: (
        "client",
        "group, queue, offset, key or origin, attempt, result",
        "The call has ended for the message at `offset`; [of several](#calls-with-several-messages) each has its own.",
    ),
    Kind.REMOVED: (
        "client",
        "group, queue, offset, next",
        "The message left the window; `next` is the low-water mark then.",
    ),
    Kind.DISCARDED: (
        "client",
        "group, queue, offset",
        "A result was not acted upon, because the queue had been dropped meanwhile.",
    ),
    Kind.EXPIRE: ("client", "group, queue, offset", "The client cleans a message whose listener runs too long."),
    Kind.SEND_BACK: (
        "client",
        "group, queue, offset, key or origin, attempt, level, max_attempts, path, result",
        "The client asks for a retry by request 36 or its fallback: `ok` or `failed`.",
    ),
    Kind.STORE: (
        "broker (client: the producer, if known)",
        "topic, queue, offset, key or origin, attempt",
        "A message is stored in a real topic, the retry topic included.",
    ),
    Kind.DELAY_STORE: (
        "broker",
        "topic, key or origin, attempt, level, due",
        "A message waits at `level` until `due`; topic and attempt are those of the message it will be.",
    ),
    Kind.DELAY_DELIVER: (
        "broker",
        "topic, queue, offset, key or origin, attempt",
        "A waiting message moves to `queue` and `offset` of its topic.",
    ),
    Kind.DEAD_LETTER: ("broker", "group, key or origin, attempt", "A message is stored in the dead-letter topic."),
    Kind.GAP: ("the recorder of client or broker", "due, count", "`count` events between `due` and `time` were lost."),
}
"""Of each kind: who acts, which fields it has besides those of every event, and what happened."""

RESULTS: Mapping[Result, str] = {
    Result.OK: "it worked; result: `CONSUME_SUCCESS`, or `SUCCESS` of an orderly listener",
    Result.FAILED: "it did not work; result: a failure of which the source says no more",
    Result.ERROR: "the request itself failed",
    Result.MISSING: "offset_query: nothing is stored",
    Result.LATER: "result: `RECONSUME_LATER`",
    Result.SUSPEND: "result: `SUSPEND_CURRENT_QUEUE_A_MOMENT`",
    Result.EXCEPTION: "result: the listener threw an exception",
    Result.NULL: "result: the listener returned null",
    Result.TIMEOUT: "result: the call took longer than the consume timeout",
    Result.COMMIT: "result: `COMMIT` of an orderly listener without automatic commit",
    Result.ROLLBACK: "result: `ROLLBACK` of an orderly listener without automatic commit",
    Result.FOUND: "pull_result: messages came",
    Result.NO_NEW_MESSAGE: "pull_result: there are none beyond the offset",
    Result.NO_MATCHED_MESSAGE: "pull_result: the filter took none",
    Result.OFFSET_ILLEGAL: "pull_result: the queue does not have the offset",
    Result.SUBSCRIPTION_NOT_LATEST: "pull_result: the broker has an older subscription",
    Result.SUBSCRIPTION_NOT_EXIST: "pull_result: the broker has no subscription",
    Result.MASTER: "role_change",
    Result.SLAVE: "role_change",
}
"""Words of the field ``result``."""

PATHS: Mapping[Path, str] = {
    Path.PERIODIC: "commit: every 5 s",
    Path.PIGGYBACK: "commit: with a pull request",
    Path.REMOVAL: "commit, revoke: rebalance gives the queue up",
    Path.SHUTDOWN: "commit, revoke: the client stops",
    Path.RESET: "commit, revoke: an operator resets the offset",
    Path.CORRECTION: "commit, revoke: an illegal offset is mended",
    Path.EXPIRED: "revoke: no pull for 120 s; send_back: the consume timeout",
    Path.LOCK: "revoke: the lock was lost",
    Path.UNSUBSCRIBE: "revoke: the topic is no longer consumed",
    Path.REQUEST: "send_back: request 36",
    Path.FALLBACK: "send_back: the client produced the retry copy itself",
    Path.FILE: "commit: found in the broker's file of offsets",
    Path.REPLICA: "commit: taken from another broker",
    Path.COUNT: "flow_control: too many messages are cached",
    Path.SIZE: "flow_control: too many bytes are cached",
    Path.SPAN: "flow_control: cached offsets are too far apart",
    Path.ORDERLY: "flow_control: the queue is not locked",
}
"""Words of the field ``path``."""

_EXAMPLE = (
    {MARK: VERSION, "source": "a recorder", "evidence": ["deliver"], "groups": {"orders": {"listener": "orderly"}}},
    {"time": 1700000000000, "kind": "deliver", "client": "10.0.0.7@4711", "group": "orders", "topic": "order"}
    | {"broker": "broker-a", "queue": 2, "offset": 41, "key": "0A00000712670000", "attempt": 0},
    {"time": 1700000000025, "kind": "result", "result": "ok", "client": "10.0.0.7@4711", "group": "orders"}
    | {"topic": "order", "broker": "broker-a", "queue": 2, "offset": 41, "key": "0A00000712670000", "attempt": 0},
)

_OPENING = f"""# The trace format

A trace is a recording of what consumers and brokers did, one event a row. This page describes version {VERSION}; it is
made from the schema itself.

## Files

**JSONL** is for people and small traces. The first line is the [header](#header), every other line is one event: a JSON
object with the [fields](#fields) that are known. The text is UTF-8; `null` is the same as a member that is not there.

```json
{chr(10).join(json.dumps(line) for line in _EXAMPLE)}
```

**Parquet** is for scale. Columns are the fields; the header is the text of a JSON object in the metadata of the file,
under `{HEADER_KEY}`. Other widths of whole numbers, time stamps for times, and texts with or without a dictionary
are read as well.

A file may be packed with gzip or zstd (Parquet is packed inside), which is told by its content and not by its name.
Several files and folders make one trace. Of a folder everything is read, in the order of names, except what begins with
`.` or `_`.

## Order

Events are ordered by `time`, at equal times by file, then by `seq`, then by their place in the file. A file need not be
sorted. Where `seq` is not given it is the number of the line, or of the row. The order within one client is certain;
across clients and brokers it is only as good as their clocks, which are corrected as far as causes contradict them.

## What is wrong in a file

Each of these is counted and reported with file and line (or row), and the rest is checked; `--strict` stops at the
first.

| problem | what is done |
|---|---|
| a line that is no JSON object | left out |
| a file that breaks off | everything before the break is read |
| a file, or a row group of Parquet, that cannot be decoded | left out |
| a value of the wrong type, or beyond what is possible | the value counts as not known, the rest of the event is kept |
| an event without `time` or `kind` | left out |
| a kind, result or path that this version does not know | the event is kept, and passed over by checks |
| no header | defaults are taken |
| a damaged member of the header | its default is taken |
| a later version | what this version knows is read |
| headers that contradict each other | the first file wins |

Nothing at all to read is an error: a trace without events is never reported to hold. Members that are not described
here are ignored by checks and kept by conversions: in JSONL as they are, in Parquet in a column `extra`, as the text of
a JSON object.

## Coverage

Nothing is concluded from what may only not have been recorded. Whatever takes evidence away leaves a *hole*: something
may have happened there that nobody would see.

| hole | when | what of |
|---|---|---|
| an unreadable line, an event without `time` or `kind` | between the times of its neighbours | any kind, any group |
| an unknown word in `kind` | at its time | any kind; its group and topic |
| an unknown `result` or `path`, an impossible value | at its time | its kind, group and topic |
| a file that breaks off | from its last event on | any |
| a file that is empty, cannot be decoded, or seems to be a recording and is of no known form | always | any |
| no header, or a damaged one | always | any, and what the header says of groups and brokers |
| a `gap` | from `due` to `time` | what its `client` or `broker` records; its `group` and `topic` if it names them |
| a trace that is not `complete` | before its first event | any |
| a kind that is not in `evidence` | always | that kind |

Notes beside a recording, such as a README, are no hole. Of several files, `evidence` counts for the groups that a file
tells of, and that of brokers for all. A group of which only brokers tell, because its clients were not recorded or
consume by pop, is named as not judged.

## Calls with several messages

With `consumeMessageBatchMaxSize` above 1 a listener is called with several messages at once. Each of them has events
of its own: `deliver`, with the size of the call in `count`, then `result`, `send_back` where it failed, and `removed`.
What the listener returns is one status for all; `result` says what it means for each message (CC-10):

| status | of the messages up to `ackIndex` | of those behind it |
|---|---|---|
| `CONSUME_SUCCESS` | `ok` | `later` |
| `RECONSUME_LATER`, null, an exception | the same failure | the same failure: the index does not count |

Whoever records the status itself, so `ok` for all messages of a call, is understood as well, where the call has more
than one message: what is sent back then was behind the index. In broadcasting it is dropped, and nothing shows it.

## Header
"""

_HEADER = (
    (MARK, "version of the format", str(VERSION)),
    ("source", "what recorded the trace, in words", "nothing"),
    (
        "evidence",
        "kinds that would have been recorded had they happened. Where a kind is listed, its absence is evidence",
        "the kinds that occur",
    ),
    ("delays", "`messageDelayLevel` of the brokers, such as `1s 5s 10s`", "that of RocketMQ"),
    (
        "timers",
        f"timers in ms, the longest that a member has: an object with any of {', '.join(f'`{one}`' for one in TIMERS)}",
        "those of RocketMQ",
    ),
    ("release", "of RocketMQ; decides rules that differ", Header().release),
    ("groups", "what is known of consumer groups, by name: an object for each, see below", "nothing"),
    (
        "complete",
        "the trace begins with the first event of its groups: nothing that concerns them came before",
        "false",
    ),
)

_GROUP = (
    ("mode", "`clustering` or `broadcasting`"),
    ("listener", "`concurrently` or `orderly`"),
    ("max_attempts", "`maxReconsumeTimes`; -1 for the default of 16, and without end for an orderly listener"),
    ("strategy", "name of the allocation strategy"),
)


def page() -> str:
    """The page, as Markdown."""
    return "\n".join(
        [
            _OPENING,
            *_table(("member", "meaning", "default"), [(f"`{name}`", *about) for name, *about in _HEADER]),
            "",
            "A group has:",
            "",
            *_table(
                ("member", "meaning", "default"),
                [(f"`{name}`", meaning, str(getattr(Group(), name))) for name, meaning in _GROUP],
            ),
            "",
            "Of several files, evidence is what all of them together have, each for the groups that it tells of, and "
            "the trace is complete if every file says so.",
            "",
            "## Fields",
            "",
            *_table(
                ("field", "type", "meaning", "absent", "where RocketMQ shows it"),
                [(f"`{field.name}`", _type(field), field.meaning, field.absent, field.source) for field in FIELDS],
            ),
            "",
            "## Kinds",
            "",
            "Every event has `time` and `kind`, and who acts: `client` (with `incarnation`), or only `broker`. Where a "
            "queue is named it is `topic`, `broker` and `queue` together.",
            "",
            *_table(
                ("kind", "what happened", "who acts", "further fields"),
                [(f"`{kind}`", what, who, fields) for kind, (who, fields, what) in KINDS.items()],
            ),
            "",
            "## Results",
            "",
            *_words("result", RESULTS),
            "",
            "## Paths",
            "",
            *_words("path", PATHS),
            "",
        ]
    )


def _type(field: Field) -> str:
    if pa.types.is_list(field.type):
        return "texts"
    if not pa.types.is_integer(field.type):
        return "text"
    least = "" if field.low < -(2**31) else f" from {field.low}"
    return f"whole number{least}, {field.type.bit_width} bits"


def _words(name: str, words: Mapping[Result, str] | Mapping[Path, str]) -> list[str]:
    return _table((name, "meaning"), [(f"`{word}`", meaning) for word, meaning in words.items()])


def _table(titles: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [titles, ["---"] * len(titles), *rows]
    return ["|" + "|".join(f" {cell} " if cell != "---" else cell for cell in line) + "|" for line in lines]


if __name__ == "__main__":
    print(page(), end="")
