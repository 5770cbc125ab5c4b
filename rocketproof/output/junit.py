"""JUnit XML: answers in the form that CI servers read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal
from xml.etree import ElementTree

from ..traces.format.printable import printable_lines


@dataclass(frozen=True, kw_only=True)
class Case:
    """One test case.

    Attributes:
        classname: what it belongs to.
        name: what it is called.
        seconds: how long it took.
        outcome: what it is besides passed: a ``failure``, an ``error``, ``skipped``, or passed with ``system-out``.
        message: why, in one line.
        text: why, at length.
        place: further attributes, such as file and line.
    """

    classname: str
    name: str
    seconds: float
    outcome: Literal["", "failure", "error", "skipped", "system-out"] = ""
    message: str = ""
    text: str = ""
    place: Mapping[str, str] = field(default_factory=dict)


def as_xml(name: str, cases: Sequence[Case], seconds: float) -> str:
    """One test suite of that name, as a document."""

    def count(outcome: str) -> str:
        return str(sum(case.outcome == outcome for case in cases))

    suite = ElementTree.Element(
        "testsuite",
        name=printable_lines(name),
        tests=str(len(cases)),
        failures=count("failure"),
        errors=count("error"),
        skipped=count("skipped"),
        time=f"{seconds:.3f}",
    )
    for case in cases:
        given = {"classname": case.classname, "name": case.name, **case.place, "time": f"{case.seconds:.3f}"}
        element = ElementTree.SubElement(suite, "testcase", _clean(given))
        if case.outcome:
            told = ElementTree.SubElement(element, case.outcome)
            if case.message:
                told.set("message", printable_lines(case.message))
            told.text = printable_lines(case.text) or None
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _clean(attributes: Mapping[str, str]) -> dict[str, str]:
    return {name: printable_lines(value) for name, value in attributes.items()}
