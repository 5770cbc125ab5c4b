"""Processes answer, end and are told of as they are."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocketproof.lab.errors import LabError
from rocketproof.lab.maven import Toolchain
from rocketproof.lab.process import Process, command_of, end_all, how_it_ended, java_command, processes_with, tail_of

LIMIT = 30.0
"""Seconds that nothing here takes; a test that needs them has failed."""

ECHO = """
import json, sys
print("not JSON", flush=True)
print("[1]", flush=True)
for line in sys.stdin:
    word = line.strip()
    if word == "stop":
        break
    if word == "fail":
        print(json.dumps({"error": "no such thing"}), flush=True)
        continue
    print(word, file=sys.stderr, flush=True)
    print(json.dumps({"heard": word}), flush=True)
print(json.dumps({"stopped": True}), flush=True)
"""


@pytest.fixture
def started(tmp_path: Path) -> Iterator[list[Process]]:
    """Processes of a test, which are killed at its end."""
    processes: list[Process] = []
    yield processes
    for process in processes:
        process.kill()


def python(started: list[Process], folder: Path, code: str, *words: str, stdin: bool = False) -> Process:
    process = Process.start("worker", [sys.executable, "-c", code, *words], folder=folder, stdin=stdin)
    started.append(process)
    return process


def test_a_dialogue_of_json_lines(started: list[Process], tmp_path: Path) -> None:
    process = python(started, tmp_path / "new", ECHO, stdin=True)
    process.say("one")
    process.say("two")
    assert process.said("heard", LIMIT) == {"heard": "one"}
    assert process.said("heard", LIMIT) == {"heard": "two"}
    process.say("stop")
    assert process.said("stopped", LIMIT) == {"stopped": True}
    process.wait_for(lambda: not process.alive(), "end", LIMIT)
    assert process.exit_code == 0
    assert process.tail() == "one\ntwo"
    assert process.answers() == [{"heard": "one"}, {"heard": "two"}, {"stopped": True}]


def test_an_error_is_told_where_an_answer_is_waited_for(started: list[Process], tmp_path: Path) -> None:
    process = python(started, tmp_path, ECHO, stdin=True)
    process.say("fail")
    with pytest.raises(LabError, match="worker: no such thing"):
        process.said("heard", LIMIT)


def test_an_end_without_answer_is_told_with_the_log(started: list[Process], tmp_path: Path) -> None:
    process = python(started, tmp_path, "import sys; print('broken'); sys.exit(7)")
    with pytest.raises(LabError) as error:
        process.wait_for(lambda: False, "answer", LIMIT)
    assert str(error.value) == "worker ended (exit code 7) and did not answer. The end of its log:\nbroken"


def test_silence_is_told_with_the_log(started: list[Process], tmp_path: Path) -> None:
    process = python(started, tmp_path, "import time; time.sleep(600)")
    with pytest.raises(LabError) as error:
        process.wait_for(lambda: False, "answer", 0.05)
    assert str(error.value) == "worker did not answer within 0.05 s. The end of its log:\n(empty)"


def test_what_was_answered_before_the_end_counts(started: list[Process], tmp_path: Path) -> None:
    process = python(started, tmp_path, "print('{\"ready\": 1}')", stdin=True)
    end_of = process.wait_for(lambda: None if process.alive() else "ended", "end", LIMIT)
    assert end_of == "ended"
    assert process.said("ready", LIMIT) == {"ready": 1}


def test_speaking_to_the_dead_is_told(started: list[Process], tmp_path: Path) -> None:
    process = python(started, tmp_path, "pass", stdin=True)
    process.wait_for(lambda: not process.alive(), "end", LIMIT)
    with pytest.raises(LabError, match=r"worker does not listen \(exit code 0\)"):
        process.say("hello")
    silent = python(started, tmp_path, "pass")
    with pytest.raises(LabError, match="worker was started without an input"):
        silent.say("hello")


def test_a_missing_program_is_told(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="worker cannot be started: /no/such/program: No such file or directory"):
        Process.start("worker", ["/no/such/program"], folder=tmp_path)


def test_one_that_ends_when_asked_and_one_that_does_not(started: list[Process], tmp_path: Path) -> None:
    willing = python(started, tmp_path, "import time; time.sleep(600)")
    assert willing.stop(LIMIT) is True
    assert willing.exit_code == -signal.SIGTERM
    code = (
        "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('{}', flush=True); time.sleep(600)"
    )
    stubborn = python(started, tmp_path, code, stdin=True)
    stubborn.wait_for(stubborn.answers, "answer", LIMIT)
    assert stubborn.stop(0.05) is False
    assert stubborn.exit_code == -signal.SIGKILL


def test_one_that_stands_still_is_alive_and_can_be_stopped(started: list[Process], tmp_path: Path) -> None:
    process = python(started, tmp_path, "import time; time.sleep(600)")

    def state() -> str:
        return Path(f"/proc/{process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]

    process.pause()
    process.wait_for(lambda: state() == "T", "stand still", LIMIT)
    assert process.alive()
    process.resume()
    process.wait_for(lambda: state() != "T", "go on", LIMIT)
    process.pause()
    assert process.stop(LIMIT) is True


def test_a_process_of_another_command_is_adopted(started: list[Process], tmp_path: Path) -> None:
    other = python(started, tmp_path, "import time; print('hello', flush=True); time.sleep(600)")
    other.wait_for(lambda: other.tail() == "hello", "speak", LIMIT)
    adopted = Process.adopt("worker", other.pid, other.command, folder=tmp_path)
    assert adopted.alive()
    assert adopted.tail() == "hello"
    assert adopted.stop(LIMIT) is True
    assert not adopted.alive()
    assert other.exit_code == -signal.SIGTERM


def test_a_reused_process_id_is_not_taken_for_the_old_process(tmp_path: Path) -> None:
    adopted = Process.adopt("worker", os.getpid(), ["/usr/bin/java", "Broker"], folder=tmp_path)
    assert not adopted.alive()
    adopted.kill()
    with pytest.raises(LabError, match=r"worker ended \(started by another command\) and did not answer"):
        adopted.wait_for(lambda: False, "answer", LIMIT)


def test_processes_are_found_and_ended_by_a_word(started: list[Process], tmp_path: Path) -> None:
    word = f"-Dmark={tmp_path}"
    stubbornly = "if sys.argv[2]: signal.signal(15, signal.SIG_IGN)"
    code = f"import signal, sys, time\n{stubbornly}\nprint(flush=True); time.sleep(600)"
    both = [python(started, tmp_path / name, code, word, stubborn) for name, stubborn in (("a", ""), ("b", "yes"))]
    for process in both:
        process.wait_for(lambda process=process: process.log.stat().st_size, "speak", LIMIT)
    assert processes_with(word) == sorted(process.pid for process in both)
    end_all(processes_with(word), timeout=2)
    assert [process.exit_code for process in both] == [-signal.SIGTERM, -signal.SIGKILL]
    assert processes_with(word) == []
    assert command_of(both[0].pid) == ()


def test_the_end_of_a_log(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("\n".join(f"line {number}" for number in range(5_000)), encoding="utf-8")
    assert tail_of(log, 2) == "line 4998\nline 4999"
    assert tail_of(tmp_path / "none", 2) == "(empty)"


def test_exit_codes_in_words() -> None:
    assert [how_it_ended(code) for code in (None, 0, 1, -9)] == ["still alive", "exit code 0", "exit code 1", "SIGKILL"]


def test_the_command_of_a_jvm(tmp_path: Path) -> None:
    jar = tmp_path / "one.jar"
    jar.touch()
    kept = tmp_path / "cache" / "classpaths" / "4.9.8-rocketmq-client.txt"
    kept.parent.mkdir(parents=True)
    kept.write_text(str(jar), encoding="utf-8")
    toolchain = Toolchain(java=Path("/jdk/bin/java"), maven=Path("/mvn"), cache=tmp_path / "cache")
    command = java_command(
        toolchain,
        "4.9.8",
        "rocketproof.driver.Driver",
        artifacts=["rocketmq-client"],
        heap_mb=64,
        properties={"user.home": "/home"},
        agent=Path("/agent.jar"),
        agent_options="dir=/out",
        arguments=["consumer"],
        jars=[Path("/driver.jar")],
    )
    assert command[:2] == ["/jdk/bin/java", "-Xmx64m"]
    assert command[-6:] == [
        "-Duser.home=/home",
        "-javaagent:/agent.jar=dir=/out",
        "-cp",
        f"/driver.jar:{jar}",
        "rocketproof.driver.Driver",
        "consumer",
    ]
    assert "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED" in command


@pytest.mark.lab
def test_the_module_flags_are_known_to_this_java(toolchain: Toolchain, tmp_path: Path) -> None:
    jar = tmp_path / "one.jar"
    jar.touch()
    kept = tmp_path / "cache" / "classpaths" / "5.3.3-none.txt"
    kept.parent.mkdir(parents=True)
    kept.write_text(str(jar), encoding="utf-8")
    own = Toolchain(java=toolchain.java, maven=toolchain.maven, cache=tmp_path / "cache")
    command = java_command(own, "5.3.3", "-version", artifacts=["none"], heap_mb=16)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "WARNING" not in done.stderr
