"""What may go wrong around a run: interruption, memory, defects, narrow terminals, options that contradict."""

import contextlib
import ctypes
import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocketproof.checkers.catalogue import default_rows
from rocketproof.checkers.suite import Outcome, run_suite
from rocketproof.cli import main
from rocketproof.commands import verify
from rocketproof.output.console import SafeConsole, interrupts
from rocketproof.output.report import print_list, print_table


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as stop:
        main(list(arguments))
    captured = capsys.readouterr()
    return int(stop.value.code or 0), captured.out, captured.err


def outcomes(*names: str) -> list[Outcome]:
    return list(run_suite([row for row in default_rows() if row.id in names]))


def test_an_interruption_that_python_loses_still_ends_the_run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def losing(*args: object, **kwargs: object) -> Iterator[Outcome]:
        first, second = outcomes("join-overlap", "death-gap")
        yield first
        with contextlib.suppress(KeyboardInterrupt):  # as in a destructor
            os.kill(os.getpid(), signal.SIGINT)
        yield second
        pytest.fail("the run went on")

    before = signal.getsignal(signal.SIGINT)
    monkeypatch.setattr(verify, "run_suite", losing)
    code, out, err = run(capsys, "verify", "join-overlap", "death-gap")
    assert (code, err) == (2, "rocketproof: interrupted; not checked: 1 of 2.\n")
    assert "join-overlap" in out
    assert signal.getsignal(signal.SIGINT) is before


def begun(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "rocketproof", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_sigterm_is_an_interruption(tmp_path: Path) -> None:
    out = tmp_path / "run"
    process = begun("simulate", "--messages", "50000000", "--out", str(out))
    while process.poll() is None and not (out.is_dir() and any(out.iterdir())):
        time.sleep(0.02)
    process.terminate()
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert err.splitlines()[-1].startswith(f"rocketproof: interrupted, nothing is left in {out}: ")
    assert not out.exists()


def test_workers_end_with_the_process_that_started_them() -> None:
    process = begun("verify", "--jobs", "2")
    workers: list[int] = []
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while process.poll() is None and len(workers) < 2:
        workers = [int(pid) for pid in children.read_text().split()]
        time.sleep(0.02)
    time.sleep(0.5)  # a worker that has just been forked says what it wants
    process.kill()
    process.communicate(timeout=60)
    until = time.monotonic() + 30
    while any(Path(f"/proc/{pid}").exists() for pid in workers) and time.monotonic() < until:
        time.sleep(0.05)
    assert len(workers) == 2
    assert not any(Path(f"/proc/{pid}").exists() for pid in workers)


@pytest.mark.parametrize("arguments", [["check", "--list"], ["verify", "--list", "--machine", "assignment"]])
def test_output_to_a_full_disk_is_told_in_a_line(arguments: list[str]) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "rocketproof", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            timeout=60,
        )
    assert (done.returncode, done.stderr) == (
        3,
        "rocketproof: the output cannot be written: No space left on device.\n",
    )


@pytest.mark.parametrize("option", ["--json", "--report"])
def test_an_output_that_no_file_can_be_called_is_a_mistake(capsys: pytest.CaptureFixture[str], option: str) -> None:
    code, _, err = run(capsys, "check", "trace.jsonl", option, "a" * 5000)
    assert (code, err) == (3, f"rocketproof: cannot write {'a' * 200}: File name too long.\n")


@pytest.mark.parametrize(
    ("detail", "told"), [(["Unable to allocate 32 GiB"], " (Unable to allocate 32 GiB)"), ([], "")]
)
def test_too_little_memory_is_unknown(
    detail: list[str], told: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def greedy(*args: object, **kwargs: object) -> Iterator[Outcome]:
        raise MemoryError(*detail)

    monkeypatch.setattr(verify, "run_suite", greedy)
    code, _, err = run(capsys, "verify", "join-overlap")
    assert code == 2
    assert err == (
        f"rocketproof: out of memory{told}; take a smaller configuration, or stop a search before with "
        "--limit memory=N (MiB).\n"
    )


def test_an_interruption_while_a_c_function_is_called_is_no_defect(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Pressed:
        @classmethod
        def from_param(cls, given: object) -> object:
            raise KeyboardInterrupt

    def pressed(*args: object, **kwargs: object) -> Iterator[Outcome]:
        called = ctypes.CDLL(None).getpid
        called.argtypes = [Pressed]
        called(1)
        raise AssertionError

    monkeypatch.setattr(verify, "run_suite", pressed)
    assert run(capsys, "verify", "join-overlap") == (2, "", "rocketproof: interrupted\n")


def test_what_is_freed_half_made_after_an_interruption_is_not_told(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda lost: told.append(type(lost.exc_value)))

    class HalfMade:
        def __del__(self) -> None:
            raise AttributeError

    with interrupts():
        HalfMade()
        with contextlib.suppress(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
        HalfMade()
    HalfMade()
    assert told == [AttributeError, AttributeError]


def test_a_defect_is_no_violation(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object, **kwargs: object) -> Iterator[Outcome]:
        raise ZeroDivisionError("broken")

    monkeypatch.setattr(verify, "run_suite", broken)
    code, _, err = run(capsys, "verify", "join-overlap")
    assert code == 4
    assert "Traceback" in err
    assert err.endswith(
        "ZeroDivisionError: broken\nrocketproof: the error above is a defect of rocketproof, please report it.\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["partition-lemma", "--strategy", "a:b"], "--strategy checks the laws of strategies; PROPERTY, --machine, "),
        (["--set", "queues=3", "--strategy-command", "a"], "--strategy checks the laws of strategies; "),
        (["--json", "-", "--junit", "-"], "--json and --junit cannot both go to standard output; name a file for one"),
    ],
)
def test_options_that_contradict_are_refused(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    code, out, err = run(capsys, "verify", *arguments)
    assert (code, out) == (3, "")
    assert err.startswith(f"rocketproof: {message}")


def test_junit_on_standard_output_is_nothing_but_xml(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "verify", "averagely-partition", "--junit", "-")
    assert code == 0
    assert out.startswith("<?xml")
    assert out.endswith("</testsuites>\n")


def test_laws_for_information_are_neither_expected_nor_findings(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "turns_for_trouble.py").write_text(
        "def turns(own_id, queues, ids):\n    return queues[ids.index(own_id) :: len(ids)]\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    code, out, _ = run(capsys, "verify", "--strategy", "turns_for_trouble:turns")
    assert code == 0
    assert "joiner-only-takes       VIOLATED  strategies" in out
    assert "(expected" not in out
    assert "finding" not in out
    assert out.count("No queue goes to two consumers.") == 0  # a law that holds has no story
    assert "when c0 joins c1, c2, q1 moves from c2 to c1" in out


def shown(width: int | None, print_it: str) -> list[str]:
    screen = io.StringIO()
    console = SafeConsole(file=screen, force_terminal=width is not None, width=width, color_system=None)
    if print_it == "table":
        print_table(console, outcomes("join-overlap"))
    else:
        print_list(console, [row for row in default_rows() if row.id == "averagely-partition"])
    return screen.getvalue().splitlines()


def test_a_row_is_one_line_where_it_fits_and_when_it_is_piped() -> None:
    for width in (None, 120):
        title, row = shown(width, "table")
        assert title == "assignment consumers=2 running=1"
        assert row.endswith(" s  3 steps; searched all 9 states, 20 transitions, depth 4")
        assert shown(width, "list")[1].startswith("  averagely-partition  Consumers that see")


def test_a_narrow_terminal_gets_the_bounds_on_a_line_of_their_own() -> None:
    _, row, bounds = shown(80, "table")
    assert row.endswith(" s")
    assert bounds == "      3 steps; searched all 9 states, 20 transitions, depth 4"
    assert shown(80, "list")[1:2] == ["  averagely-partition"]


def test_a_terminal_without_arrows_is_no_error() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rocketproof", "verify", "join-overlap"],
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"life[c1]: NEW ? UP" in done.stdout


def test_what_is_called_as_in_java_is_told_with_its_name_here(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "verify", "--set", "strategy=AllocateMessageQueueConsistentHash")
    assert code == 3
    assert err == (
        "rocketproof: AllocateMessageQueueConsistentHash is the Java class of a strategy; write --set "
        "strategy=CONSISTENT_HASH.\n"
    )


def test_a_strategy_with_other_arguments_is_wrong_usage(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "other_arguments.py").write_text("def share(queues): return queues\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    code, _, err = run(capsys, "verify", "--strategy", "other_arguments:share")
    assert code == 3
    assert err == (
        "rocketproof: 'other_arguments:share' takes (queues), and cannot be asked with (own_id, queues, ids): too many "
        "positional arguments; write def share(own_id, queues, ids).\n"
    )


def test_a_strategy_is_asked_about_queues_of_two_brokers(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (
        "def share(own_id, queues, ids):\n"
        "    by_number = {queue.queue_id: queue for queue in queues}\n"
        "    return [by_number[n] for n in by_number if n % len(ids) == ids.index(own_id)]\n"
    )
    (tmp_path / "forgets_brokers.py").write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    code, out, _ = run(capsys, "verify", "--strategy", "forgets_brokers:share")
    assert code == 1
    assert "on 2 brokers: with 2 queues and 1 consumer, q0 goes to nobody (c0: q1)" in out


def test_no_spinner_goes_into_a_pipe_whatever_colours_are_asked_for() -> None:
    code = "from rocketproof.cli import main; main(['verify', 'join-overlap', 'averagely-partition'])"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | {"FORCE_COLOR": "1"}, check=True
    )
    assert "\x1b[32mHOLDS" in run.stdout
    assert "\x1b[?25l" not in run.stdout + run.stderr


def test_a_shell_can_complete_commands() -> None:
    asked = {"_ROCKETPROOF_COMPLETE": "complete_bash", "COMP_WORDS": "rocketproof ver", "COMP_CWORD": "1"}
    code = "import sys; sys.argv = ['rocketproof']; from rocketproof.cli import main; main()"
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=os.environ | asked, check=True
    )
    assert run.stdout == "verify\n"
