"""Java and Maven of this machine: class paths of RocketMQ's releases, and the jars of the lab's own Java.

Results of Maven are kept in a cache folder, so a second run needs neither Maven nor the network.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from .errors import LabError

RELEASES = ("5.3.3", "5.5.0", "4.9.8")
"""RocketMQ releases that the lab knows: the usual one, the newest 5.x whose artifacts are all published, and 4.9."""

EARLIER = ("5.1.4", "4.9.4", "4.7.1")
"""Further releases that can be run; of the last one only clients, with brokers of another release."""

DEFAULT_RELEASE = RELEASES[0]
MODULES = ("agent", "driver", "oracle")
"""The lab's own Java, each with one jar."""

SHARED = {"driver": ("common",), "oracle": ("common",)}
"""Module → neighbouring folders whose sources also go into its jar."""

JAVA_MAJOR = 17
JAVA_SOURCES = Path(__file__).parent / "java"
KEPT_JARS = 8
"""Number of builds of one module that stay in the cache."""

_GROUP = "org.apache.rocketmq"
_PUBLISHED_LAST = {("4.9.8", "rocketmq-broker"): "4.9.7", ("4.9.8", "rocketmq-namesrv"): "4.9.7"}
"""Artifacts of a release that were never published to Maven Central, with the earlier release that replaces them.

Between the two, the source of broker and name server differs only in commands for access control and settings.
"""
_COMMON = tuple(
    f"rocketmq-{name}" for name in ("acl", "client", "common", "logging", "remoting", "srvutil", "store", "tools")
)
"""What broker and name server share with clients: in the client's version if both are on one class path."""
_CLASSPATH_GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath"
_ADVICE = ("[Help ", "-e switch", "-X switch", "For more information", "can resume the build")
_WHAT_TO_INSTALL = "on Debian and Ubuntu: apt-get install openjdk-17-jdk-headless maven"
_POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>rocketproof</groupId>
  <artifactId>classpath</artifactId>
  <version>1</version>
  <dependencyManagement>
    <dependencies>
{managed}
    </dependencies>
  </dependencyManagement>
  <dependencies>
{dependencies}
  </dependencies>
</project>
"""
_DEPENDENCY = """\
    <dependency><groupId>{group}</groupId><artifactId>{artifact}</artifactId><version>{version}</version></dependency>"""


@dataclass(frozen=True, kw_only=True)
class Toolchain:
    """The commands that the lab needs, and where their results are kept."""

    java: Path  # the ``java`` command of a JDK, 17 or newer
    maven: Path  # the ``mvn`` command
    cache: Path  # folder for class paths and jars; it is made when something is stored

    @classmethod
    def find(cls) -> Toolchain:
        """The tools of this machine: the JDK in ``JAVA_HOME``, otherwise on the path, and ``mvn`` on the path.

        Raises:
            LabError: one is missing or too old; the message says what to install.
        """
        home = os.environ.get("JAVA_HOME", "")
        place = f"JAVA_HOME ({home})" if home else "the path"
        java, javac = (shutil.which(name, path=str(Path(home) / "bin") if home else None) for name in ("java", "javac"))
        if java is None or javac is None:
            raise LabError(
                f"the lab needs a JDK, {JAVA_MAJOR} or newer, and there is none in {place}; {_WHAT_TO_INSTALL}."
            )
        if (major := _major_of(java)) < JAVA_MAJOR:
            raise LabError(
                f"the lab needs a JDK, {JAVA_MAJOR} or newer, and the one in {place} is {major}; {_WHAT_TO_INSTALL}."
            )
        maven = shutil.which("mvn")
        if maven is None:
            raise LabError(f"the lab needs Maven, and there is no mvn in the path; {_WHAT_TO_INSTALL}.")
        return cls(java=Path(java), maven=Path(maven), cache=cache_folder())

    def classpath(self, release: str, *artifacts: str) -> tuple[Path, ...]:
        """The jars that ``artifacts`` of RocketMQ need to run, including their own; Maven is run once for them. Broker
        and name server of 4.9.8, which were never published, are those of 4.9.7.

        Raises:
            LabError: the release is unknown, or Maven cannot resolve it.
        """
        check_release(release)
        kept = self.cache / "classpaths" / f"{release}-{'-'.join(sorted(artifacts))}.txt"
        if jars := _kept_classpath(kept):
            return jars
        with self._alone(kept.stem):
            if jars := _kept_classpath(kept):
                return jars
            with tempfile.TemporaryDirectory() as folder:
                pom, answer = Path(folder) / "pom.xml", Path(folder) / "classpath.txt"
                pom.write_text(_pom(release, artifacts), encoding="utf-8")
                options = (f"-Dmdep.outputFile={answer}", "-Dmdep.includeScope=runtime")
                self.run_maven(Path(folder), _CLASSPATH_GOAL, *options)
                _write_whole(kept, answer.read_bytes())
        return _kept_classpath(kept)

    def jar(self, module: str) -> Path:
        """The jar of one of :data:`MODULES`, built from these sources; built once.

        Raises:
            LabError: it does not build.
        """
        if module not in MODULES:
            raise LabError(f"there is no module {module!r} of the lab; there are {', '.join(MODULES)}.")
        kept = self.cache / "jars" / f"rocketproof-{module}-{_digest(module)}.jar"
        if not kept.exists():
            with self._alone(module):
                if not kept.exists():
                    self._build(module, kept)
        return kept

    def _build(self, module: str, kept: Path) -> None:
        with tempfile.TemporaryDirectory() as folder:
            sources = Path(folder) / "java"
            for path in _sources(module):
                copy = sources / path
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(JAVA_SOURCES / path, copy)
            self.run_maven(sources / module, "-Dmaven.test.skip=true", "package")
            built = sources / module / "target" / f"rocketproof-{module}.jar"
            if not built.exists():
                raise LabError(f"the build of {module} made no target/{built.name}; its pom.xml names it so.")
            _write_whole(kept, built.read_bytes())
        _keep_newest(kept.parent, f"rocketproof-{module}-*.jar")

    def run_maven(self, folder: Path, *arguments: str) -> None:
        """Run Maven on the pom in ``folder``: first without the network, as everything needed is mostly cached.

        Raises:
            LabError: it failed; the message has its errors.
        """
        command = [str(self.maven), "--batch-mode", "--quiet", *arguments]
        # Maven uses the JDK in JAVA_HOME, so it is set to the one that was found.
        environment = os.environ | {"JAVA_HOME": str(self.java.resolve().parent.parent)}
        for option in ("--offline", "--update-snapshots"):
            # Maven does not protect its downloads against another Maven process.
            with nullcontext() if option == "--offline" else self._alone("downloads"):
                done = subprocess.run(
                    [*command, option],
                    cwd=folder,
                    env=environment,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.STDOUT,
                    text=True,
                    errors="replace",
                    check=False,
                )
            if done.returncode == 0:
                return
            if "offline" not in done.stdout and "previous attempt" not in done.stdout:
                break
        raise LabError(f"Maven failed ({' '.join(['mvn', *arguments])}):\n{_errors_of(done.stdout)}")

    @contextmanager
    def _alone(self, name: str) -> Iterator[None]:
        """Hold a lock among all processes that use this cache, so that only one of them does something."""
        locks = self.cache / "locks"
        locks.mkdir(parents=True, exist_ok=True)
        with (locks / f"{name}.lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def cache_folder() -> Path:
    """``lab`` in ``$ROCKETPROOF_CACHE``, otherwise in the user's cache folder (``$XDG_CACHE_HOME`` or ``~/.cache``)."""
    if named := os.environ.get("ROCKETPROOF_CACHE"):
        return Path(named) / "lab"
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "rocketproof" / "lab"


def check_release(release: str) -> None:
    """Check that the lab knows a release.

    Raises:
        LabError: it does not.
    """
    if release not in (*RELEASES, *EARLIER):
        raise LabError(f"there is no release {release!r} in the lab; there are {', '.join((*RELEASES, *EARLIER))}.")


def _major_of(java: str) -> int:
    done = subprocess.run([java, "-version"], capture_output=True, text=True, errors="replace", check=False)
    found = re.search(r'version "(?:1\.)?(\d+)', done.stderr + done.stdout)
    return int(found[1]) if found else 0


def _pom(release: str, artifacts: Sequence[str]) -> str:
    """A pom that depends on ``artifacts`` of a release."""

    def lines(versions: Mapping[str, str]) -> str:
        return "\n".join(
            _DEPENDENCY.format(group=_GROUP, artifact=name, version=versions[name]) for name in sorted(versions)
        )

    wanted = {name: _PUBLISHED_LAST.get((release, name), release) for name in artifacts}
    shared = _COMMON if len(set(wanted.values())) > 1 else ()
    return _POM.format(managed=lines(dict.fromkeys(shared, release)), dependencies=lines(wanted))


def _kept_classpath(kept: Path) -> tuple[Path, ...]:
    """The jars that a file names; empty if there is no such file, or one of the jars is gone."""
    try:
        jars = tuple(map(Path, kept.read_text(encoding="utf-8").strip().split(os.pathsep)))
    except OSError:
        return ()
    return jars if all(jar.is_file() for jar in jars) else ()


def _sources(module: str) -> list[Path]:
    """The sources of a module, relative to the Java folder; sorted."""
    folder = JAVA_SOURCES / module
    shared = [JAVA_SOURCES / name / "src" for name in SHARED.get(module, ())]
    inside = [path for part in (folder / "pom.xml", folder / "src", *shared) for path in (part, *part.rglob("*"))]
    found = [JAVA_SOURCES / "pom.xml", *(path for path in inside if path.is_file())]
    if not (folder / "pom.xml").is_file():
        raise LabError(f"there is no {folder / 'pom.xml'}: this installation lacks the sources of the lab's {module}.")
    return sorted(path.relative_to(JAVA_SOURCES) for path in found)


def _digest(module: str) -> str:
    digest = hashlib.sha256()
    for path in _sources(module):
        content = (JAVA_SOURCES / path).read_bytes()
        digest.update(f"{path}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()[:16]


def _write_whole(path: Path, content: bytes) -> None:
    """Write a file atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    Path(name).chmod(0o644)
    Path(name).replace(path)


def _keep_newest(folder: Path, pattern: str) -> None:
    for path in sorted(folder.glob(pattern), key=lambda each: each.stat().st_mtime)[:-KEPT_JARS]:
        path.unlink(missing_ok=True)


def _errors_of(output: str, lines: int = 15) -> str:
    """Maven's description of what went wrong: its first error lines, otherwise its last lines."""
    plain = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in output.splitlines() if line.strip()]
    useful = (line.removesuffix(" -> [Help 1]") for line in plain if line.startswith("[ERROR]"))
    told = [line for line in useful if len(line) > len("[ERROR] ") and not any(word in line for word in _ADVICE)]
    return "\n".join((told or plain[-lines:])[:lines])
