"""docs/importing.md says what the importers do."""

import re
from pathlib import Path

import pytest

from rocketproof.traces.claims.claim import Monitor
from rocketproof.traces.claims.claims import CLAIMS
from rocketproof.traces.format.kinds import Kind
from rocketproof.traces.io.importers import all_importers
from rocketproof.traces.io.importers.broker_log import BROKER_EVIDENCE
from rocketproof.traces.io.importers.client_messages import CLIENT_EVIDENCE

from .test_client_log import NAMING, new

TEXT = (Path(__file__).parents[4] / "docs" / "importing.md").read_text(encoding="utf-8")

CALLS = frozenset({Kind.STORE, Kind.DELIVER, Kind.RESULT})
EVIDENCE = {
    "message-trace": CALLS,
    "otel-spans": CALLS,
    "listener-log": CALLS - {Kind.STORE},
    "client-log": CLIENT_EVIDENCE,
    "broker-log": BROKER_EVIDENCE,
    "consumer-offset": frozenset({Kind.FILE_PERSIST}),
    "chaos-history": CALLS,
}
WITHOUT_QUEUES = {"message-trace"}


def rows(heading):
    """The cells of the first table under a heading."""
    part = TEXT.split(f"\n# {heading}\n" if heading == "Importing" else f"\n## {heading}\n", 1)[-1]
    table = re.search(r"^\|.*?(?=^[^|])", part, re.DOTALL | re.MULTILINE)
    return [[cell.strip() for cell in line.strip("|\n").split("|")] for line in table[0].splitlines()[2:]]


def words(cell):
    return re.findall(r"`([^`]+)`", cell)


def test_every_form_is_described():
    assert [words(row[0])[0] for row in rows("Importing")] == [each.name for each in all_importers()]


@pytest.mark.parametrize("name", EVIDENCE)
def test_what_each_form_can_show(name):
    told = next(row for row in rows("What it can and cannot show") if words(row[0]) == [name])
    assert sorted(words(told[1])) == sorted(EVIDENCE[name])
    judged = [
        claim.id
        for claim in CLAIMS
        if all(EVIDENCE[name].intersection(kinds) for kinds in claim.needs)
        and not (name in WITHOUT_QUEUES and claim.monitor is Monitor.QUEUES)
    ]
    assert sorted(words(told[2])) == sorted(judged)


def test_the_example_runs(tmp_path, monkeypatch, capsys):
    (tmp_path / "rocketmq_client.log").write_text(new(NAMING))
    monkeypatch.chdir(tmp_path)
    example = re.search(r"```python\n(.*?)```", TEXT, re.DOTALL)[1]
    exec(compile(example, "docs/importing.md", "exec"), {})
    assert capsys.readouterr().out == (
        "1714550400250 commit 10.0.0.5@4242#81\nclient log (rocketmq_client.log), times as Europe/Berlin Counter() 0\n"
    )
