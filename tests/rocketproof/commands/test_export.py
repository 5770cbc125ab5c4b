"""``rocketproof export``: Promela for a second opinion, and the mistakes one can make."""

from pathlib import Path

import pytest

from rocketproof.checkers.spin import run_spin, spin_available
from rocketproof.cli import main


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Run the command line in this process: exit code, standard output, standard error."""
    with pytest.raises(SystemExit) as stop:
        main(["export", *arguments])
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


def test_the_text_goes_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "assignment", "--set", "consumers=3", "--set", "crashes=1")
    assert (code, err) == (0, "")
    assert out.startswith("/* assignment(consumers=3, running=1,")
    assert "bit owns_2_3 = 0; /* owns[c2, q3] */" in out


def test_a_file_is_written_and_counted(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "commit.pml"
    code, out, err = run(capsys, "two-phase-commit", "--invariant", "consistent", "--output", str(file))
    assert (code, out) == (0, "")
    lines = len(file.read_text().splitlines())
    assert err == f"{file}: {lines} lines of Promela; 'spin -a {file}' makes the verifier\n"
    assert "assert(" in file.read_text()


@pytest.mark.skipif(not spin_available(), reason="spin or a C compiler is missing")
def test_spin_takes_the_text_and_counts_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "assignment")
    found = run_spin(out, optimize="-O1")
    assert (found.states, found.transitions) == (9, 20)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["assignmnt"], "there is no machine 'assignmnt'. Did you mean 'assignment'?"),
        (["assignment", "--set", "consumer=3"], "no constant 'consumer'. Did you mean 'consumers'?"),
        (["assignment", "--set", "queues=unbounded", "--set", "running=0"], "needs a finite configuration"),
        (["assignment", "--invariant", "partition"], "no property 'partition' of kind 'always'"),
        (["assignment", "--output", "/nonexistent/group.pml"], "cannot write /nonexistent/group.pml"),
    ],
)
def test_a_mistake_is_one_line_and_3(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (3, "")
    assert message in err
    assert err.count("\n") == 1
