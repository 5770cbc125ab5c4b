"""Strategies of a user's own: functions by name, and programs that are right, wrong, dying, silent or not there."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocketproof.checkers.strategies import check_strategy
from rocketproof.checkers.user_strategies import CommandStrategy, StrategyError, StrategyGoneError, load_strategy
from rocketproof.model.allocation import AllocationError, MessageQueue
from rocketproof.properties.verdict import Verdict

QUEUES = [MessageQueue("T", "é@b", number) for number in range(2)]


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        del sys.modules[name]


def module(name: str, text: str) -> None:
    Path(f"{name}.py").write_text(text)


def test_a_function_is_loaded_from_the_current_directory() -> None:
    module("mine", "def allocate(own_id, queues, ids):\n    return queues[ids.index(own_id)::len(ids)]\n")
    strategy = load_strategy("mine:allocate")
    assert strategy.name == "mine:allocate"
    assert strategy.allocate("b", QUEUES, ["a", "b"]) == [QUEUES[1]]
    assert check_strategy(strategy).verdict is Verdict.HOLDS


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("mine", "'mine' does not name a strategy; write package.module:function."),
        ("mine:", "'mine:' does not name a strategy"),
        (":allocate", "':allocate' does not name a strategy"),
        ("absent_module:f", "there is no module 'absent_module' (of the strategy 'absent_module:f') in "),
        ("absent.inner:f", "there is no module 'absent' (of the strategy 'absent.inner:f') in "),
        ("json.absent:f", "there is no module 'json.absent' (of the strategy 'json.absent:f') in "),
        ("mine:alocate", "module 'mine' has no function 'alocate'. Did you mean 'allocate'? Possible: allocate."),
        ("mine:LIMIT", "'mine:LIMIT' is 3 (int), no function; write one: f(own_id, queues, ids) -> list."),
        ("broken:f", "importing 'broken' failed: ZeroDivisionError: division by zero"),
        ("needs:f", "importing 'needs' failed: ModuleNotFoundError: No module named 'absent_library'"),
    ],
)
def test_what_cannot_be_loaded_is_told(where: str, said: str) -> None:
    module("mine", "LIMIT = 3\n\ndef allocate(own_id, queues, ids):\n    return []\n")
    module("broken", "1 / 0\n")
    module("needs", "import absent_library\n")
    with pytest.raises(StrategyError) as error:
        load_strategy(where)
    assert str(error.value).startswith(said)


PROGRAM = """
import json, sys, time
print("started", file=sys.stderr, flush=True)
for line in sys.stdin:
    question = json.loads(line)
    queues, ids, own = question["queues"], question["clientIds"], question["clientId"]
    mine = queues[ids.index(own)::len(ids)] if own in ids else []
"""

ANSWERS = '    print(json.dumps({"queues": mine}), flush=True)\n'


def program(rest: str, *, answer_seconds: float = 10.0) -> CommandStrategy:
    Path("program.py").write_text(PROGRAM + rest)
    return CommandStrategy(f"'{sys.executable}' program.py", group="g", answer_seconds=answer_seconds)


def gone(strategy: CommandStrategy) -> bool:
    try:
        os.kill(strategy._process.pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_a_right_program_passes_and_is_ended() -> None:
    with program(ANSWERS) as strategy:
        assert strategy.allocate("b", QUEUES, ["a", "b"]) == [QUEUES[1]]
        report = check_strategy(strategy)
    assert report.verdict is Verdict.HOLDS
    assert report.strategy == f"'{sys.executable}' program.py"
    assert gone(strategy)
    assert strategy._process.returncode == 0
    with pytest.raises(StrategyGoneError, match="the program has been ended"):
        strategy.allocate("a", QUEUES, ["a"])


def test_a_plain_list_is_an_answer_too() -> None:
    with program("    print(json.dumps(mine), flush=True)\n") as strategy:
        assert strategy.allocate("a", QUEUES, ["a"]) == QUEUES


def test_a_program_sees_the_question_as_documented() -> None:
    with program("    raise SystemExit(line)\n") as strategy, pytest.raises(StrategyGoneError) as error:
        strategy.allocate("a", QUEUES[:1], ["a"])
    assert (
        '{"group": "g", "clientId": "a", "queues": [{"topic": "T", "brokerName": "\\u00e9@b", "queueId": 0}], '
        '"clientIds": ["a"]}'
    ) in str(error.value)


def test_a_program_may_refuse() -> None:
    with program('    print(json.dumps({"error": "no"}), flush=True)\n') as strategy:
        for _ in range(2):
            with pytest.raises(AllocationError, match=r"^no$"):
                strategy.allocate("a", QUEUES, ["a"])


def test_a_wrong_program_gets_its_smallest_case() -> None:
    with program("    print(json.dumps(mine[:1]), flush=True)\n") as strategy:
        report = check_strategy(strategy, max_queues=3, max_consumers=3)
    assert report.smallest is not None
    assert report.smallest.explanation == "with 2 queues and 1 consumer, q1 goes to nobody (c0: q0)"


def test_a_program_that_dies_gets_the_case_in_which_it_does() -> None:
    dies = '    if len(ids) > len(queues):\n        raise SystemExit("more members than queues")\n'
    with program(dies + ANSWERS) as strategy:
        report = check_strategy(strategy)
    assert report.smallest is not None
    assert report.smallest.explanation == (
        "with 1 queue and 2 consumers, c0 gets no answer: it ended with status 1 without an answer; its standard error "
        "ends with: started / more members than queues."
    )
    assert report.verdict is Verdict.VIOLATED
    assert report.required[6].verdict is Verdict.UNKNOWN
    assert report.required[6].bounds == ("2 of 64 sizes up to 8 queues and 8 consumers; the strategy no longer answers")
    assert gone(strategy)


def test_a_program_killed_by_a_signal() -> None:
    with program("    import os; os.kill(os.getpid(), 9)\n") as strategy, pytest.raises(StrategyGoneError) as error:
        strategy.allocate("a", QUEUES, ["a"])
    assert str(error.value).startswith("it was killed by SIGKILL without an answer; ")


def test_a_silent_program_is_ended() -> None:
    with program("    time.sleep(60)\n", answer_seconds=0.5) as strategy, pytest.raises(StrategyGoneError) as error:
        strategy.allocate("a", QUEUES, ["a"])
    assert str(error.value) == "it gave no answer within 0.5 s; its standard error ends with: started."
    assert gone(strategy)


def test_a_program_that_does_not_read_is_ended_even_when_asked_much() -> None:
    Path("deaf.py").write_text("import time\ntime.sleep(60)\n")
    many = [MessageQueue("T" * 100, "b", number) for number in range(2000)]
    with (
        CommandStrategy(f"{sys.executable} deaf.py", answer_seconds=0.5) as strategy,
        pytest.raises(StrategyGoneError, match=r"within 0\.5 s; it printed nothing on standard error"),
    ):
        strategy.allocate("a", many, ["a"])
    assert gone(strategy)


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ("hello", "it printed 'hello', which is not JSON; its standard error ends with: started."),
        ("", "it printed '', which is not JSON; "),
        ("3", """it printed '3'; answer {"queues": […]} or a plain list of queues."""),
        ("{}", """it printed '{}'; answer {"queues": […]} or a plain list of queues."""),
        ("[4]", "its answer holds 4 (int); a queue has topic, brokerName (texts) and queueId."),
        (
            '[{"topic": "T", "brokerName": "b"}]',
            "its answer holds {'topic': 'T', 'brokerName': 'b'} (dict); a queue has",
        ),
    ],
)
def test_garbage_is_shown(answer: str, said: str) -> None:
    with program(f"    print({answer!r}, flush=True)\n") as strategy, pytest.raises(StrategyError) as error:
        strategy.allocate("a", QUEUES, ["a"])
    assert str(error.value).startswith(said)


def test_two_lines_for_one_question_are_one_too_many() -> None:
    with program('    print("[]\\nlog", flush=True)\n') as strategy:
        assert strategy.allocate("a", QUEUES, ["a"]) == []
        with pytest.raises(StrategyGoneError, match="it printed more than one line for a question, 'log' is left over"):
            strategy.allocate("a", QUEUES, ["a"])


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("", "the command of the strategy is empty; give a program and its arguments."),
        ("'open", 'cannot read the command "\'open": No closing quotation; check its quotes.'),
        ("./not-there x", "cannot start './not-there': No such file or directory; give the path of a program."),
    ],
)
def test_what_cannot_be_started_is_told(command: str, said: str) -> None:
    with pytest.raises(StrategyError) as error:
        CommandStrategy(command)
    assert str(error.value) == said
