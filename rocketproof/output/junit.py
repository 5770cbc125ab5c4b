"""JUnit XML: rows in the form that CI servers read."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from ..traces.format.printable import printable_lines
from .row import ReportRow, RowStatus

_ELEMENTS = {
    RowStatus.FAILED: "failure",
    RowStatus.UNKNOWN: "error",
    RowStatus.SKIPPED: "skipped",
    RowStatus.NOTED: "system-out",
}


def as_junit(name: str, rows: Sequence[ReportRow], seconds: float) -> str:
    """One test suite with that name, with a test case for each row: an unknown row is an error, a noted one passes."""

    def count(status: RowStatus) -> str:
        return str(sum(row.status is status for row in rows))

    suite = ElementTree.Element(
        "testsuite",
        name=printable_lines(name),
        tests=str(len(rows)),
        failures=count(RowStatus.FAILED),
        errors=count(RowStatus.UNKNOWN),
        skipped=count(RowStatus.SKIPPED),
        time=f"{seconds:.3f}",
    )
    for row in rows:
        place = {} if row.place is None else {"file": row.place.file, "line": str(row.place.line)}
        given = {"classname": row.suite, "name": row.name, **place, "time": f"{row.seconds:.3f}"}
        element = ElementTree.SubElement(
            suite, "testcase", {name: printable_lines(value) for name, value in given.items()}
        )
        if row.status in _ELEMENTS:
            told = ElementTree.SubElement(element, _ELEMENTS[row.status])
            if row.message and row.status is not RowStatus.NOTED:
                told.set("message", printable_lines(row.message))
            told.text = printable_lines(row.text) or None
    root = ElementTree.Element("testsuites")
    root.append(suite)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"
