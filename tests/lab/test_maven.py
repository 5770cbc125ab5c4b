"""Java and Maven are found or asked for, and Maven is asked once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from rocketproof.lab import maven
from rocketproof.lab.errors import LabError
from rocketproof.lab.maven import KEPT_JARS, Toolchain

INSTALL = "on Debian and Ubuntu: apt-get install openjdk-17-jdk-headless maven."


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


def jdk(home: Path, version: str) -> Path:
    script(home / "bin" / "java", f"echo 'openjdk version \"{version}\" 2025-04-15' >&2")
    script(home / "bin" / "javac", "exit 0")
    return home


@pytest.fixture
def nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A machine with no programs; returns the folder of its path."""
    folder = tmp_path / "path"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    return folder


def test_without_a_jdk_the_message_says_what_to_install(nothing: Path) -> None:
    with pytest.raises(LabError) as error:
        Toolchain.find()
    assert str(error.value) == f"the lab needs a JDK, 17 or newer, and there is none in the path; {INSTALL}"


def test_a_runtime_without_compiler_is_no_jdk(nothing: Path) -> None:
    jdk(nothing.parent, "17.0.15")
    (nothing.parent / "bin" / "java").rename(nothing / "java")
    with pytest.raises(LabError, match="there is none in the path"):
        Toolchain.find()


@pytest.mark.parametrize(("version", "major"), [("1.8.0_402", 8), ("11.0.2", 11), ("nonsense", 0)])
def test_an_old_jdk_is_named(
    nothing: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: str, major: int
) -> None:
    home = jdk(tmp_path / "jdk", version)
    monkeypatch.setenv("JAVA_HOME", str(home))
    with pytest.raises(LabError) as error:
        Toolchain.find()
    assert str(error.value) == (
        f"the lab needs a JDK, 17 or newer, and the one in JAVA_HOME ({home}) is {major}; {INSTALL}"
    )


def test_without_maven_the_message_says_what_to_install(
    nothing: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(jdk(tmp_path / "jdk", "21.0.1")))
    with pytest.raises(LabError) as error:
        Toolchain.find()
    assert str(error.value) == f"the lab needs Maven, and there is no mvn in the path; {INSTALL}"


def test_the_jdk_of_java_home_is_taken_and_the_cache_is_where_it_is_said(
    nothing: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = jdk(tmp_path / "jdk", "17.0.15")
    jdk(nothing, "11.0.2")
    script(nothing / "mvn", "exit 0")
    monkeypatch.setenv("JAVA_HOME", str(home))
    monkeypatch.setenv("ROCKETPROOF_CACHE", str(tmp_path / "cache"))
    found = Toolchain.find()
    assert found == Toolchain(java=home / "bin" / "java", maven=nothing / "mvn", cache=tmp_path / "cache" / "lab")


class Machine:
    """A toolchain whose Maven is a script that notes how it was called."""

    def __init__(self, folder: Path, what_it_does: str) -> None:
        self.calls = folder / "calls"
        self.calls.touch()
        text = f'echo "$@" >> {self.calls}\n{what_it_does}'
        self.toolchain = Toolchain(
            java=Path("/jdk/bin/java"), maven=script(folder / "mvn", text), cache=folder / "cache"
        )

    def count(self) -> int:
        return len(self.calls.read_text(encoding="utf-8").splitlines())


ANSWER = 'for word in "$@"; do case "$word" in -Dmdep.outputFile=*) out="${word#*=}";; esac; done'


def test_a_class_path_is_asked_for_once(tmp_path: Path) -> None:
    one, two = tmp_path / "one.jar", tmp_path / "two.jar"
    one.touch()
    two.touch()
    machine = Machine(tmp_path, f'{ANSWER}\nprintf %s "{one}{os.pathsep}{two}" > "$out"')
    assert machine.toolchain.classpath("5.3.3", "rocketmq-tools", "rocketmq-client") == (one, two)
    assert machine.toolchain.classpath("5.3.3", "rocketmq-client", "rocketmq-tools") == (one, two)
    assert machine.count() == 1
    machine.toolchain.classpath("5.5.0", "rocketmq-client", "rocketmq-tools")
    assert machine.count() == 2
    assert "--offline" in machine.calls.read_text(encoding="utf-8").splitlines()[0].split()


def test_a_class_path_with_a_jar_that_is_gone_is_asked_for_again(tmp_path: Path) -> None:
    jar = tmp_path / "one.jar"
    machine = Machine(tmp_path, f'{ANSWER}\ntouch {jar}\nprintf %s "{jar}" > "$out"')
    assert machine.toolchain.classpath("5.3.3", "rocketmq-client") == (jar,)
    jar.unlink()
    assert machine.toolchain.classpath("5.3.3", "rocketmq-client") == (jar,)
    assert machine.count() == 2


def test_what_is_not_there_yet_is_downloaded(tmp_path: Path) -> None:
    jar = tmp_path / "one.jar"
    jar.touch()
    refuse = 'case "$*" in *--offline*) echo "[ERROR] Cannot access central in offline mode"; exit 1;; esac'
    machine = Machine(tmp_path, f'{refuse}\n{ANSWER}\nprintf %s "{jar}" > "$out"')
    assert machine.toolchain.classpath("5.3.3", "rocketmq-client") == (jar,)
    assert [line.split()[-1] for line in machine.calls.read_text(encoding="utf-8").splitlines()] == [
        "--offline",
        "--update-snapshots",
    ]


def test_an_error_of_maven_is_shown_without_its_advice(tmp_path: Path) -> None:
    words = "[ERROR] Failed to compile: no such class -> [Help 1]\n[ERROR] \n[ERROR] Re-run Maven using the -X switch"
    machine = Machine(tmp_path, f"printf '%s\\n' '{words}'\nexit 1")
    with pytest.raises(LabError) as error:
        machine.toolchain.run_maven(tmp_path, "package")
    assert str(error.value) == "Maven failed (mvn package):\n[ERROR] Failed to compile: no such class"
    assert machine.count() == 1


def test_servers_of_4_9_8_that_were_never_published_are_those_before(tmp_path: Path) -> None:
    jar = tmp_path / "one.jar"
    jar.touch()
    machine = Machine(tmp_path, f'{ANSWER}\ncp pom.xml {tmp_path}/asked.xml\nprintf %s "{jar}" > "$out"')

    def asked(*artifacts: str) -> tuple[list[str], list[str]]:
        machine.toolchain.classpath("4.9.8", *artifacts)
        text = (tmp_path / "asked.xml").read_text(encoding="utf-8")
        managed, wanted = text.split("</dependencyManagement>")
        return [
            [line.split("<artifactId>")[1] for line in part.splitlines() if "rocketmq-" in line]
            for part in (managed, wanted)
        ]  # type: ignore[return-value]

    managed, wanted = asked("rocketmq-broker", "rocketmq-namesrv")
    assert managed == []
    assert [line.split("<version>")[1][:5] for line in wanted] == ["4.9.7", "4.9.7"]
    managed, wanted = asked("rocketmq-broker", "rocketmq-client")
    assert {line.split("<version>")[1][:5] for line in managed} == {"4.9.8"}
    assert [line.split("<version>")[1][:5] for line in wanted] == ["4.9.7", "4.9.8"]


def test_an_unknown_release_is_refused_before_maven_is_asked(tmp_path: Path) -> None:
    machine = Machine(tmp_path, "exit 1")
    with pytest.raises(LabError) as error:
        machine.toolchain.classpath("4.8.0", "rocketmq-client")
    assert (
        str(error.value)
        == "there is no release '4.8.0' in the lab; there are 5.3.3, 5.5.0, 4.9.8, 5.1.4, 4.9.4, 4.7.1."
    )
    assert machine.count() == 0


@pytest.fixture
def sources(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Java sources with one module, the agent, and left-overs of a build that are none."""
    folder = tmp_path / "java"
    (folder / "agent" / "src").mkdir(parents=True)
    (folder / "pom.xml").write_text("<parent/>", encoding="utf-8")
    (folder / "agent" / "pom.xml").write_text("<module/>", encoding="utf-8")
    (folder / "agent" / "src" / "Agent.java").write_text("class Agent {}", encoding="utf-8")
    (folder / "agent" / "target").mkdir()
    monkeypatch.setattr(maven, "JAVA_SOURCES", folder)
    return folder


def test_a_module_is_built_once_for_its_sources(sources: Path, tmp_path: Path) -> None:
    machine = Machine(tmp_path, "mkdir target\ncat src/Agent.java ../pom.xml > target/rocketproof-agent.jar")
    first = machine.toolchain.jar("agent")
    assert first.read_text(encoding="utf-8") == "class Agent {}<parent/>"
    (sources / "agent" / "target" / "left.jar").touch()
    assert machine.toolchain.jar("agent") == first
    assert machine.count() == 1
    (sources / "agent" / "src" / "Agent.java").write_text("class Agent { }", encoding="utf-8")
    assert machine.toolchain.jar("agent").read_text(encoding="utf-8") == "class Agent { }<parent/>"
    assert machine.count() == 2


def test_shared_sources_are_part_of_each_module_that_uses_them(sources: Path, tmp_path: Path) -> None:
    shared = sources / "common" / "src" / "Json.java"
    for file in (sources / "driver" / "pom.xml", shared):
        file.parent.mkdir(parents=True)
        file.write_text("first", encoding="utf-8")
    machine = Machine(tmp_path, "mkdir target\ncat ../common/src/Json.java > target/rocketproof-driver.jar")
    assert machine.toolchain.jar("driver").read_text(encoding="utf-8") == "first"
    agent = maven._digest("agent")
    shared.write_text("second", encoding="utf-8")
    assert machine.toolchain.jar("driver").read_text(encoding="utf-8") == "second"
    assert maven._digest("agent") == agent


def test_only_the_newest_builds_stay(sources: Path, tmp_path: Path) -> None:
    machine = Machine(tmp_path, "mkdir target\ncp src/Agent.java target/rocketproof-agent.jar")
    for build in range(KEPT_JARS + 2):
        (sources / "agent" / "src" / "Agent.java").write_text(f"{build}", encoding="utf-8")
        jar = machine.toolchain.jar("agent")
        os.utime(jar, (build, build))
    kept = sorted(int(path.read_text(encoding="utf-8")) for path in jar.parent.glob("*.jar"))
    assert kept == list(range(2, KEPT_JARS + 2))


def test_a_build_that_makes_no_jar_is_told(sources: Path, tmp_path: Path) -> None:
    machine = Machine(tmp_path, "exit 0")
    with pytest.raises(LabError, match=r"the build of agent made no target/rocketproof-agent\.jar"):
        machine.toolchain.jar("agent")


def test_modules_that_do_not_exist_are_told(sources: Path, tmp_path: Path) -> None:
    machine = Machine(tmp_path, "exit 0")
    with pytest.raises(LabError, match="there is no module 'engine' of the lab; there are agent, driver, oracle"):
        machine.toolchain.jar("engine")
    with pytest.raises(LabError, match="this installation lacks the sources of the lab's driver"):
        machine.toolchain.jar("driver")


def test_the_sources_of_every_module_are_there() -> None:
    for module in maven.MODULES:
        assert (maven.JAVA_SOURCES / module / "pom.xml").is_file()
        for shared in maven.SHARED.get(module, ()):
            assert list((maven.JAVA_SOURCES / shared / "src").rglob("*.java")) != []
