"""Properties of the model asked about a deployment: fine, not so because of a mistake, unknown, accepted."""

from collections.abc import Iterator, Sequence

import pytest

from rocketproof.checkers.suite import Options, Outcome, Row
from rocketproof.deployment import judge as judge_module
from rocketproof.deployment.facts import GroupFacts, runs, told
from rocketproof.deployment.judge import Judge, Level
from rocketproof.deployment.questions import QUESTIONS, locking_of, membership_of
from rocketproof.deployment.report import explanation
from rocketproof.model.allocation import MessageQueue
from rocketproof.output.row import Severity
from rocketproof.properties.verdict import Verdict

from .examples import FINE, NAME, answer, answers, changed, deployment

SAME_ID = changed(b1='client_ip = "10.0.0.1"\ninstance_name = "w"', b2='client_ip = "10.0.0.1"\ninstance_name = "w"')
ORDERLY = changed(group='listener = "orderly"\nmax_reconsume_times = 3')
BROADCASTING = changed(group='message_model = "BROADCASTING"')


def slow(*values: object) -> object:
    return pytest.param(*values, marks=pytest.mark.slow)


def facts_of(text: str) -> GroupFacts:
    return GroupFacts(deployment(text).description, 0)


@pytest.mark.slow
def test_a_faultless_deployment_passes_every_check() -> None:
    assert {item.check.id: item.level for item in answers(FINE) if item.level is not Level.OK} == {}


def test_the_group_is_scaled_down_to_the_model() -> None:
    assert membership_of(facts_of(FINE)) == {
        "consumers": 2,
        "running": 1,
        "queues": 4,
        "strategy": "AVG",
        "brokers": 1,
        "leaves": 1,
        "crashes": 1,
        "broker_restarts": 1,
        "cuts": 1,
    }
    small = membership_of(facts_of(changed(topic="read_queue_nums = 2\nwrite_queue_nums = 2", b2="instances = 8")))
    assert (small["consumers"], small["running"], small["queues"]) == (3, 2, 2)
    assert membership_of(facts_of(ORDERLY)) == {
        "consumers": 2,
        "running": 1,
        "queues": 4,
        "strategy": "AVG",
        "orderly": 1,
        "leaves": 1,
        "crashes": 1,
    }


def test_a_mistake_goes_into_the_configuration_of_the_model() -> None:
    two_topics = changed(topic='[[topics]]\nname = "stock"', b2='subscriptions = { stock = "*" }')
    mixed = changed(b2='allocate_message_queue_strategy = "CONSISTENT_HASH"')
    for text, constants in (
        (SAME_ID, {"same_id": 1}),
        (two_topics, {"unsubscribed": 1}),
        (mixed, {"last_strategy": "CONSISTENT_HASH"}),
    ):
        usual = {"consumers": 2, "running": 1, "queues": 4, "strategy": "AVG"}
        assert membership_of(facts_of(text)) == {**usual, **constants}


def test_times_of_an_orderly_group_become_ticks_and_no_danger_is_rounded_away() -> None:
    usual = locking_of(facts_of(ORDERLY))
    assert usual == {
        "consumers": 2,
        "renewals": "certain",
        "renewal": 2,
        "client_window": 3,
        "broker_window": 6,
        "unlock_delay": 2,
        "batch": 0,
        "leaves": 1,
        "await_listeners": 1,
        "crashes": 1,
        "force": 1,
    }
    slow = locking_of(facts_of(ORDERLY.replace("= 200\n", "= 12000\n")))
    assert (slow["batch"], slow["await_listeners"]) == (2, 0)
    old = locking_of(facts_of(ORDERLY.replace('"orderly"', '"orderly"\nclient_version = "4.9.8"')))
    assert old["version"] == "4.9.8"
    assert "force" not in old
    long = locking_of(facts_of(ORDERLY.replace("= 200\n", "= 1200000\n")))
    assert long["batch"] == 12


@pytest.mark.parametrize(
    ("text", "name", "because", "level", "steps"),
    [
        (SAME_ID, "partition-lemma", ["A1"], Level.ERROR, 4),
        slow(
            changed(topic='[[topics]]\nname = "stock"', b2='subscriptions = { stock = "*" }'),
            "partition-lemma",
            ["A2", "A2"],
            Level.ERROR,
            3,
        ),
        slow(
            changed(b2='allocate_message_queue_strategy = "AVG_BY_CIRCLE"'),
            "partition-lemma",
            ["RB-27"],
            Level.ERROR,
            4,
        ),
        (
            changed(b2='subscriptions = { orders = "paid" }'),
            "offset-never-past-wanted",
            ["A3"],
            Level.ERROR,
            None,
        ),
        slow(changed(group="retry_queue_nums = 0"), "failed-message-never-lost", ["SB-12"], Level.ERROR, None),
        slow(FINE.replace("= 200\n", "= 900000\n"), "retry-only-after-a-failure", ["F3"], Level.WARNING, None),
        slow(changed(broker='version = "4.9.8"'), "attempts-exactly-the-maximum", ["SB-15"], Level.NOTE, None),
        (changed(group="idempotent = false"), "one-queue-one-consumer", [], Level.ERROR, 3),
        slow(changed(group="idempotent = false"), "duplicates-only-after-a-crash", [], Level.ERROR, None),
        (ORDERLY.replace("= 200\n", "= 5000\n"), "one-listener-a-queue", ["E8"], Level.WARNING, 9),
        (ORDERLY.replace("= 5000", "= 0"), "one-listener-a-queue", ["C4"], Level.WARNING, 5),
        slow(
            ORDERLY.replace('"orderly"', '"orderly"\nclient_version = "4.9.8"'),
            "one-listener-a-queue",
            ["RB-34"],
            Level.WARNING,
            8,
        ),
        slow(BROADCASTING, "broadcast-handled-by-each", ["G5"], Level.NOTE, None),
        (
            BROADCASTING.replace('name = "b1"', 'name = "b1"\nclient_ip = "10.0.0.1"').replace(
                'name = "b2"', 'name = "b2"\nclient_ip = "10.0.0.1"'
            ),
            "broadcast-nothing-skipped",
            ["OF-11"],
            Level.ERROR,
            None,
        ),
    ],
)
def test_a_mistake_breaks_a_property_and_the_model_tells_the_story(
    text: str, name: str, because: list[str], level: Level, steps: int | None
) -> None:
    found = answer(text, name)
    assert (found.level, found.verdict) == (level, Verdict.VIOLATED)
    assert [reason.id for reason in found.reasons] == because
    assert found.outcome is not None
    run = found.outcome.result.run
    assert run is not None
    assert found.story.startswith("start:")
    if steps is not None:
        assert len(run) == steps
    text_shown = explanation(found, NAME)
    assert "The model shows it (" in text_shown
    assert all(f"[{rule}]" in text_shown for rule in because)


def test_a_property_whose_assumption_is_broken_does_not_pass_although_it_holds_elsewhere() -> None:
    found = answer(SAME_ID, "averagely-partition")
    assert (found.level, found.verdict) == (Level.ERROR, Verdict.HOLDS)
    assert "Without this mistake it holds in the model (prove: every number of queues" in explanation(found, NAME)


def test_the_deployments_own_shares_are_checked_at_their_real_size() -> None:
    fine = answer(changed(b2="instances = 6"), "deployed-shares")
    assert (fine.level, fine.summary) == (
        Level.OK,
        "allocation: 7 members and 8 queues of orders, and each member away once",
    )
    wrong = answer(SAME_ID, "deployed-shares")
    assert wrong.level is Level.ERROR
    assert wrong.reasons[0].text == (
        "of the 8 queues of orders, b1 and b2 all consume broker-a/0-3; nobody consumes broker-a/4-7."
    )


def test_a_limit_makes_a_property_unknown_and_never_fine() -> None:
    judge = Judge(deployment(ORDERLY), Options(states=50))
    (check,) = [check for check in judge.checks if check.id == "one-listener-a-queue"]
    found = judge.answer(check)
    assert found.level is Level.UNKNOWN
    assert found.fails(Severity.ERROR)
    text = explanation(found, NAME)
    assert text.startswith("UNKNOWN: one-listener-a-queue was neither shown nor refuted for billing.")
    assert "limit of 50 states reached" in text


def test_properties_of_one_configuration_share_one_search(monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[list[str]] = []
    real = judge_module.run_suite

    def counting(rows: Sequence[Row], options: Options) -> Iterator[Outcome]:
        searched.append([row.id for row in rows])
        return real(rows, options)

    monkeypatch.setattr(judge_module, "run_suite", counting)
    judge = Judge(deployment(FINE))
    shared = ["offset-never-past-unfinished", "at-least-once", "every-duplicate-has-a-cause"]
    found = [judge.answer(check) for check in judge.checks if check.id in shared]
    assert [item.level for item in found] == [Level.OK] * 3
    assert searched == [shared]


ACCEPTED = '[[accepted]]\nfinding = "{}"\nbecause = "we know"\n'


def test_an_accepted_finding_does_not_fail() -> None:
    text = changed(b2='subscriptions = { orders = "paid" }') + ACCEPTED.format("A3")
    found = answer(text, "A3")
    assert (found.level, found.accepted) == (Level.ERROR, "we know")
    assert not found.fails(Severity.NOTE)
    assert answer(text, "offset-never-past-wanted").fails(Severity.ERROR)
    assert answer(text, "accepted-findings").level is Level.OK
    also = changed(group="idempotent = false", end=ACCEPTED.format("one-queue-one-consumer"))
    assert answer(also, "accepted-findings").level is Level.OK
    assert not answer(also, "one-queue-one-consumer").fails(Severity.NOTE)


def test_what_is_accepted_in_vain_is_told() -> None:
    found = answer(changed(end=ACCEPTED.format("A3-group-subscribes-different-tags")), "accepted-findings")
    assert (found.level, found.line) == (Level.WARNING, 20)
    assert found.reasons[0].text == "A3-group-subscribes-different-tags is accepted, and it is not found."


@pytest.mark.parametrize(("fail_on", "fails"), [("ERROR", False), ("WARNING", True), ("NOTE", True)])
def test_what_fails_is_a_choice(fail_on: str, fails: bool) -> None:
    found = answer(changed(group="max_reconsume_times = 20"), "SB-20")
    assert found.fails(Severity[fail_on]) is fails


def test_every_question_is_asked_of_some_deployment() -> None:
    texts = [
        FINE,
        ORDERLY,
        BROADCASTING,
        changed(group="idempotent = false\nretry_queue_nums = 0", broker='version = "4.9.8"'),
        *(
            changed(group=f'allocate_message_queue_strategy = "{name}"')
            for name in ("AVG_BY_CIRCLE", "CONFIG", "MACHINE_ROOM", "MACHINE_ROOM_NEARBY", "CONSISTENT_HASH")
        ),
    ]
    asked = {question.id for text in texts for question in QUESTIONS if question.asked(facts_of(text))}
    assert asked == {question.id for question in QUESTIONS}
    assert len(asked) == len(QUESTIONS)


def test_queues_are_told_in_short() -> None:
    queues = [MessageQueue("t", broker, number) for broker in ("a", "b") for number in (0, 1, 2, 5)]
    assert told(queues) == "a/0-2 5, b/0-2 5"
    assert runs([3]) == "3"
    assert told([]) == ""
