"""``rocketproof verify --strategy`` and ``--strategy-command``: a user's own strategy, checked against the laws."""

from __future__ import annotations

from dataclasses import replace

from ..checkers.result import Result
from ..checkers.strategies import FURTHER_LAWS, REQUIRED_LAWS, StrategyReport, check_strategy
from ..checkers.suite import Outcome, Row
from ..checkers.user_strategies import CommandStrategy, load_strategy
from ..model.allocation import Strategy
from ..properties.verdict import Verdict
from .request import Request

STRATEGY = "strategy"
BROKERS = ("broker-a", "broker-b")
FURTHER = "for information"


def check_user_strategy(request: Request) -> list[Outcome]:
    """Check the strategy that the request names; further laws are shown but never make the run fail.

    Raises:
        StrategyError: the strategy cannot be loaded or started.
    """
    seconds = request.limit.seconds or 60.0
    if request.strategy:
        return _outcomes(_checked(load_strategy(request.strategy), seconds))
    with CommandStrategy(request.strategy_command) as strategy:
        return _outcomes(_checked(strategy, seconds))


def _checked(strategy: Strategy, seconds: float) -> StrategyReport:
    """Check with queues of one broker and, if nothing is wrong with that, of two: each numbers its queues from 0."""
    on_one = check_strategy(strategy, timeout_seconds=seconds)
    if on_one.verdict is not Verdict.HOLDS:
        return on_one
    on_two = check_strategy(strategy, timeout_seconds=seconds, brokers=BROKERS)
    return replace(
        on_two,
        required=tuple(map(_on_both, on_one.required, on_two.required)),
        further=tuple(map(_on_both, on_one.further, on_two.further)),
    )


def _on_both(on_one: Result, on_two: Result) -> Result:
    """The laws that hold for both, or the smaller case of those that do not."""
    if on_one.verdict is on_two.verdict is Verdict.HOLDS and "size" in on_two.bounds:
        return replace(on_two, bounds=f"{on_two.bounds}, on 1 and on {len(BROKERS)} brokers")
    if on_one.verdict is not Verdict.HOLDS:
        return on_one
    if on_two.verdict is Verdict.VIOLATED:
        return replace(on_two, explanation=f"on {len(BROKERS)} brokers: {on_two.explanation}")
    return on_two


def _outcomes(report: StrategyReport) -> list[Outcome]:
    outcomes = []
    for law, result in zip(REQUIRED_LAWS, report.required, strict=True):
        row = Row(subject=law, machine=f"{STRATEGY} {report.strategy}", expected=Verdict.HOLDS)
        outcomes.append(Outcome(row=row, result=replace(result, property=law.id)))
    for law, result in zip(FURTHER_LAWS, report.further, strict=True):
        row = Row(subject=law, machine=FURTHER, expected=result.verdict)
        outcomes.append(Outcome(row=row, result=replace(result, property=law.id)))
    return outcomes
