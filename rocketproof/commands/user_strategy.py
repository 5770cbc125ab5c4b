"""``rocketproof verify --strategy`` and ``--strategy-command``: a user's own allocation strategy, held to the laws."""

from __future__ import annotations

from dataclasses import replace

from ..checkers.strategies import FURTHER_LAWS, REQUIRED_LAWS, StrategyReport, check_strategy
from ..checkers.suite import Outcome, Row
from ..checkers.user_strategies import CommandStrategy, load_strategy
from ..properties.verdict import Verdict
from .request import Request

STRATEGY = "strategy"
FURTHER = "for information"


def check_user_strategy(request: Request) -> list[Outcome]:
    """Check the strategy the request names; further laws are shown but never make the run fail.

    Raises:
        StrategyError: the strategy cannot be loaded or started.
    """
    seconds = request.limit.seconds or 60.0
    if request.strategy:
        return _outcomes(check_strategy(load_strategy(request.strategy), timeout_seconds=seconds))
    with CommandStrategy(request.strategy_command) as strategy:
        return _outcomes(check_strategy(strategy, timeout_seconds=seconds))


def _outcomes(report: StrategyReport) -> list[Outcome]:
    outcomes = []
    for law, result in zip(REQUIRED_LAWS, report.required, strict=True):
        row = Row(subject=law, machine=f"{STRATEGY} {report.strategy}", expected=Verdict.HOLDS)
        outcomes.append(Outcome(row=row, result=replace(result, property=law.id)))
    for law, result in zip(FURTHER_LAWS, report.further, strict=True):
        row = Row(subject=law, machine=FURTHER, expected=result.verdict)
        outcomes.append(Outcome(row=row, result=replace(result, property=law.id)))
    return outcomes
