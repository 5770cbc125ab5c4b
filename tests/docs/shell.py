"""The shell blocks of the documents: their commands, what they are run on, and which of them cannot run in a test.

A command that shows its output stands in a ``console`` block, which ``console.py`` runs. What documents only tell to
type is run here, on files like those it names, in a shell; where it needs what a test has not, its reason stands below,
with the tests that do the same.
"""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rocketproof.traces.generate.simulation import Plan, simulate

from ..traces.io.importers.test_broker_log import joined, log
from ..traces.io.importers.test_client_log import NAMING, new
from .console import ROOT, write_files

DOCUMENTS = sorted(
    path
    for path in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("docs/learn/**/*.md")]
    if not path.is_symlink()
)
BLOCK = re.compile(
    r"^(?P<indent> *)```(?P<language>\S*)[^\n]*\n(?P<body>.*?)^(?P=indent)```$", re.DOTALL | re.MULTILINE
)
LANGUAGES = {"console", "sh", "python", "text", "toml", "yaml", "json", "xml", "log", "sql"}

_CI = "minutes; a step of .ci/run or a part of one"
_LAB = "starts RocketMQ: tests/lab does it"
_CLUSTER = "asks a running cluster: tests/lab/test_collect.py asks one"
_AGENT = "needs the agent, which Maven builds, in a program of the reader: tests/lab/test_capture.py"
_SPARK_CLUSTER = "needs a cluster of Spark"
_OTHER_CATALOG = "needs a catalog: tests/spark/pipeline/test_restoring.py reads that of Spark itself"
NOT_HERE: Mapping[str, str] = {
    "make setup": _CI,
    "make verify": _CI,
    "make test": _CI,
    "make test-quick": _CI,
    "make test-all": _CI,
    "make lint": _CI,
    ".venv/bin/python tests/docs/console.py": "rewrites all documents: test_documents.py does it with one",
    "python -c 'from rocketproof.lab.maven import Toolchain; print(Toolchain.find().jar(\"agent\"))'": _AGENT,
    "java -javaagent:rocketproof-agent.jar=dir=/var/tmp/traces -jar your-consumer.jar": _AGENT,
    "jcmd PID JVMTI.agent_load /path/to/rocketproof-agent.jar '\"dir=/var/tmp/traces\"'": _AGENT,
    "mvn verify -Drocketproof=rocketproof -Drocketproof.agent=/path/to/rocketproof-agent.jar": (
        "needs Maven and its repository: tests/lab/test_maven_recipe.py"
    ),
    "rocketproof collect --namesrv 10.0.0.1:9876 --group orders --since 2h --out incident": _CLUSTER,
    "rocketproof collect --namesrv 10.0.0.1:9876 --group orders --credentials collector.yml --out incident": _CLUSTER,
    "rocketproof check incident": "reads what was collected from a cluster: tests/lab/test_collect.py",
    "python -m pytest -m lab tests/lab/oracle": _LAB,
    "apt-get install openjdk-17-jdk-headless maven": "installs packages of the system: .ci/run does",
    "rocketproof lab up": _LAB,
    "rocketproof lab status": _LAB,
    "rocketproof lab down": _LAB,
    "rocketproof lab run same-client-id --out runs": _LAB,
    "rocketproof check --engine spark --master spark://host:7077 trace/": _SPARK_CLUSTER,
    "rocketproof pipeline ingest /lake/rocketmq s3a://captures/prod/2026-11-22 --cluster prod "
    "--conf spark.jars.packages=org.apache.hadoop:hadoop-aws:3.5.0": "needs an object store and its library",
    "rocketproof pipeline copy /lake/rocketmq lake.rocketmq --format iceberg "
    "--conf spark.jars.packages=org.apache.iceberg:iceberg-spark-runtime-4.1_2.13:1.12.0 "
    "--conf spark.sql.catalog.lake=org.apache.iceberg.spark.SparkCatalog "
    "--conf spark.sql.catalog.lake.type=hadoop --conf spark.sql.catalog.lake.warehouse=hdfs:///warehouse": (
        "needs Iceberg's library and a warehouse: tests/spark/pipeline/test_iceberg.py"
    ),
    "rocketproof pipeline mine lake.rocketmq --work /var/tmp/rocketmq --conf spark.sql.catalog.lake=…": _OTHER_CATALOG,
    "rocketproof pipeline report lake.rocketmq --work /var/tmp/rocketmq --cluster prod "
    "--conf spark.sql.catalog.lake=…": _OTHER_CATALOG,
    "rocketproof pipeline watch /lake/rocketmq --cluster prod --header header.jsonl "
    "--from kafka --option kafka.bootstrap.servers=10.0.0.5:9092 --option subscribe=rocketproof "
    "--option startingOffsets=earliest --option maxOffsetsPerTrigger=5000000 "
    "--conf spark.jars.packages=org.apache.spark:spark-sql-kafka-0-10_2.13:4.2.0 "
    "--to kafka --to-option kafka.bootstrap.servers=10.0.0.5:9092 --to-option topic=rocketproof-alerts": (
        "needs a Kafka: tests/spark/pipeline/test_watch_command.py reads another source"
    ),
    "ROCKETPROOF_TRACE_MUTANTS=2 ROCKETPROOF_TRACE_MUTANTS_TABLE=table.md python -m benchmarks trace-mutants": (
        "many minutes: tests/traces/generate runs a sample"
    ),
}
"""Command → why no test runs it as it stands."""

ENDS: Mapping[str, int] = {
    "pytest rocketproof.toml": 1,
}
"""Exit codes that are not 0: the file of the document has findings."""

MORE: Mapping[str, str] = {
    "rocketproof pipeline watch /lake/rocketmq /captures/prod --cluster prod --json alerts.jsonl": "--once",
}
"""What ends a command that would go on until it is stopped."""

PLACES: Mapping[str, str] = {"/var/tmp/traces": "traces", "/lake/": "lake/", "/captures/": "captures/"}
"""Absolute paths of the documents → where they are in the folder of a test."""


@dataclass(frozen=True)
class Typed:
    """A command of a shell block, comments and line ends taken away; ``line`` is where its block begins."""

    line: int
    text: str


def typed(document: Path) -> Iterator[Typed]:
    """The commands of the shell blocks of a document."""
    text = document.read_text(encoding="utf-8")
    for block in BLOCK.finditer(text):
        if block["language"] != "sh":
            continue
        line = text.count("\n", 0, block.start("body")) + 1
        for command in block["body"].replace("\\\n", " ").splitlines():
            words = re.sub(r"\s+#.*$", "", command).split(" ")
            yield Typed(line, " ".join(word for word in words if word))


def _recording(folder: Path) -> None:
    day = datetime(2026, 11, 22, 10, tzinfo=UTC)  # the one that pipeline.md names
    simulate(Plan(out=folder, messages=400, consumers=2, queues=4, start=int(day.timestamp() * 1_000)))


def _logs(folder: Path) -> None:
    (folder / "rocketmq_client.log").write_text(new(NAMING), encoding="utf-8")
    (folder / "broker.log").write_text(log(joined()), encoding="utf-8")
    write_files((ROOT / "docs" / "checking-traces.md").read_text(encoding="utf-8"), folder)


PREPARED: Mapping[str, Callable[[Path], None]] = {
    "capturing.md": lambda folder: _recording(folder / "traces"),
    "importing.md": _logs,
    "python.md": lambda folder: _recording(folder / "captures" / "2026-03-01"),
    "spark.md": lambda folder: _recording(folder / "trace"),
    "pipeline.md": lambda folder: _recording(folder / "captures" / "prod"),
}
"""What a document is about → made in the folder where its commands run."""


def prepare(document: Path, folder: Path) -> None:
    """Put the files that a document shows, and those that it is about, into a folder."""
    write_files(document.read_text(encoding="utf-8"), folder)
    PREPARED.get(document.name, lambda _: None)(folder)


def run_all(document: Path, folder: Path) -> Iterator[tuple[Typed, int, str]]:
    """Run the commands of a document one after the other; each with its exit code and its output."""
    prepare(document, folder)
    programs = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}", "NO_COLOR": "1"}
    for command in typed(document):
        if command.text in NOT_HERE:
            continue
        text = f"{command.text} {MORE.get(command.text, '')}".rstrip()
        for path, place in PLACES.items():
            text = text.replace(path, f"{folder}/{place}")
        # What documents call .venv is where the tests run from; `make` is typed in the folder of the sources.
        text = text.replace(".venv/bin", str(programs))
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", text],
            cwd=ROOT if text == "make" else folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
            check=False,
        )
        yield command, done.returncode, done.stdout
