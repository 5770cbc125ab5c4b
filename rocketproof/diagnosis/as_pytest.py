"""A run as a pytest file: that it happens with the bug, that a correct machine does not do it, and what must hold."""

from __future__ import annotations

import json
import re
import textwrap

from ..properties.property import Kind
from ..properties.verdict import Verdict
from ..traces.format.printable import printable
from .shortest import Shown

_CLAIMED = """
import pytest

from rocketproof.checkers.mutants import Trials
from rocketproof.explorer import rerun
from rocketproof.explorer.subjects import subject

SUBJECT = "{name}"
CONSTANTS: dict[str, int | str] = {constants}
STEPS = {steps}
PROPERTY = "{property}"
"""

_SHOWS = '''

def test_the_run_shows_it() -> None:
    """{what}"""
    run = rerun(SUBJECT, CONSTANTS, STEPS{loop})
    assert len(run.states) == len(STEPS) + 1
{shown}
'''

_VERDICT = '''

def verdict(machine: Machine, constants: dict[str, int | str]) -> str:
    """What a search of the whole configuration says of the property."""
    claim = next(claim for claim in subject(SUBJECT, CONSTANTS).claims if claim.property.id == PROPERTY)
    (result,) = Trials().check(machine, constants, [claim.property], stop_early=True)
    return str(result.verdict)


def test_the_right_machine_does_not_do_it() -> None:
    """Without the bug, in the same configuration: {without}."""
    assert verdict({machine}, RIGHT) == "{without}"


@pytest.mark.xfail(reason="{reason}", strict=True)
def test_the_property_holds() -> None:
    """{statement}"""
    assert verdict({machine}.mutated(SUBJECT), CONSTANTS) == "HOLDS"
'''


def as_pytest(shown: Shown, source: str) -> str:
    """The text of a pytest file about a run recorded at ``source``; it needs only rocketproof, neither the recording
    nor a cluster.
    """
    constants = {**shown.constants}
    property, bug = shown.claimed, shown.bug
    states = property.kind in (Kind.ALWAYS, Kind.SOMETIMES)
    expected = "" if property.kind is Kind.SOMETIMES else "not "
    check = f"    assert {expected}run.holds(PROPERTY)" if states else "    assert run.run.loop is not None"
    head = f'"""{_words(f"A run of the model that shows what was recorded in {source}: {shown.finding}.")}"""\n'
    text = head + _CLAIMED.format(
        name=shown.name, constants=_dictionary(constants), steps=_list(shown.labels), property=property.id
    )
    loop = "" if shown.run.loop is None else f", loop={shown.run.loop}"
    what = f"{'Witness' if property.kind is Kind.SOMETIMES else 'Violated'}: {property.statement}"
    text += _SHOWS.format(what=_words(what), loop=loop, shown=check)
    if bug is None or shown.without is not Verdict.HOLDS:
        # Nothing is then judged in a machine, and nothing is expected to fail.
        for unused in (
            "import pytest\n\n",
            "from rocketproof.checkers.mutants import Trials\n",
            "from rocketproof.explorer.subjects import subject\n",
        ):
            text = text.replace(unused, "")
        return text
    machine = bug.machine.name
    text = text.replace(
        "from rocketproof.explorer.subjects import subject\n",
        "from rocketproof.explorer.subjects import subject\n"
        f"from rocketproof.model.{machine} import {machine}\nfrom rocketproof.model.kernel import Machine\n",
    )
    right = {name: value for name, value in constants.items() if name not in bug.mutant.sets}
    same = "CONSTANTS" if right == constants else _dictionary(right)
    text = text.replace("STEPS = [", f"RIGHT: dict[str, int | str] = {same}\nSTEPS = [")
    reason = f"{bug.id} {bug.mutant.slug} is in this machine"
    return text + _VERDICT.format(
        machine=machine, without=str(shown.without), reason=reason, statement=_words(property.statement)
    )


def _words(text: str) -> str:
    """A docstring: nothing in it ends it, and no line is long."""
    told = re.sub(r'[\\"]', "'", printable(text))
    lines = textwrap.wrap(told, 108) or [""]
    return lines[0] if len(lines) == 1 else "\n".join([*lines, ""])


def _dictionary(constants: dict[str, int | str]) -> str:
    told = (f"    {_value(name)}: {_value(value)},\n" for name, value in constants.items())
    return "".join(["{\n", *told, "}"])


def _list(steps: tuple[str, ...]) -> str:
    return "".join(["[\n", *(f"    {_value(step)},\n" for step in steps), "]"])


def _value(value: int | str) -> str:
    return json.dumps(value)
