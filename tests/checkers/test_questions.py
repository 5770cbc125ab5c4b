"""What engines say to a question that is put wrongly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from rocketproof.checkers.explore import explore
from rocketproof.checkers.prove import prove
from rocketproof.checkers.simulate import simulate
from rocketproof.model.examples import peterson
from rocketproof.model.kernel import ModelError, State
from rocketproof.properties.examples import PETERSON


def undecorated(s: State) -> bool:
    """A text without a decorator."""
    return bool(s)


MACHINE: Any = peterson.machine
ALWAYS: Any = next(each for each in PETERSON if each.kind == "always")
EVENTUALLY: Any = next(each for each in PETERSON if each.kind == "eventually")


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        (
            lambda: explore(MACHINE, [ALWAYS]),
            r"explore takes machine.configure\(…\), not a Machine\.",
        ),
        (
            lambda: simulate(MACHINE.configure(), ALWAYS),
            "takes a list of properties, not a Property; put it in brackets",
        ),
        (
            lambda: explore(MACHINE.configure(), [undecorated]),
            "undecorated .* is no property; decorate it, such as",
        ),
        (
            lambda: explore(MACHINE.configure(), [EVENTUALLY]),
            "Make it a Claim: rocketproof.verify judges each kind",
        ),
        (lambda: prove(MACHINE, ALWAYS), "prove takes machine.configure"),
        (lambda: prove(MACHINE.configure(), undecorated), "undecorated .* is no property"),  # type: ignore[arg-type]
    ],
)
def test_a_question_that_is_put_wrongly_is_answered_with_the_remedy(asked: Callable[[], object], why: str) -> None:
    with pytest.raises(ModelError, match=why):
        asked()
