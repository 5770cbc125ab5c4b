"""How often a failing message is tried, at which level, and when it is given up: theorems for every maximum and
table.

The statements about the two ways of sending back are made by functions of the rule they are about, so that the same
statements can be tried on another rule: one of an older release, or a mutated one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from ..model.dead_letter import given_up_at_once
from ..model.delay import DEFAULT_LEVELS, DelayTable, stored_level
from ..model.kernel import BoolLike, IntLike, all_of, any_of, implies, ite, not_, same
from ..model.retry_policy import (
    DEFAULT_MAXIMUM,
    FIRST_LEVEL,
    Answer,
    Circumstances,
    answer,
    broker_checks,
    copy_times,
    fallback_gives_up,
    fallback_level,
    is_dead_letter,
    maximum_sent,
    retry_level,
    tries_left,
)
from .theorem import Function, Theorem, forall

GivesUp: TypeAlias = Callable[[IntLike, IntLike], BoolLike]
"""(count at which the message failed, maximum) → whether it becomes a dead letter."""

NextTimes: TypeAlias = Callable[[IntLike], IntLike]
"""Count at which the message failed → count of its retry copy."""

_ANY_MAXIMUM = "every maximum and every count"
_ANY_TABLE = "every delay table, maximum and count"
_TABLE = DelayTable.parse(DEFAULT_LEVELS)


def request_gives_up(times: IntLike, maximum: IntLike) -> BoolLike:
    """Request 36, if the listener leaves the level to the broker (SB-14)."""
    return is_dead_letter(times, maximum, 0)


def fallback(version: str) -> GivesUp:
    """The fallback of a release, by a client without failed send-backs so far (SB-4, SB-15)."""
    return lambda times, maximum: fallback_gives_up(version, copy_times(times), maximum)


def attempts(name: str, gives_up: GivesUp, next_times: NextTimes, *rules: str) -> Theorem:
    """A message that always fails is delivered exactly once more than the maximum says.

    By induction over the remaining tries: none remain exactly when the message is given up, and each copy has one less;
    this is also true if the maximum was lowered meanwhile and is below the count. So a message at count 0 is delivered
    ``maximum + 1`` times, whatever the maximum is.
    """

    def claim(times: IntLike, maximum: IntLike) -> BoolLike:
        left = tries_left(times, maximum)
        return all_of(
            same(gives_up(times, maximum), left == 0),
            implies(left > 0, same(tries_left(next_times(times), maximum), left - 1)),
            same(tries_left(0, maximum), maximum),
        )

    def tells(times: IntLike, maximum: IntLike) -> str:
        fate = "is given up" if gives_up(times, maximum) else f"comes again with count {next_times(times)}"
        return (
            f"a message that fails with count {times} of {maximum} {fate}; {tries_left(times, maximum)} tries were left"
        )

    return Theorem(
        id=name,
        statement="A message that always fails is delivered once, then as often as the maximum says, then given up.",
        sizes=("times", "maximum"),
        given=lambda times, maximum: all_of(0 <= times, 0 <= maximum),
        claim=claim,
        tells=tells,
        covers=_ANY_MAXIMUM,
        rules=rules,
    )


def dead_letter_exactly_at_maximum() -> Theorem:
    """U9: a dead letter exactly if the count has reached the maximum, or the listener gives up."""
    return Theorem(
        id="dead-letter-exactly-at-maximum",
        statement=(
            "Request 36 makes a dead letter if and only if the stored count has reached the maximum sent with "
            "the request, or the level asked for is negative. Either way, the copy's count is one higher."
        ),
        sizes=("times", "maximum"),
        given=lambda times: times >= 0,
        claim=lambda times, maximum, level: all_of(
            same(is_dead_letter(times, maximum, level), any_of(not_(times < maximum), level < 0)),
            same(copy_times(times), times + 1),
        ),
        covers="every count, every maximum (negative ones included) and every level",
        rules=("SB-9", "SB-14", "U9"),
    )


def level_is_three_plus_attempts() -> Theorem:
    """U9: level = min(max level, 3 + attempts) if the listener leaves it to the broker."""
    return Theorem(
        id="retry-level-is-three-plus-attempts",
        statement="A message that failed n times before waits at level 3 + n, or at the last level of the table.",
        sizes=("times", "levels"),
        given=lambda times, levels: all_of(times >= 0, levels >= 1),
        claim=lambda times, levels: all_of(
            stored_level(retry_level(times, 0), levels) <= levels,
            any_of(
                stored_level(retry_level(times, 0), levels) == 3 + times,
                all_of(3 + times > levels, stored_level(retry_level(times, 0), levels) == levels),
            ),
            stored_level(retry_level(times, 0), levels) >= 1,
        ),
        covers=_ANY_TABLE,
        rules=("SB-14", "DL-2", "U9"),
    )


def chosen_level_is_kept() -> Theorem:
    """CC-14: a level above 0 that the listener chose is used for every retry."""
    return Theorem(
        id="chosen-level-is-kept",
        statement="A level above 0 that the listener asks for is the level of the next try, whatever the count is.",
        sizes=("level", "levels"),
        given=lambda times, level, levels: all_of(times >= 0, level > 0, level <= levels),
        claim=lambda times, level, levels: stored_level(retry_level(times, level), levels) == level,
        covers=_ANY_TABLE,
        rules=("CC-14", "SB-14"),
    )


def delays_grow() -> Theorem:
    """With a table in which no level is shorter than the one before, no retry waits less than the one before."""

    def claim(times: IntLike, levels: IntLike, delay: Callable[[IntLike], IntLike]) -> BoolLike:
        sooner, later = (stored_level(retry_level(count, 0), levels) for count in (times, times + 1))
        return delay(sooner) <= delay(later)

    return Theorem(
        id="retry-delays-never-shrink",
        statement="Where no level of the table is shorter than the one before it, no retry waits less than the one "
        "before it.",
        sizes=("times", "levels"),
        symbols={"delay": Function()},
        given=lambda times, levels, delay: all_of(
            times >= 0, levels >= 1, forall(1, levels, lambda level: delay(level) <= delay(level + 1))
        ),
        claim=claim,
        covers=_ANY_TABLE,
        rules=("SB-14", "DL-1", "DL-2"),
    )


def default_schedule() -> Theorem:
    """SB-20: the chain of a default consumer at a default broker: 17 deliveries, 17140 seconds of waiting."""

    def claim(times: IntLike, waited: Callable[[IntLike], IntLike]) -> BoolLike:
        maximum = maximum_sent(-1)
        return all_of(
            implies(request_gives_up(times, maximum), waited(times) == 17_140_000),
            implies(times < maximum, waited(times) < 17_140_000),
            same(1 + tries_left(0, maximum), 17),
        )

    def given(times: IntLike, waited: Callable[[IntLike], IntLike]) -> BoolLike:
        so_far = [waited(count + 1) == waited(count) + _TABLE.retry_delay(count) for count in range(DEFAULT_MAXIMUM)]
        return all_of(waited(0) == 0, so_far, 0 <= times, times <= maximum_sent(-1))

    return Theorem(
        id="default-schedule",
        statement=(
            "With default settings, a message that always fails is delivered 17 times in 17140 seconds of "
            "waiting (4 h 45 min 40 s), and then becomes a dead letter."
        ),
        sizes=("times",),
        symbols={"waited": Function()},
        given=given,
        claim=claim,
        covers="the default maximum and the default delay table",
        rules=("SB-20", "DL-1"),
    )


def dead_letter_read_again() -> Theorem:
    """DQ-4: a dead letter is given up at the first failure of any reader with the same maximum or a smaller one."""
    return Theorem(
        id="dead-letter-read-again",
        statement=(
            "A group that reads the dead letters of another group gives them up at the first failure, unless "
            "its maximum is higher than the count they carry."
        ),
        sizes=("times", "maximum", "reader"),
        given=lambda times, maximum, reader: all_of(times >= 0, maximum >= 0, is_dead_letter(times, maximum, 0)),
        claim=lambda times, maximum, reader: all_of(
            implies(reader <= maximum, given_up_at_once(copy_times(times), reader)),
            same(given_up_at_once(copy_times(times), reader), reader <= times + 1),
        ),
        covers="every count and every two maxima",
        rules=("DQ-4",),
    )


def paths_agree(version: str) -> Theorem:
    """G5: whether a failed message is given up at the same count on both ways of sending back."""
    gives_up = fallback(version)
    return Theorem(
        id=f"both-ways-count-alike-{version}",
        statement=f"In {version} the fallback gives a message as many tries as request 36, at the same levels.",
        sizes=("times", "maximum"),
        given=lambda times, maximum: all_of(0 <= times, times <= maximum),
        claim=lambda times, maximum: all_of(
            same(gives_up(times, maximum), request_gives_up(times, maximum)),
            fallback_level(times) == retry_level(times, 0),
        ),
        tells=lambda times, maximum: (
            f"a message that fails with count {times} of {maximum}: by request 36 it is "
            f"{_fate(request_gives_up(times, maximum))}, by the fallback {_fate(gives_up(times, maximum))}"
        ),
        covers=_ANY_MAXIMUM,
        rules=("SB-4", "SB-15", "G5"),
    )


def _fate(given_up: BoolLike) -> str:
    return "dead-lettered" if given_up else "tried again"


def fallback_combination(*, sends_next: bool, strictly: bool) -> Theorem:
    """One of four ways to count on the fallback path (D3): who increments, and whether the maximum itself is
    allowed.

    Args:
        sends_next: the client sends the count of the copy, not the count at which the message failed.
        strictly: the broker gives up above the maximum, not at it.
    """

    def sent(times: IntLike) -> IntLike:
        return copy_times(times) if sends_next else times

    def gives_up(times: IntLike, maximum: IntLike) -> BoolLike:
        return sent(times) > maximum if strictly else sent(times) >= maximum

    name = f"fallback-sends-{'r+1' if sends_next else 'r'}-gives-up-{'above' if strictly else 'at'}-maximum"
    return attempts(name, gives_up, sent, "SB-4", "SB-15")


def answers_of_request(*, retry_queues: bool) -> Theorem:
    """SB-9 … SB-14: what SUCCESS implies; ``retry_queues`` assumes that the group has a retry queue."""

    def checks(
        master: IntLike,
        group: IntLike,
        broker: IntLike,
        queues: IntLike,
        topic: IntLike,
        writable: IntLike,
        readable: IntLike,
        letters: IntLike,
        put: IntLike,
        dead: IntLike,
    ) -> BoolLike:
        found = Circumstances(
            has_master=master > 0,
            group_exists=group > 0,
            broker_writable=broker > 0,
            retry_queues=queues,
            retry_topic=topic > 0,
            retry_topic_writable=writable > 0,
            message_readable=readable > 0,
            dead_letter_topic=letters > 0,
            stored=put > 0,
        )
        # Nothing here is taken from the broker's table: the requirements are stated independently.
        met = all_of(*(item > 0 for item in (master, group, broker, queues, topic, writable, readable, put)))
        is_stored = all_of(met, any_of(dead <= 0, letters > 0))
        success = answer(broker_checks(found, dead_letter=dead > 0)) == Answer.SUCCESS
        old = answer(broker_checks(found, dead_letter=dead > 0, version="4.9.8")) == Answer.SUCCESS
        return all_of(implies(success, is_stored), implies(is_stored, all_of(success, old)))

    return Theorem(
        id="success-means-stored" if retry_queues else "success-always-means-stored",
        statement="SUCCESS to request 36 means that a copy is stored"
        + (", where retryQueueNums is at least 1." if retry_queues else "."),
        sizes=("queues",),
        given=lambda queues: queues >= (1 if retry_queues else 0),
        claim=checks,
        tells=lambda queues: f"with retryQueueNums = {queues} the answer is SUCCESS, and nothing is stored",
        covers="everything a broker may find",
        rules=("SB-9", "SB-12", "G2"),
    )


def first_obstacle_named() -> Theorem:
    """SB-9 … SB-16: which response code a user sees if several things are wrong at the broker."""

    def named(
        master: IntLike,
        group: IntLike,
        broker: IntLike,
        queues: IntLike,
        topic: IntLike,
        writable: IntLike,
        readable: IntLike,
        letters: IntLike,
        put: IntLike,
        dead: IntLike,
    ) -> BoolLike:
        found = Circumstances(
            has_master=master > 0,
            group_exists=group > 0,
            broker_writable=broker > 0,
            retry_queues=queues,
            retry_topic=topic > 0,
            retry_topic_writable=writable > 0,
            message_readable=readable > 0,
            dead_letter_topic=letters > 0,
            stored=put > 0,
        )
        no_letters = ite(all_of(dead > 0, letters <= 0), Answer.SYSTEM_ERROR, ite(put > 0, 0, Answer.SYSTEM_ERROR))
        from_topic = ite(
            topic <= 0,
            Answer.SYSTEM_ERROR,
            ite(writable <= 0, Answer.NO_PERMISSION, ite(readable <= 0, Answer.SYSTEM_ERROR, no_letters)),
        )
        # Without a retry queue the answer is SUCCESS, whatever is wrong in later checks (SB-12).
        from_broker = ite(broker <= 0, Answer.NO_PERMISSION, ite(queues <= 0, Answer.SUCCESS, from_topic))
        old = ite(group <= 0, Answer.SUBSCRIPTION_GROUP_NOT_EXIST, from_broker)
        new = ite(master <= 0, Answer.SYSTEM_ERROR, old)
        return all_of(
            same(answer(broker_checks(found, dead_letter=dead > 0)), new),
            same(answer(broker_checks(found, dead_letter=dead > 0, version="4.9.8")), old),
        )

    return Theorem(
        id="answer-names-the-first-obstacle",
        statement="The answer to request 36 names the first thing that is wrong; 4.9.8 does not check for a master.",
        sizes=("queues",),
        given=lambda queues: queues >= 0,
        claim=named,
        tells=lambda queues: f"with retryQueueNums = {queues} the answer is another one",
        covers="everything a broker may find",
        rules=("SB-9", "SB-10", "SB-11", "SB-12", "SB-13", "SB-14", "SB-16", "DQ-1"),
    )


def chosen_maximum_is_sent() -> Theorem:
    """SB-2: the value of maxReconsumeTimes that the client sends."""
    return Theorem(
        id="maximum-sent-as-configured",
        statement="The client sends maxReconsumeTimes as configured, and 16 instead of -1.",
        sizes=("configured",),
        given=lambda configured: configured >= 0,
        claim=lambda configured: all_of(same(maximum_sent(configured), configured), same(maximum_sent(-1), 16)),
        tells=lambda configured: f"with maxReconsumeTimes = {configured} or -1 another maximum is sent",
        covers="every maximum",
        rules=("SB-2",),
    )


def waits_for_its_try() -> Theorem:
    """G6, naive: the k-th retry waits at least as long as its level in the table, whatever the listener requested."""

    def claim(times: IntLike, level: IntLike, levels: IntLike, delay: Callable[[IntLike], IntLike]) -> BoolLike:
        return delay(stored_level(retry_level(times, level), levels)) >= delay(
            stored_level(FIRST_LEVEL + times, levels)
        )

    return Theorem(
        id="retry-waits-for-its-level",
        statement="Retry n waits at least as long as level 2 + n, whatever the listener asks for.",
        sizes=("times", "levels"),
        symbols={"delay": Function()},
        given=lambda times, level, levels, delay: all_of(
            times >= 0, level >= 0, levels >= 1, forall(1, levels, lambda lower: delay(lower) <= delay(lower + 1))
        ),
        claim=claim,
        tells=lambda times, level, levels: (
            f"with {levels} levels a message that failed with count {times} waits at level "
            f"{stored_level(retry_level(times, level), levels)}, for its listener asked for level {level}"
        ),
        covers=_ANY_TABLE,
        rules=("CC-14", "G6"),
    )


RETRY_THEOREMS: tuple[Theorem, ...] = (
    attempts("retries-as-often-as-the-maximum", request_gives_up, copy_times, "SB-14", "SB-20", "U9", "G5"),
    fallback_combination(sends_next=True, strictly=True),
    dead_letter_exactly_at_maximum(),
    level_is_three_plus_attempts(),
    chosen_level_is_kept(),
    delays_grow(),
    default_schedule(),
    dead_letter_read_again(),
    paths_agree("5.3.3"),
    answers_of_request(retry_queues=True),
    first_obstacle_named(),
    chosen_maximum_is_sent(),
)
"""What holds for every chain of retries."""

NAIVE_RETRY_THEOREMS: tuple[Theorem, ...] = (
    paths_agree("4.9.8"),
    fallback_combination(sends_next=True, strictly=False),
    fallback_combination(sends_next=False, strictly=True),
    fallback_combination(sends_next=False, strictly=False),
    answers_of_request(retry_queues=False),
    waits_for_its_try(),
)
"""Popular beliefs, and ways to count that were tried; each is false."""
