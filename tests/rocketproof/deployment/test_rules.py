"""Each known mistake is found, with the names and numbers of the file, and not found where it is not."""

import re

import pytest

from rocketproof.deployment.rules import RULES
from rocketproof.output.row import Severity

from .examples import FINE, answer, answers, changed

NOTE, WARNING, ERROR = Severity.NOTE, Severity.WARNING, Severity.ERROR

OLD_BROKER = 'version = "4.9.8"'
BROADCASTING = 'message_model = "BROADCASTING"'
ORDERLY = 'listener = "orderly"\nmax_reconsume_times = 3'
ROOMS = FINE.replace('"broker-a"', '"r1@broker-a"').replace(
    'name = "billing"', 'name = "billing"\nallocate_message_queue_strategy = "MACHINE_ROOM"'
)
NEARBY = changed(
    broker='machine_room = "r1"',
    group='allocate_message_queue_strategy = "MACHINE_ROOM_NEARBY"',
    b1='machine_room = "r1"',
    b2='machine_room = "r2"',
)
CONFIG = changed(
    group='allocate_message_queue_strategy = "CONFIG"',
    b1='message_queues = ["orders/broker-a/0-3", "%RETRY%billing/broker-a/0"]',
    b2='message_queues = ["orders/broker-a/4-7"]',
)
DEAD_LETTERS = FINE.replace('{ orders = "paid || shipped" }', '{ "%DLQ%billing" = "*" }')
TWO_BROKERS = FINE.replace(
    "[[topics]]", '[[brokers]]\nname = "broker-b"\nmessage_delay_level = "1s 5s 1m"\n\n[[topics]]'
)

# Rule, deployment, severity, what the text says, line.
FOUND: list[tuple[str, str, Severity, str, int]] = [
    (
        "A1",
        changed(b1='client_ip = "10.0.0.1"\ninstance_name = "w"', b2='client_ip = "10.0.0.1"\ninstance_name = "w"'),
        ERROR,
        "b1 and b2 all have the client id 10.0.0.1@w. Each takes the share of the first of them, and the other shares "
        "go to nobody, for good: of the 8 queues of orders, b1 and b2 all consume broker-a/0-3; nobody consumes "
        "broker-a/4-7.",
        19,
    ),
    (
        "A1",
        changed(group='client_version = "4.8.0"', b1='client_ip = "172.17.0.2"\npid = 1\ninstances = 3'),
        ERROR,
        "b1-1, b1-2 and b1-3 all have the client id 172.17.0.2@1.",
        15,
    ),
    (
        "A2",
        changed(topic='[[topics]]\nname = "stock"', b2='subscriptions = { stock = "*" }'),
        ERROR,
        "b2 does not subscribe orders but is counted when its queues are divided: nobody consumes broker-a/4-7.",
        19,
    ),
    (
        "A3",
        changed(b2='subscriptions = { orders = "paid" }'),
        ERROR,
        "(b1: paid || shipped; b2: paid). The broker keeps one expression for the group, that of the newest "
        "subscription, and filters everybody's pulls with it: what only another member wants is passed over, and no "
        "member ever gets it (messages tagged shipped).",
        19,
    ),
    (
        "A7",
        changed(b2='unsubscribes_at_runtime = ["orders"]'),
        WARNING,
        "after b2 has unsubscribed orders it still counts as a member, so broker-a/4-7 of orders is consumed by nobody",
        19,
    ),
    (
        "EN-9",
        changed(b1='subscriptions = { orders = "paid | shipped" }', b2='subscriptions = { orders = "paid | shipped" }'),
        ERROR,
        "'paid | shipped' is split at || and nothing else, so 'paid | shipped' is one tag that no message has: b1 gets "
        "nothing of orders.",
        16,
    ),
    (
        "EN-9",
        changed(b1='subscriptions = { orders = "paid && !void" }'),
        ERROR,
        "so 'paid && !void' is one tag that no message has",
        16,
    ),
    (
        "EN-9",
        changed(b1='subscriptions = { orders = "paid || *" }'),
        ERROR,
        "'paid || *' is split at || and nothing else, so '*' is one tag that no message has.",
        16,
    ),
    (
        "EN-9",
        changed(b1='subscriptions = { orders = "paid || shiped" }'),
        WARNING,
        "no producer sends shiped: the tags of orders are paid, shipped and void.",
        16,
    ),
    (
        "EN-9",
        changed(b1='subscriptions = { orders = "Paid" }'),
        ERROR,
        "no producer sends Paid: the tags of orders are paid, shipped and void, so b1 gets nothing of it.",
        16,
    ),
    (
        "CL-1",
        changed(b1='client_language = "go"\nclient_version = "2.1.0"'),
        ERROR,
        "b1, a Go client 2.1.0, counts a message as done even when it could not be sent back",
        16,
    ),
    (
        "CL-1",
        changed(b2='client_language = "cpp"\nconsume_from_where = "CONSUME_FROM_TIMESTAMP"'),
        ERROR,
        "b2, a C++ client 2.2.0, does not know CONSUME_FROM_TIMESTAMP: a queue without stored progress is never "
        "consumed",
        20,
    ),
    (
        "CL-1",
        changed(b1='client_language = "spring"\nclient_version = "2.1.0"'),
        WARNING,
        "b1, a Spring client 2.1.0, takes its consumeTimeout of 30000 to be minutes",
        16,
    ),
    (
        "CL-2",
        changed(b1='client_language = "grpc"'),
        ERROR,
        "b1 is a gRPC client that takes messages by pop through a proxy, which the model is not about: of billing only "
        "expressions of tags are judged. What pop has given is hidden from other pops only, so b2 consumes it too.",
        16,
    ),
    ("CL-2", changed(group='client_language = "grpc"'), WARNING, "b1 and b2 are gRPC clients that take", 10),
    (
        "OF-10",
        changed(group=BROADCASTING, b1='instance_name = "${random.uuid}"'),
        ERROR,
        "b1 has another instance name at each start (${random.uuid}), so it never finds the file with its progress "
        "again: after every restart it starts as a new one, and what was sent while it was away is skipped.",
        17,
    ),
    (
        "OF-10",
        changed(group=BROADCASTING + '\nconsume_from_where = "CONSUME_FROM_FIRST_OFFSET"', b1='client_language = "go"'),
        ERROR,
        "after every restart it consumes every queue from its first message.",
        18,
    ),
    (
        "RB-40",
        changed(group='consume_from_where = "CONSUME_FROM_TIMESTAMP"\nfirst_start = true'),
        WARNING,
        "with CONSUME_FROM_TIMESTAMP the retry queues of a group that starts for the first time are begun at their end",
        10,
    ),
    (
        "RB-27",
        changed(b2='allocate_message_queue_strategy = "AVG_BY_CIRCLE"'),
        ERROR,
        "(b1: AVG; b2: AVG_BY_CIRCLE); of the 8 queues of orders, b1 and b2 all consume broker-a/1 3; nobody consumes "
        "broker-a/4 6.",
        19,
    ),
    (
        "EN-1",
        changed(b2=BROADCASTING),
        ERROR,
        "b2 is BROADCASTING and others are CLUSTERING",
        19,
    ),
    ("EN-1", changed(b2='listener = "orderly"'), ERROR, "b2 is orderly and others are concurrent", 19),
    (
        "RB-21",
        changed(b2="instances = 8"),
        WARNING,
        "b2-8 gets no queue: 9 members divide at most 8 queues of a topic.",
        17,
    ),
    (
        "RB-21",
        changed(group="planned_members = 12"),
        WARNING,
        "of the 12 planned members at most 8 can get a queue",
        10,
    ),
    (
        "RB-23",
        CONFIG.replace("4-7", "5-7"),
        ERROR,
        "of the 8 queues of orders, nobody consumes broker-a/4.",
        17,
    ),
    (
        "RB-23",
        CONFIG.replace(', "%RETRY%billing/broker-a/0"', ""),
        ERROR,
        "no list holds the queues broker-a/0 of %RETRY%billing, so messages that failed are never consumed again. "
        "Since the list never fits the topic at hand, the client also rebalances every second.",
        17,
    ),
    (
        "RB-24",
        ROOMS.replace('name = "b1"', 'name = "b1"\nconsumeridcs = ["r2"]').replace(
            'name = "b2"', 'name = "b2"\nconsumeridcs = ["r2"]'
        ),
        ERROR,
        "nobody consumes r1@broker-a/0-7 of orders: no consumer is configured for r1.",
        17,
    ),
    ("RB-24", ROOMS, ERROR, "b1 has strategy MACHINE_ROOM and no consumeridcs", 15),
    (
        "RB-25",
        NEARBY.replace('machine_room = "r2"', ""),
        ERROR,
        "the room of b2 is unknown, so every rebalance of the whole group fails with an exception.",
        20,
    ),
    ("RB-25", NEARBY.replace('"r1"', '"r3"', 1), NOTE, "no member is in room r3", 11),
    (
        "RB-26",
        changed(group='allocate_message_queue_strategy = "CONSISTENT_HASH"\nvirtual_node_cnt = 0'),
        ERROR,
        "nobody consumes broker-a/0-7 of orders.",
        11,
    ),
    (
        "A13",
        changed(topic="read_queue_nums = 4"),
        ERROR,
        "producers write to queues 0-7 of orders on each broker, and consumers read only 0-3: 4 of 8 messages are "
        "consumed by nobody (queues 4-7).",
        6,
    ),
    (
        "A13",
        changed(topic="planned_read_queue_nums = 4"),
        WARNING,
        "when read_queue_nums of orders goes from 8 to 4, what is left in queues 4-7 of each broker is consumed by "
        "nobody",
        6,
    ),
    (
        "G1",
        changed(topic="planned_read_queue_nums = 10"),
        WARNING,
        "billing has CONSUME_FROM_LAST_OFFSET, so it starts the planned queues broker-a/8-9 of orders at their end",
        6,
    ),
    (
        "G1",
        TWO_BROKERS.replace('"orders"\n', '"orders"\nbrokers = ["broker-a"]\nplanned_brokers = ["broker-b"]\n', 1),
        WARNING,
        "starts the planned queues broker-b/0-7 of orders at their end",
        11,
    ),
    ("G2", changed(group="first_start = true"), NOTE, "billing starts for the first time with CONSUME_FROM_LAST", 8),
    (
        "CC-2",
        changed(topic="ordered = true"),
        ERROR,
        "orders is ordered, and billing consumes concurrently: up to 20 messages of one queue run at a time",
        9,
    ),
    (
        "EN-5",
        changed(topic="ordered = true\nplanned_write_queue_nums = 16"),
        WARNING,
        "when the number of queues of orders changes, producers send a key to another queue than before",
        7,
    ),
    (
        "SB-12",
        changed(group="retry_queue_nums = 0"),
        ERROR,
        "retry_queue_nums of billing is 0: the broker answers 'success' when a message is sent back, and stores "
        "nothing",
        10,
    ),
    (
        "DL-1",
        changed(broker='message_delay_level = "1s 5s 10s 30s 20s"'),
        WARNING,
        "level 5 of broker-a (20s) is shorter than level 4 (30s)",
        3,
    ),
    (
        "DL-2",
        changed(broker='message_delay_level = "1s 5s 10s 30s 1m"'),
        WARNING,
        "broker-a has 5 delay levels, and billing retries up to 16 times, beginning with level 3: retries 4 to 16 all "
        "wait 1 min, the last level. A message that always fails is delivered 17 times and is a dead letter after 14 "
        "min 40 s.",
        3,
    ),
    (
        "DL-2",
        changed(broker='message_delay_level = "1s 5s"'),
        WARNING,
        "all retries wait 5 s",
        3,
    ),
    (
        "DL-3",
        TWO_BROKERS,
        WARNING,
        "is a dead letter after 4 h 45 min 40 s or after 16 min, by the broker it lies on.",
        6,
    ),
    (
        "SB-20",
        changed(group="max_reconsume_times = 0"),
        WARNING,
        "max_reconsume_times is 0: a message is a dead letter as soon as its listener fails once.",
        10,
    ),
    ("SB-20", changed(group="max_reconsume_times = -5"), ERROR, "max_reconsume_times is -5", 10),
    (
        "SB-20",
        changed(group="max_reconsume_times = 20"),
        WARNING,
        "a message that always fails is delivered 21 times in 12 h 45 min 40 s; the last retries come every 2 h.",
        10,
    ),
    (
        "SB-20",
        changed(b2="max_reconsume_times = 3"),
        WARNING,
        "members of billing have different maxima (-1 and 3)",
        19,
    ),
    ("SB-20", changed(group="retry_max_times = 5"), NOTE, "retry_max_times = 5 has no effect", 10),
    (
        "CC-14",
        changed(group="delay_level_when_next_consume = 5"),
        NOTE,
        "every retry waits 1 min, and a message that always fails is a dead letter after 16 min.",
        10,
    ),
    (
        "CC-14",
        changed(group="delay_level_when_next_consume = -1"),
        NOTE,
        "a message is a dead letter as soon as its listener fails once.",
        10,
    ),
    (
        "DQ-1",
        changed(broker='version = "4.9.1"'),
        NOTE,
        "broker-a (4.9.1) creates %DLQ%billing without read permission",
        1,
    ),
    (
        "DQ-1",
        DEAD_LETTERS.replace('"broker-a"', '"broker-a"\nversion = "4.9.1"'),
        ERROR,
        "billing gets 'no permission' and no message.",
        11,
    ),
    (
        "DQ-4",
        changed(group="max_reconsume_times = 5")
        + '[[groups]]\nname = "reader"\nsubscriptions = { "%DLQ%billing" = "*" }\nmax_reconsume_times = 6\n'
        'members = [{ name = "r" }]\n',
        WARNING,
        "a message of %DLQ%billing keeps its number of attempts, 6, and reader retries up to 6: one that fails is a "
        "dead letter of reader at once, without a retry.",
        22,
    ),
    ("DQ-4", DEAD_LETTERS, ERROR, "billing consumes its own dead letters", 10),
    (
        "E8",
        changed(group=f"{ORDERLY}").replace("= 200\n", "= 25000\n"),
        ERROR,
        "a call of the listener takes up to 25 s. When a rebalance gives its queue to another member, the lock is "
        "released by force 20 s after its last renewal, and the other member consumes the queue while the call still "
        "runs",
        13,
    ),
    (
        "E8",
        changed(group=ORDERLY).replace("= 200\n", "= 5000\n"),
        WARNING,
        "20 s after its last renewal, which may be any time up to 20 s ago",
        13,
    ),
    (
        "OR-11",
        changed(group=ORDERLY).replace("= 200\n", "= 30000\n"),
        WARNING,
        "may begin 30 s after the last renewal of the lock and takes up to 30 s; the broker gives the queue away after "
        "1 min.",
        13,
    ),
    (
        "E2",
        changed(broker="lock_max_live_time = 30000", group=ORDERLY),
        ERROR,
        "b1 trusts a lock for 30 s after its renewal, and broker-a gives it away after 30 s",
        9,
    ),
    (
        "E2",
        changed(group=f"{ORDERLY}\nlock_interval = 40000"),
        WARNING,
        "b1 renews its locks every 40 s and trusts them for 30 s",
        12,
    ),
    (
        "OR-8",
        changed(group='listener = "orderly"'),
        WARNING,
        "a message that always fails is tried every 1 s for ever, and nothing behind it in its queue is consumed.",
        8,
    ),
    ("OR-8", changed(group=ORDERLY), NOTE, "a message that fails 3 times is dead-lettered after 3 s in one place", 11),
    ("OR-8", changed(group='listener = "orderly"\nmax_reconsume_times = -2'), ERROR, "max_reconsume_times is -2", 11),
    (
        "D3",
        changed(broker='version = "5.1.0"', group=f'{ORDERLY}\nclient_version = "5.1.0"'),
        ERROR,
        "b1 (5.1.0) sends an exhausted message with 3 attempts, and broker-a (5.1.0) makes a dead letter only of more",
        13,
    ),
    (
        "OR-7",
        changed(group=f"{ORDERLY}\nsuspend_current_queue_time_millis = 60000"),
        WARNING,
        "suspend_current_queue_time_millis is 60000; the client waits 30 s instead.",
        12,
    ),
    (
        "A10",
        changed(group="pull_interval = 60000\npull_max_idle_time = 60000"),
        ERROR,
        "b1 pulls each queue every 1 min, and a queue not pulled for 1 min is dropped and taken anew",
        10,
    ),
    (
        "F3",
        FINE.replace("= 200\n", "= 1200000\n"),
        WARNING,
        "a call takes up to 20 min, and after 15 min (noticed within as long again) its message is sent back and "
        "delivered again 10 s later",
        11,
    ),
    (
        "F4",
        FINE.replace("= 200\n", "= 60000\n"),
        NOTE,
        "while one call runs for 1 min the progress of its queue stands still; 2,000 messages further pulling stops, "
        "and after a restart or rebalance up to 2,032 finished messages of the queue come again.",
        11,
    ),
    (
        "C1",
        changed(group="consume_message_batch_max_size = 64\nlistener_sets_ack_index = true"),
        WARNING,
        "with RECONSUME_LATER, null or an exception all 32 come again.",
        10,
    ),
    (
        "C1",
        changed(group="consume_message_batch_max_size = 8\nidempotent = false"),
        ERROR,
        "when one of them fails, all 8 come again.",
        10,
    ),
    ("D10", changed(group="listener_may_return_null = true"), ERROR, "may end without a status", 10),
    (
        "C4",
        FINE.replace("await_termination_millis_when_shutdown = 5000", ""),
        NOTE,
        "a shutdown of b1 does not wait for running listeners, which take up to 200 ms: it interrupts up to 20 calls",
        8,
    ),
    ("C4", FINE.replace("= 5000", "= 100"), NOTE, "a shutdown of b1 waits 100 ms for running listeners", 12),
    (
        "C4",
        changed(group=ORDERLY).replace("= 5000", "= 0"),
        WARNING,
        "and unlocks its queues while they may still run",
        14,
    ),
    (
        "CC-1",
        changed(group="consume_thread_max = 64"),
        NOTE,
        "consume_thread_max = 64 has no effect",
        10,
    ),
    (
        "G5",
        changed(group=f"{BROADCASTING}\nmax_reconsume_times = 3"),
        WARNING,
        "billing is BROADCASTING: a message whose listener fails is logged and dropped for that member, there are no "
        "retries and no dead letters. max_reconsume_times has no effect.",
        11,
    ),
    ("G5", changed(group=BROADCASTING), NOTE, "is logged and dropped for that member", 10),
    (
        "OF-11",
        changed(group=BROADCASTING, b1='client_ip = "10.0.0.1"', b2='client_ip = "10.0.0.1"'),
        ERROR,
        "b1 and b2 all have the client id 10.0.0.1@DEFAULT and keep their progress in one file "
        "~/.rocketmq_offsets/10.0.0.1@DEFAULT/billing/offsets.json",
        19,
    ),
    (
        "RB-31",
        changed(group=f'{BROADCASTING}\nclient_version = "4.9.8"\nlistener = "orderly"'),
        ERROR,
        "only the first of the 2 members consumes a queue",
        11,
    ),
    (
        "PL-16",
        changed(group=f"{BROADCASTING}\nconsume_broadcast_enable = false"),
        ERROR,
        "every pull is refused (code 16).",
        11,
    ),
    (
        "FI-2",
        FINE.replace('subscriptions = { orders = "paid || shipped" }', 'sql_subscriptions = { orders = "a > 1" }'),
        ERROR,
        "b1 subscribes orders by SQL92, and broker-a does not evaluate it (enablePropertyFilter is false)",
        10,
    ),
    (
        "EN-12",
        changed(broker="auto_create_subscription_group = false"),
        ERROR,
        "heartbeats are passed over in silence and every pull is refused (code 26).",
        9,
    ),
    (
        "RB-42",
        changed(group='client_version = "4.9.8"'),
        WARNING,
        "with CONSUME_FROM_LAST_OFFSET it then skips everything up to the end.",
        10,
    ),
    ("DL-6", changed(broker=OLD_BROKER), NOTE, "blocks all others of its delay level", 3),
    ("DL-6", changed(broker='version = "4.9.2"'), WARNING, "drops a retry when its delivery throws", 3),
    ("SB-15", changed(broker=OLD_BROKER), NOTE, "the message is a dead letter one retry early", 3),
    (
        "RB-34",
        changed(group=f'{ORDERLY}\nclient_version = "4.9.8"'),
        WARNING,
        "b1 (4.9.8) unlocks a queue that left its share 20 s later when messages are cached",
        12,
    ),
]


@pytest.mark.parametrize(
    ("rule", "text", "severity", "told", "line"), FOUND, ids=[f"{row[0]}-{number}" for number, row in enumerate(FOUND)]
)
def test_a_mistake_is_found(rule: str, text: str, severity: Severity, told: str, line: int) -> None:
    reasons = [reason for item in answers(text, rule) for reason in item.reasons]
    (reason,) = [reason for reason in reasons if told in reason.text] or [*reasons, None][:1]
    assert reason is not None, "not found"
    assert told in reason.text
    assert (reason.severity, reason.line) == (severity, line)
    assert reason.fix
    assert reason.text.endswith(".")


def test_every_rule_is_tested() -> None:
    assert {row[0] for row in FOUND} == {rule.id for rule in RULES}


def test_ids_are_different_and_names_are_words_with_dashes() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES)
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", rule.name) for rule in RULES)


@pytest.mark.parametrize(
    "text",
    [
        FINE,
        changed(group='consume_from_where = "CONSUME_FROM_FIRST_OFFSET"', topic="planned_read_queue_nums = 12"),
        changed(b1="instances = 4", b2="instances = 4"),
        changed(b1='instance_name = "one"\nclient_ip = "10.0.0.1"', b2='instance_name = "two"\nclient_ip = "10.0.0.1"'),
        changed(b1='client_ip = "10.0.0.1"', b2='client_ip = "10.0.0.1"'),
        changed(b2='subscriptions = { orders = "shipped||paid" }'),
        changed(broker='message_delay_level = "1s 5s 10s 30s 1m"', group="max_reconsume_times = 3"),
        changed(topic="read_queue_nums = 12\nwrite_queue_nums = 8"),
        changed(group='allocate_message_queue_strategy = "CONSISTENT_HASH"'),
        changed(broker="auto_create_subscription_group = false", group="created = true"),
        CONFIG,
        NEARBY.replace('machine_room = "r2"', 'machine_room = "r1"'),
        ROOMS.replace('"MACHINE_ROOM"', '"MACHINE_ROOM"\nconsumeridcs = ["r1"]'),
        FINE + '[[groups]]\nname = "reader"\nsubscriptions = { "%DLQ%billing" = "*" }\nmembers = [{ name = "r" }]\n'
        "max_reconsume_times = 18\nawait_termination_millis_when_shutdown = 9\n"
        "[[accepted]]\nfinding = 'SB-20'\nbecause = 'x'\n",
        FINE.replace("= 200\n", "= 899999\n").replace("= 5000", "= 899999").replace("200", "2000"),
    ],
)
def test_a_deployment_without_mistakes_has_no_findings(text: str) -> None:
    found = {
        reason.id: reason.text
        for item in answers(text, *(rule.id for rule in RULES))
        for reason in item.reasons
        if reason.id not in ("F4", "SB-20", "DL-2")
    }
    assert found == {}


def test_one_mistake_is_one_finding() -> None:
    text = changed(b2='subscriptions = { orders = "paid" }')
    assert [item.check.short_id for item in answers(text, *(rule.id for rule in RULES)) if item.reasons] == ["A3"]


def test_duplicates_are_errors_for_a_listener_that_cannot_bear_them() -> None:
    text = FINE.replace("= 5000", "= 0")
    assert answer(text, "C4").level.name == "NOTE"
    assert answer(text.replace("= 0\n", "= 0\nidempotent = false\n"), "C4").level.name == "ERROR"
