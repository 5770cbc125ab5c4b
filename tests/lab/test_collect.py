"""``rocketproof collect`` against a running cluster: a live group, TLS, and a broker that asks who one is."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import monotonic, sleep

import pytest

from rocketproof.lab.brokers import CLUSTER_NAME
from rocketproof.lab.cluster import Cluster
from rocketproof.lab.maven import Toolchain
from rocketproof.lab.process import Process, java_command
from rocketproof.lab.remoting import brokers_known

from ..rocketproof.command import run

pytestmark = pytest.mark.lab

ARTIFACTS = ("rocketmq-client", "rocketmq-tools")
RELEASES = ("5.3.3", "4.9.8")
MESSAGES = 60
FAILING = 6
SECONDS = 120

# The consumer's group fails each tenth message once.
PROGRAM = """
import java.util.*;
import java.util.concurrent.*;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.*;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.*;

public class Traced {
    public static void main(String[] arguments) throws Exception {
        int count = Integer.parseInt(arguments[1]);
        DefaultMQProducer producer = new DefaultMQProducer("senders", true, null);
        producer.setNamesrvAddr(arguments[0]);
        producer.start();
        for (int i = 0; i < count; i++) {
            producer.send(new Message("orders", "", "order-" + i, ("" + i).getBytes()));
        }
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer("billing", true, null);
        consumer.setNamesrvAddr(arguments[0]);
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.setPersistConsumerOffsetInterval(500);
        consumer.subscribe("orders", "*");
        Set<String> done = ConcurrentHashMap.newKeySet();
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            MessageExt message = messages.get(0);
            int number = Integer.parseInt(new String(message.getBody()));
            if (number % 10 == 7 && message.getReconsumeTimes() == 0) {
                return ConsumeConcurrentlyStatus.RECONSUME_LATER;
            }
            done.add(message.getKeys());
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        System.out.println("{\\"started\\":true}");
        while (done.size() < count) {
            Thread.sleep(50);
        }
        Thread.sleep(2000);
        System.out.println("{\\"drained\\":true}");
        Thread.currentThread().join();
    }
}
"""


COLLECTOR = """
accessKey: collector
secretKey: "12345678"
"""

# Access control of 4.x (PlainAccessValidator), and that of 5.3 (AuthConfig). What the account may is what the
# documents ask for.
ACCOUNTS = """
accounts:
- accessKey: collector
  secretKey: "12345678"
  admin: false
  defaultTopicPerm: DENY
  defaultGroupPerm: DENY
  topicPerms: [RMQ_SYS_TRACE_TOPIC=SUB, orders=SUB]
  groupPerms: [TOOLS_CONSUMER=SUB, billing=SUB]
"""
MANAGER = """
accessKey: manager
secretKey: "87654321"
"""
PROVIDERS = "org.apache.rocketmq.auth"
SETTINGS_4 = "aclEnable=true\n"
SETTINGS_5 = f"""
authenticationEnabled=true
authenticationProvider={PROVIDERS}.authentication.provider.DefaultAuthenticationProvider
authenticationMetadataProvider={PROVIDERS}.authentication.provider.LocalAuthenticationMetadataProvider
initAuthenticationUser={{"username":"manager","password":"87654321"}}
innerClientAuthenticationCredentials={{"accessKey":"manager","secretKey":"87654321"}}
authorizationEnabled=true
authorizationProvider={PROVIDERS}.authorization.provider.DefaultAuthorizationProvider
authorizationMetadataProvider={PROVIDERS}.authorization.provider.LocalAuthorizationMetadataProvider
"""
MAY_READ = ",".join(
    f"{kind}:{name}"
    for kind, name in (
        ("Topic", "RMQ_SYS_TRACE_TOPIC"),
        ("Topic", "orders"),
        ("Topic", "%RETRY%billing"),
        ("Topic", "%DLQ%billing"),
        ("Group", "TOOLS_CONSUMER"),
        ("Group", "billing"),
    )
)


@dataclass(frozen=True)
class Traced:
    """A cluster, and a program in it that sends messages and consumes them with the message trace switched on."""

    cluster: Cluster
    program: Process
    certificate: Path

    def drained(self) -> None:
        """Wait until all messages have been consumed, and a little, so that what became of them is stored."""
        self.program.wait_for(lambda: {"drained": True} in self.program.answers(), "consume all", SECONDS)


def certificate(folder: Path) -> Path:
    """Make a certificate for this machine; returns RocketMQ's settings of it (TlsSystemConfig)."""
    cert, key, settings = folder / "cert.pem", folder / "key.pem", folder / "tls.properties"
    made = "openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=lab -addext subjectAltName=IP:127.0.0.1 -days 2 -keyout"
    subprocess.run([*made.split(), key, "-out", cert], check=True, capture_output=True)
    settings.write_text(f"tls.test.mode.enable=false\ntls.server.certPath={cert}\ntls.server.keyPath={key}\n")
    return settings


@pytest.fixture(scope="module", params=RELEASES)
def traced(
    request: pytest.FixtureRequest, toolchain: Toolchain, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Traced]:
    """Servers take plain and encrypted connections; clients make plain ones."""
    folder = tmp_path_factory.mktemp("collected")
    # What stands here wins over the command line, by which the lab switches TLS off.
    servers = f"-Dtls.server.mode=permissive -Dtls.config.file={certificate(folder)}"
    settings = {"traceTopicEnable": "true", "autoCreateTopicEnable": "true"}
    with ExitStack() as cleaning:
        with pytest.MonkeyPatch.context() as environment:
            environment.setenv("_JAVA_OPTIONS", servers)
            cluster = cleaning.enter_context(
                Cluster.up(toolchain, release=request.param, brokers=2, home=folder / "cluster", settings=settings)
            )
        source = folder / "Traced.java"
        source.write_text(PROGRAM, encoding="utf-8")
        properties = cluster.java_properties()
        command = java_command(
            toolchain,
            cluster.release,
            str(source),
            artifacts=ARTIFACTS,
            heap_mb=128,
            properties=properties,
            arguments=[cluster.namesrv, str(MESSAGES)],
        )
        program = Process.start("traced", command, folder=folder, stdin=True)
        try:
            program.said("started", SECONDS)
            yield Traced(cluster, program, folder / "cert.pem")
        finally:
            program.kill()


def asked(traced: Traced, out: Path, *more: str) -> list[str | Path]:
    namesrv = traced.cluster.namesrv
    return ["collect", "--namesrv", namesrv, "--group", "billing", "--messages", "--out", out, *more]


def lines(file: Path, kind: str) -> list[dict[str, object]]:
    return [
        event
        for line in file.read_text(encoding="utf-8").splitlines()
        if (event := json.loads(line)).get("kind") == kind
    ]


def test_a_live_group_is_collected_while_it_runs_and_gone_on_with(
    traced: Traced, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "incident"
    code, told, error = run(capsys, *asked(traced, out, "--watch", "2s", "--every", "1s"))
    assert (code, error) == (0, ""), told + error
    assert lines(out / "samples.jsonl", "members"), "the consumer is connected"
    traced.drained()
    deadline = monotonic() + SECONDS
    while True:  # clients keep their message trace back, newer ones up to 5 s (TR-2)
        code, told, error = run(capsys, *asked(traced, out))
        assert (code, error) == (0, ""), told + error
        if (out / "message-trace.jsonl").read_text(encoding="utf-8").count("SubAfter") == MESSAGES + FAILING:
            break
        assert monotonic() < deadline, "the message trace does not tell of each delivery"
        sleep(1)
    stored = lines(out / "messages.jsonl", "store")
    assert len(stored) == len({event["key"] for event in stored}) == MESSAGES
    assert {event["broker"] for event in stored} == {"broker-a", "broker-b"}
    assert len(lines(out / "messages.jsonl", "delay_deliver")) == FAILING
    assert run(capsys, *asked(traced, out)) == (0, f"nothing new\ncheck it: rocketproof check {out}\n", "")

    code, told, error = run(capsys, "check", out)
    assert code in (0, 2), told + error
    assert "VIOLATED" not in told
    again = {event["key"] for event in lines(out / "messages.jsonl", "delay_deliver")}
    once = next(str(event["key"]) for event in stored if event["key"] not in again)
    twice = str(min(map(str, again)))
    for key, answer in ((once, "DELIVERED ONCE"), (twice, "DELIVERED TWICE because its listener failed")):
        _, told, _ = run(capsys, "check", out, "--message", key)
        assert answer in told.splitlines()[0], told


def test_an_encrypted_connection_reads_the_same(
    traced: Traced, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    traced.drained()
    for name, more in (("plain", ()), ("tls", ("--tls", "--ca", str(traced.certificate)))):
        code, told, error = run(capsys, *asked(traced, tmp_path / name, *more))
        assert (code, error) == (0, ""), told + error
    plain, encrypted = (
        sorted((tmp_path / name / "messages.jsonl").read_text().splitlines()[1:]) for name in ("plain", "tls")
    )
    assert plain == encrypted
    code, _, error = run(capsys, *asked(traced, tmp_path / "trusted", "--tls"))
    assert (code, error.count("\n")) == (3, 1)  # nobody else has signed it
    assert "certificate" in error


def restart_with_access_control(traced: Traced, toolchain: Toolchain) -> None:
    """Brokers that let nobody read but the account of COLLECTOR."""
    cluster = traced.cluster
    old = cluster.release.startswith("4.")
    conf = cluster.home / "conf"
    conf.mkdir(exist_ok=True)
    (conf / "plain_acl.yml").write_text(ACCOUNTS, encoding="utf-8")
    (conf / "tools.yml").write_text(MANAGER, encoding="utf-8")
    for broker in cluster.brokers:
        broker.stop()
        with (cluster.home / f"{broker.name}.properties").open("a", encoding="utf-8") as settings:
            settings.write(SETTINGS_4 if old else SETTINGS_5)
        broker.process = cluster.start_process(broker.name, broker.process.command)
    for broker in cluster.brokers:
        broker.process.wait_for(partial(is_known, cluster.namesrv, broker.name), "register", SECONDS)
    for words in (
        ()
        if old
        else (
            "createUser -u collector -p 12345678 -t Normal",
            f"createAcl -s User:collector -r {MAY_READ} -a Sub,Get -d Allow",
        )
    ):
        command = java_command(
            toolchain,
            cluster.release,
            "org.apache.rocketmq.tools.command.MQAdminStartup",
            artifacts=ARTIFACTS,
            heap_mb=128,
            properties={**cluster.java_properties(), "rocketmq.home.dir": str(cluster.home)},
            arguments=[*words.split(), "-c", CLUSTER_NAME, "-n", cluster.namesrv],
        )
        subprocess.run(command, check=True, capture_output=True, timeout=SECONDS)


def is_known(namesrv: str, broker: str) -> bool:
    return broker in brokers_known(namesrv)


def test_a_broker_with_access_control_is_read_with_its_keys_only(
    traced: Traced, toolchain: Toolchain, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    traced.drained()
    traced.program.kill()
    restart_with_access_control(traced, toolchain)
    out, keys = tmp_path / "out", tmp_path / "collector.yml"
    keys.write_text(COLLECTOR.replace("12345678", "23456789"), encoding="utf-8")
    for credentials, advice in (
        ((), "Give the keys of an account"),
        (("--credentials", str(keys)), "The account needs to read"),
    ):
        code, told, error = run(capsys, *asked(traced, out, *credentials))
        assert (code, error.count("\n")) == (3, 1), told + error
        assert advice in error
    keys.write_text(COLLECTOR, encoding="utf-8")
    code, told, error = run(capsys, *asked(traced, out, "--credentials", str(keys)))
    assert (code, error) == (0, ""), told + error
    assert len(lines(out / "messages.jsonl", "store")) == MESSAGES
    assert lines(out / "samples.jsonl", "commit")
