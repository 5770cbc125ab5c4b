"""How a step is drawn: between which lanes something travels.

This is defined once here; the page (``script/page/``) and :mod:`.run_svg` use it. An unknown machine is drawn too:
lanes are the parties that actions name, and a step that names two of them is a request.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..model.kernel.lowered import Instance, Lowered


class Travel(enum.StrEnum):
    """What travels in a step: a request, an answer, both in turn, nothing, or something that is lost or delayed."""

    REQUEST = "request"
    ANSWER = "answer"
    BOTH = "both"
    LOCAL = "local"
    LOST = "lost"
    LATE = "late"


_ANSWERS = "answer_found answer_nothing answer_stale late_commit_arrives"
_BOTH = (
    "pull pull_nothing pull_removed take take_where_chosen find_no_offset correct_offset answer_illegal answer_reset "
    "rebalance_pass ask_members send_back send_back_by_request orphan_sends_back orphan_copied publish_batch "
    "recompute_offset take_queue renew refresh_route"
)
_LOCAL = (
    "begin succeed fail succeed_up_to orphan_listener_fails orphan_succeeds overdue_succeeds overdue_fails hang "
    "finish_without_update update_late remove_unowned begin_batch succeed_in_order suspend suspend_poison say_commit "
    "say_rollback keep_taken put_batch_back roll_back return_to_dropped_window allocate_again drop_in_order look "
    "begin_reset pull_expires drop_expired lose_dropped ghost_handles die persist repair remove_queue flush"
)
_LOST = (
    "drop_losing_commit lose_pull query_fails send_back_fails send_back_fails_twice lose_notice publishing_fails "
    "cut_off"
)
_LATE = "drop_delaying_commit commit_late end_correction_late remove_and_unlock_later"
TRAVELS: Mapping[str, Travel] = {
    name: travel
    for travel, names in (
        (Travel.ANSWER, _ANSWERS),
        (Travel.BOTH, _BOTH),
        (Travel.LOCAL, _LOCAL),
        (Travel.LOST, _LOST),
        (Travel.LATE, _LATE),
    )
    for name in names.split()
}
"""How the steps of RocketMQ's actions travel; a request if not listed."""

PARTIES = ("Consumer", "Broker", "Queue")
"""Domains that have lanes, in the order of lanes; for machines without any, the domains of first parameters."""

ELSEWHERE = "·"
"""The lane of steps that no party takes: those of the broker as a whole, the operator, or time."""


@dataclass(frozen=True)
class Drawn:
    """A step as it is drawn.

    Attributes:
        source, target: lanes; equal for what happens inside one.
        travel: what travels between them.
        cargo: what it is about, such as ``m0``.
        fault: whether it is a fault, of which a budget allows a limited number.
    """

    source: str
    target: str
    travel: Travel
    cargo: str
    fault: bool


def travel_of(action: str) -> Travel:
    """How the steps of an action travel."""
    return TRAVELS.get(action, Travel.REQUEST)


def lanes(lowered: Lowered) -> list[str]:
    """The lanes of a configuration, those of clients first."""
    found: dict[str, dict[str, None]] = {}
    for instance in lowered.instances:
        for kind, label in _named(instance):
            found.setdefault(kind, {})[label] = None
    kinds = [kind for kind in PARTIES if kind in found] or list(found)[:1]
    named = [label for kind in kinds for label in sorted(found[kind])]
    at_home = all(any(label in named for _, label in _named(instance)) for instance in lowered.instances)
    return named if at_home else [*named, ELSEWHERE]


def drawn(instance: Instance, on: Iterable[str]) -> Drawn:
    """How a step is drawn on the given lanes."""
    there = list(on)
    named = [label for _, label in _named(instance)]
    parties = [label for label in named if label in there] or [ELSEWHERE]
    travel = travel_of(instance.action.name)
    source, target = parties[0], parties[-1]
    if travel is Travel.LOCAL or source == target:
        source, target, travel = parties[0], parties[0], Travel.LOCAL
    elif travel is Travel.ANSWER:
        source, target = target, source
    cargo = " ".join(label for label in named if label not in there)
    return Drawn(source, target, travel, cargo, instance.action.budget is not None)


def _named(instance: Instance) -> list[tuple[str, str]]:
    """The elements that a step names: domain and label."""
    parameters = instance.action.parameters
    return [
        (kind.__name__, f"{kind.label}{value}")
        for name, value in instance.arguments.items()
        if value is not None and hasattr(kind := parameters[name], "label")
    ]
