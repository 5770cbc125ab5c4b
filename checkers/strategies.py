"""Check of any allocation strategy: every number of queues and consumers up to a bound, smallest first.

A group needs the laws in :data:`REQUIRED_LAWS` for each queue to have exactly one consumer. Those in
:data:`FURTHER_LAWS` are for information: not all of RocketMQ's own strategies obey them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..model.allocation import AllocationError, MessageQueue, Strategy, sorted_ids
from ..properties.verdict import Verdict, merge
from .engines import STRATEGIES
from .result import Result
from .run import counted
from .user_strategies import StrategyError, StrategyGoneError


@dataclass(frozen=True)
class Law:
    """A law that a strategy may have to obey."""

    id: str  # short name with dashes
    statement: str  # one sentence


ANSWERS = Law("answers", "The strategy answers every question, without an error.")
OFFERED = Law("offered-queues-only", "An answer names only queues that were given.")
NO_REPEATS = Law("no-repeats", "An answer names no queue twice.")
SAME_AGAIN = Law("same-answer-again", "Asked the same question again at once, it gives the same answer.")
ANY_ORDER = Law("any-asking-order", "It gives the same answer whoever asked before.")
ONE_OWNER = Law("one-owner", "No queue goes to two consumers.")
NO_GAP = Law("no-gap", "Every queue goes to some consumer.")
REQUIRED_LAWS = (ANSWERS, OFFERED, NO_REPEATS, SAME_AGAIN, ANY_ORDER, ONE_OWNER, NO_GAP)

BALANCED = Law("balanced", "Shares differ by at most one queue.")
MOVES_LITTLE = Law("joiner-only-takes", "When a consumer joins, queues move only to it, not between the others.")
REFUSES_NO_ID = Law("refuses-empty-own-id", "An empty own id is refused with an error (RB-20).")
REFUSES_NO_QUEUES = Law("refuses-no-queues", "An empty list of queues is refused with an error (RB-20).")
REFUSES_NO_IDS = Law("refuses-no-ids", "An empty list of ids is refused with an error (RB-20).")
ABSENT_GETS_NOTHING = Law("absent-id-gets-nothing", "A consumer that is not in the list gets nothing (RB-20).")
FURTHER_LAWS = (BALANCED, MOVES_LITTLE, REFUSES_NO_ID, REFUSES_NO_QUEUES, REFUSES_NO_IDS, ABSENT_GETS_NOTHING)


@dataclass(frozen=True)
class StrategyReport:
    """What a check of a strategy found."""

    strategy: str  # its name
    required: tuple[Result, ...]  # one result for each of the required laws
    further: tuple[Result, ...]  # one result for each of the further laws, for information

    @property
    def verdict(self) -> Verdict:
        """The verdict of the required laws together."""
        return merge(result.verdict for result in self.required)

    @property
    def smallest(self) -> Result | None:
        """Of the required laws that are violated, the one with the smallest case."""
        failed = [result for result in self.required if result.verdict is Verdict.VIOLATED]
        return min(
            failed, key=lambda r: (r.figures["queues"] + r.figures["consumers"], r.figures["consumers"]), default=None
        )


def check_strategy(
    strategy: Strategy,
    *,
    max_queues: int = 8,
    max_consumers: int = 8,
    timeout_seconds: float = 60.0,
    brokers: Sequence[str] = ("broker-a",),
    expected: Callable[[MessageQueue], bool] = lambda queue: True,
    larger: Sequence[tuple[int, int]] = (),
) -> StrategyReport:
    """Call ``strategy`` for every consumer of every group up to the given numbers of queues and consumers, and judge
    the answers.

    It is called twice in a row for every consumer, and once more in the opposite order of consumers. The time is
    checked between calls: a Python function that never returns is not interrupted. A law is UNKNOWN if the time was
    over before all groups were judged, or if some could not be judged because there was no answer.

    Args:
        strategy: the strategy.
        max_queues: largest number of queues.
        max_consumers: largest number of consumers.
        timeout_seconds: time for the whole check.
        brokers: names of the brokers that the queues are on, in turn.
        expected: which queues the strategy must give to some consumer, for one that leaves some out on purpose.
        larger: numbers of queues and consumers beyond these, judged last.
    """
    check = _Check(strategy, time.monotonic() + timeout_seconds, brokers, expected)
    stopped = ""
    done = 0
    sizes = [(queues, consumers) for consumers in range(1, max_consumers + 1) for queues in range(1, max_queues + 1)]
    sizes.sort(key=lambda size: (sum(size), size[1]))
    sizes += larger
    try:
        for queues, consumers in sizes:
            check.group(queues, consumers)
            done += 1
    except _TimeUp:
        stopped = f"the time limit of {timeout_seconds:g} s was hit"
    except StrategyGoneError:
        stopped = "the strategy no longer answers"
    if stopped:
        bounds = f"{done} of {len(sizes)} sizes up to {max_queues} queues and {max_consumers} consumers; {stopped}"
    else:
        bounds = f"every size up to {max_queues} queues and {max_consumers} consumers"
        bounds += "".join(f", {queues} and {consumers}" for queues, consumers in larger)
        check.mistakes()
    seconds = time.monotonic() - check.start

    def result(law: Law) -> Result:
        finding = check.findings.get(law)
        unjudged = check.unjudged.get(law, stopped)
        if finding is not None:
            verdict, explanation = Verdict.VIOLATED, finding.text
            figures = {"queues": finding.queues, "consumers": finding.consumers}
        else:
            verdict, explanation, figures = Verdict.UNKNOWN if unjudged else Verdict.HOLDS, unjudged, {}
        covered = bounds if law in REQUIRED_LAWS or law in (BALANCED, MOVES_LITTLE) or stopped else "one question"
        return Result(
            property=f"strategy-{law.id}",
            verdict=verdict,
            engine=STRATEGIES,
            bounds="smallest queues + consumers" if finding else covered,
            seconds=seconds,
            explanation=explanation,
            figures={"questions": check.questions, **figures},
        )

    return StrategyReport(strategy.name, tuple(map(result, REQUIRED_LAWS)), tuple(map(result, FURTHER_LAWS)))


class _TimeUp(Exception):
    pass


class _NoAnswer(Exception):
    """The strategy failed to answer; the text says how."""


@dataclass(frozen=True)
class _Finding:
    text: str
    queues: int
    consumers: int


Answers = Mapping[str, tuple[MessageQueue, ...]]


@dataclass
class _Check:
    strategy: Strategy
    deadline: float
    brokers: Sequence[str]
    expected: Callable[[MessageQueue], bool]
    start: float = field(default_factory=time.monotonic)
    questions: int = 0
    findings: dict[Law, _Finding] = field(default_factory=dict)
    unjudged: dict[Law, str] = field(default_factory=dict)

    def group(self, queue_count: int, consumers: int) -> None:
        """Judge one size by every law."""
        queues = sorted(
            MessageQueue("TopicTest", self.brokers[number % len(self.brokers)], number // len(self.brokers))
            for number in range(queue_count)
        )
        ids = sorted_ids(f"c{number}" for number in range(consumers))
        who = f"{counted(queue_count, 'queue')} and {counted(consumers, 'consumer')}"
        shorts = {queue: f"q{place}" for place, queue in enumerate(queues)}

        def found(law: Law, texts: Iterator[str]) -> None:
            text = next(texts, None)
            if text is not None and law not in self.findings:
                self.findings[law] = _Finding(f"with {who}, {text}", queue_count, consumers)

        try:
            answers, again = self._ask_twice(queues, ids)
            reversed_order = {own: self._ask(own, queues, ids) for own in reversed(ids)}
            found(OFFERED, _not_offered(answers, shorts))
            found(NO_REPEATS, _repeated(answers, shorts))
            found(SAME_AGAIN, _different(answers, again, shorts, "asked again"))
            found(ANY_ORDER, _different(answers, reversed_order, shorts, "asked after the consumers behind it"))
            found(ONE_OWNER, _owned_twice(answers, shorts))
            found(NO_GAP, _owned_by_nobody(answers, [queue for queue in queues if self.expected(queue)], shorts))
            found(BALANCED, _unequal(answers))
            if consumers > 1 and MOVES_LITTLE not in self.findings:
                found(MOVES_LITTLE, self._moves(queues, ids, answers, shorts))
        except _NoAnswer as failure:
            found(ANSWERS, iter([str(failure)]))
            for law in (*REQUIRED_LAWS[1:], BALANCED, MOVES_LITTLE):
                self.unjudged.setdefault(law, f"not judged where the strategy gave no answer, first with {who}")
            if isinstance(failure.__cause__, StrategyGoneError):
                raise failure.__cause__ from None

    def mistakes(self) -> None:
        """Test inputs that RocketMQ's strategies refuse (RB-20). These calls need not have an answer."""
        queue = MessageQueue("TopicTest", self.brokers[0], 0)
        questions: list[tuple[Law, str, list[MessageQueue], list[str]]] = [
            (ABSENT_GETS_NOTHING, "c1", [queue], ["c0"]),
            (REFUSES_NO_ID, "", [queue], ["c0"]),
            (REFUSES_NO_QUEUES, "c0", [], ["c0"]),
            (REFUSES_NO_IDS, "c0", [queue], []),
        ]
        gone = ""
        for law, own, queues, ids in questions:
            if gone:
                self.unjudged[law] = gone
                continue
            asked = f"asked for {own!r} with {counted(len(queues), 'queue')} and the ids {ids}"
            refused = ""
            answer: tuple[MessageQueue, ...] = ()
            try:
                answer = self._ask(own, queues, ids)
            except _TimeUp:
                self.unjudged[law] = "the time limit was hit"
                continue
            except _NoAnswer as failure:
                refused = str(failure)
                gone = "the strategy no longer answers" if isinstance(failure.__cause__, StrategyGoneError) else ""
            if law is ABSENT_GETS_NOTHING:
                if refused or answer:
                    text = refused or f"it gets {counted(len(answer), 'queue')}"
                    self.findings[law] = _Finding(f"{asked}: {text}", 1, 1)
            elif not refused:
                self.findings[law] = _Finding(
                    f"{asked} it answers with {counted(len(answer), 'queue')}, where RocketMQ's own strategies fail",
                    len(queues),
                    len(ids),
                )

    def _ask(self, own: str, queues: Sequence[MessageQueue], ids: Sequence[str]) -> tuple[MessageQueue, ...]:
        if time.monotonic() > self.deadline:
            raise _TimeUp
        self.questions += 1
        try:
            return tuple(self.strategy.allocate(own, list(queues), list(ids)))
        except Exception as error:
            kind = "" if isinstance(error, StrategyError | AllocationError) else f"{type(error).__name__}: "
            raise _NoAnswer(f"{own or repr(own)} gets no answer: {kind}{error}") from error

    def _ask_twice(self, queues: Sequence[MessageQueue], ids: Sequence[str]) -> tuple[Answers, Answers]:
        pairs = {own: (self._ask(own, queues, ids), self._ask(own, queues, ids)) for own in ids}
        return {own: pair[0] for own, pair in pairs.items()}, {own: pair[1] for own, pair in pairs.items()}

    def _moves(
        self, queues: Sequence[MessageQueue], ids: Sequence[str], after: Answers, shorts: Mapping[MessageQueue, str]
    ) -> Iterator[str]:
        now = _owners(after)
        for joiner in reversed(ids):
            others = [own for own in ids if own != joiner]
            try:
                before = _owners({own: self._ask(own, queues, others) for own in others})
            except _NoAnswer as failure:
                if isinstance(failure.__cause__, StrategyGoneError):
                    raise
                continue  # ANSWERS judges this when the smaller group is the case
            for queue, name in shorts.items():
                old, new = before.get(queue, []), now.get(queue, [])
                if len(old) == len(new) == 1 and old != new and new != [joiner]:
                    yield f"when {joiner} joins {', '.join(others)}, {name} moves from {old[0]} to {new[0]}"


def _owners(answers: Answers) -> dict[MessageQueue, list[str]]:
    owners: dict[MessageQueue, list[str]] = {}
    for own, answer in answers.items():
        for queue in dict.fromkeys(answer):
            owners.setdefault(queue, []).append(own)
    return owners


def _not_offered(answers: Answers, shorts: Mapping[MessageQueue, str]) -> Iterator[str]:
    for own, answer in answers.items():
        yield from (f"{own} gets {queue}, which was not given" for queue in answer if queue not in shorts)


def _repeated(answers: Answers, shorts: Mapping[MessageQueue, str]) -> Iterator[str]:
    for own, answer in answers.items():
        if len(set(answer)) < len(answer):
            yield f"{own} gets {_list(answer, shorts)}"


def _different(answers: Answers, others: Answers, shorts: Mapping[MessageQueue, str], when: str) -> Iterator[str]:
    for own, answer in answers.items():
        if set(answer) != set(others[own]):
            yield f"{own} gets {_list(answer, shorts)}, and {when} {_list(others[own], shorts)}"


def _owned_twice(answers: Answers, shorts: Mapping[MessageQueue, str]) -> Iterator[str]:
    for queue, owners in _owners(answers).items():
        if len(owners) > 1:
            yield f"{shorts.get(queue, str(queue))} goes to {' and '.join(owners)} ({_all(answers, shorts)})"


def _owned_by_nobody(
    answers: Answers, expected: Sequence[MessageQueue], shorts: Mapping[MessageQueue, str]
) -> Iterator[str]:
    owners = _owners(answers)
    yield from (
        f"{shorts[queue]} goes to nobody ({_all(answers, shorts)})" for queue in expected if queue not in owners
    )


def _unequal(answers: Answers) -> Iterator[str]:
    sizes = {own: len(answer) for own, answer in answers.items()}
    most, least = max(sizes, key=lambda own: sizes[own]), min(sizes, key=lambda own: sizes[own])
    if sizes[most] > sizes[least] + 1:
        yield f"{most} gets {counted(sizes[most], 'queue')} and {least} gets {sizes[least]}"


def _list(queues: Sequence[MessageQueue], shorts: Mapping[MessageQueue, str]) -> str:
    return " ".join(shorts.get(queue, str(queue)) for queue in queues) or "nothing"


def _all(answers: Answers, shorts: Mapping[MessageQueue, str]) -> str:
    return ", ".join(f"{own}: {_list(answer, shorts)}" for own, answer in answers.items())
