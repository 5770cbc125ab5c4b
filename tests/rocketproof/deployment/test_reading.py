"""A broken file is told line by line: the field, what was given, what is allowed, the nearest name."""

import tomllib
from pathlib import Path

import pytest

from rocketproof.deployment.consumers import Consumer
from rocketproof.deployment.fields import allowed
from rocketproof.deployment.reading import BrokenFileError, parse, read
from rocketproof.errors import InputError

from .examples import FINE, NAME, changed, deployment, write


def problems(text: str) -> list[str]:
    with pytest.raises(BrokenFileError) as error:
        parse(text, tomllib.loads(text), name=NAME)
    return error.value.problems


def test_the_faultless_deployment_is_read_with_defaults_of_rocketmq() -> None:
    file = deployment(FINE)
    (group,) = file.description.groups
    settings = group.settings_of(group.members[0])
    assert settings.subscriptions == {"orders": "paid || shipped"}
    assert (settings.consume_thread_min, settings.pull_batch_size, settings.max_reconsume_times) == (20, 32, -1)
    assert file.description.topics[0].read_queue_nums == 8
    assert file.lines.of(("groups", 0, "members", 1, "name")) == 18


def test_a_setting_of_a_member_wins_over_its_groups() -> None:
    text = changed(group="pull_interval = 10\npull_batch_size = 16", b2="pull_interval = 20")
    (group,) = deployment(text).description.groups
    first, second = (group.settings_of(member) for member in group.members)
    assert (first.pull_interval, first.pull_batch_size) == (10, 16)
    assert (second.pull_interval, second.pull_batch_size) == (20, 16)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            changed(group="pull_intervall = 3"),
            "rocketproof.toml:10: groups[billing].pull_intervall: there is no such field. Did you mean 'pull_interval'",
        ),
        (
            changed(group="pull_interval = 70000"),
            "rocketproof.toml:10: groups[billing].pull_interval: 70000 is not possible; it is a whole number from 0 to "
            "65535 (ms) [ST-2].",
        ),
        (
            changed(b2='allocate_message_queue_strategy = "AGV"'),
            "rocketproof.toml:19: groups[billing].members[b2].allocate_message_queue_strategy: 'AGV' is not possible; "
            "it is one of AVG, AVG_BY_CIRCLE, CONFIG, ",
        ),
        (
            changed(broker='version = "4.9"'),
            "rocketproof.toml:3: brokers[broker-a].version: '4.9' is not possible; it is a release from 4.0.0 on, such "
            "as 4.9.8.",
        ),
        (
            changed(broker='message_delay_level = "1s 5x"'),
            "rocketproof.toml:3: brokers[broker-a].message_delay_level: messageDelayLevel '1s 5x': level 2 is '5x'. ",
        ),
        (
            changed(b2="instances = 'two'"),
            "rocketproof.toml:19: groups[billing].members[b2].instances: 'two' is not possible; it is a whole number "
            "from 1 to 1024.",
        ),
        (
            FINE.replace('name = "b2"', "instances = 2"),
            "rocketproof.toml:17: groups[billing].members[1]: name is missing; it is a text.",
        ),
        (
            FINE.replace("orders = ", "order = "),
            "rocketproof.toml:10: groups[billing].subscriptions.order: there is no topic 'order' in [[topics]]. Did "
            "you mean 'orders'?",
        ),
        (
            changed(topic='brokers = ["broker-b"]'),
            "rocketproof.toml:6: topics[orders].brokers[0]: there is no broker 'broker-b'. Did you mean 'broker-a'?",
        ),
        (
            changed(group="consume_thread_min = 30", b2="consume_thread_max = 25"),
            "rocketproof.toml:20: groups[billing].members[b2].consume_thread_max: consume_thread_min is 30 and "
            "consume_thread_max is 25;",
        ),
        (
            changed(group="pull_threshold_for_topic = 0"),
            "rocketproof.toml:10: groups[billing].pull_threshold_for_topic: pull_threshold_for_topic is 0; it is -1 "
            "(off)",
        ),
        (
            FINE.replace('"billing"', '"DEFAULT_CONSUMER"'),
            "rocketproof.toml:9: groups[DEFAULT_CONSUMER].name: a consumer of group DEFAULT_CONSUMER does not start",
        ),
        (
            FINE.replace('"billing"', '"bill ing"'),
            "rocketproof.toml:9: groups[bill ing].name: 'bill ing' is not possible; it is up to 255 letters, digits "
            "and the signs % | _ - [ST-2].",
        ),
        (
            FINE.replace("subscriptions = { orders", "sql_subscriptions = { orders").replace(
                'name = "b1"', 'name = "b1"\nsubscriptions = { orders = "*" }'
            ),
            "rocketproof.toml:14: groups[billing].members[b1]: 'b1' subscribes topic 'orders' by tags and by SQL92; "
            "choose one.",
        ),
        (
            FINE.replace('name = "b2"', 'name = "b1"'),
            "rocketproof.toml:18: groups[billing].members[b1].name: 'b1' is described twice; `instances` says",
        ),
        (
            FINE.replace('subscriptions = { orders = "paid || shipped" }', ""),
            "rocketproof.toml:14: groups[billing].members[b1]: member 'b1' subscribes nothing;",
        ),
        (
            changed(end='[[accepted]]\nfinding = "A33"\nbecause = "x"'),
            "rocketproof.toml:21: accepted[0].finding: nothing is called 'A33'.",
        ),
        (
            changed(end='[[accepted]]\nfinding = "A3"\nbecause = "x"\ngroup = "biling"'),
            "rocketproof.toml:23: accepted[0].group: there is no group 'biling'. Did you mean 'billing'?",
        ),
        (
            changed(end='[verify]\nmachine = "assignment"'),
            "rocketproof.toml:21: verify.machine: what is checked follows from the deployment",
        ),
        (
            changed(end="[verify.limit]\nstates = 'many'"),
            "rocketproof.toml:21: verify.limit.states: 'many' is not possible; it is a whole number from 1 up.",
        ),
        (
            changed(b2='client_language = "go"\nclient_version = "4.9.8"'),
            "rocketproof.toml:20: groups[billing].members[b2].client_version: '4.9.8' is no release of the Go client, "
            "which begins with 2, such as 2.1.2.",
        ),
        (
            changed(group='allocate_message_queue_strategy = "CONSISTENT_HASH"', b2='client_language = "cpp"'),
            "rocketproof.toml:10: groups[billing].allocate_message_queue_strategy: the C++ client has no strategy "
            "CONSISTENT_HASH; it has AVG.",
        ),
        (
            changed(group="maxReconsumeTimes = 3"),
            "rocketproof.toml:10: groups[billing].maxReconsumeTimes: there is no such field. Did you mean "
            "'max_reconsume_times'?",
        ),
        (
            changed(group='allocate_message_queue_strategy = "AllocateMessageQueueAveragely"'),
            "rocketproof.toml:10: groups[billing].allocate_message_queue_strategy: AllocateMessageQueueAveragely is "
            "the Java class of a strategy; write 'AVG'.",
        ),
        ("groups = []", "rocketproof.toml:1: groups: [] is not possible; it is a list of tables"),
        ('[[topics]]\nname = "t"', "rocketproof.toml:1: groups is missing; it is a list of tables."),
    ],
)
def test_a_mistake_is_told_with_its_line(text: str, problem: str) -> None:
    told = problems(text)
    assert any(line.startswith(problem) for line in told), told


def test_all_mistakes_are_told_in_the_order_of_the_file() -> None:
    text = changed(broker="versio = 1", group="pull_interval = -1", b2="pid = 0")
    lines = [int(line.split(":")[1]) for line in problems(text)]
    assert lines == [3, 11, 21]


@pytest.mark.parametrize(
    ("field", "low", "high"),
    [
        ("consume_thread_min", 1, 1000),
        ("consume_thread_max", 1, 1000),
        ("consume_concurrently_max_span", 1, 65535),
        ("pull_threshold_for_queue", 1, 65535),
        ("pull_threshold_for_topic", -1, 6553500),
        ("pull_threshold_size_for_queue", 1, 1024),
        ("pull_threshold_size_for_topic", -1, 102400),
        ("pull_interval", 0, 65535),
        ("consume_message_batch_max_size", 1, 1024),
        ("pull_batch_size", 1, 1024),
        ("pop_invisible_time", 5000, 300000),
        ("pop_batch_nums", 1, 32),
    ],
)
def test_a_range_that_the_client_checks_at_start_is_checked_here(field: str, low: int, high: int) -> None:
    assert allowed(Consumer.model_fields[field]).startswith(f"a whole number from {low} to {high}")
    for wrong in (low - 1, high + 1):
        (told,) = problems(changed(group=f"{field} = {wrong}"))
        assert f"{field}: {wrong} is not possible; it is a whole number from {low} to {high}" in told


def test_a_file_that_is_missing_or_no_toml(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read the configuration file .*nowhere.toml: No such file"):
        read(tmp_path / "nowhere.toml")
    with pytest.raises(InputError, match=r"x\.toml is not valid TOML: Expected"):
        read(write(tmp_path, "[[groups", "x.toml"), name="x.toml")
