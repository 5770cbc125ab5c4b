"""The recipe of docs/capturing.md: a Maven build whose integration test is recorded and judged."""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from rocketproof.lab.cluster import Cluster
from rocketproof.lab.errors import LabError
from rocketproof.lab.maven import Toolchain
from rocketproof.traces.claims.claims import CLAIMS

pytestmark = pytest.mark.lab

RELEASE = "5.3.3"
DOCUMENT = Path(__file__).parents[2] / "docs" / "capturing.md"
VIOLATING = Path(__file__).parents[1] / "traces" / "data"

POM = """<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>shop</groupId>
  <artifactId>billing</artifactId>
  <version>1</version>
  <properties>
    <maven.compiler.source>11</maven.compiler.source>
    <maven.compiler.target>11</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency>
      <groupId>org.apache.rocketmq</groupId>
      <artifactId>rocketmq-client</artifactId>
      <version>RELEASE</version>
    </dependency>
    <dependency>
      <groupId>org.junit.jupiter</groupId>
      <artifactId>junit-jupiter</artifactId>
      <version>5.11.4</version>
      <scope>test</scope>
    </dependency>
  </dependencies>
  <build><plugins>
RECIPE
  </plugins></build>
</project>
"""

TEST = """
import static org.junit.jupiter.api.Assertions.assertTrue;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.rocketmq.client.consumer.DefaultMQPushConsumer;
import org.apache.rocketmq.client.consumer.listener.ConsumeConcurrentlyStatus;
import org.apache.rocketmq.client.consumer.listener.MessageListenerConcurrently;
import org.apache.rocketmq.client.producer.DefaultMQProducer;
import org.apache.rocketmq.common.consumer.ConsumeFromWhere;
import org.apache.rocketmq.common.message.Message;
import org.junit.jupiter.api.Test;

class BillingTest {
    @Test
    void everyOrderIsBilled() throws Exception {
        DefaultMQProducer producer = new DefaultMQProducer("senders");
        producer.setNamesrvAddr(System.getenv("NAMESRV"));
        producer.setSendMsgTimeout(30_000);
        producer.start();
        untilDone(() -> producer.createTopic("broker-a", "orders", 4, Map.of()));
        for (int number = 0; number < 40; number++) {
            Message message = new Message("orders", "*", "key-" + number, new byte[] {1});
            untilDone(() -> producer.send(message));
        }
        CountDownLatch billed = new CountDownLatch(40);
        DefaultMQPushConsumer consumer = new DefaultMQPushConsumer("billing");
        consumer.setNamesrvAddr(System.getenv("NAMESRV"));
        consumer.setConsumeFromWhere(ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET);
        consumer.setAwaitTerminationMillisWhenShutdown(5000);
        consumer.subscribe("orders", "*");
        consumer.registerMessageListener((MessageListenerConcurrently) (messages, context) -> {
            messages.forEach(message -> billed.countDown());
            return ConsumeConcurrentlyStatus.CONSUME_SUCCESS;
        });
        consumer.start();
        assertTrue(billed.await(10, TimeUnit.MINUTES));
        consumer.shutdown();
        producer.shutdown();
    }

    private interface Step {
        void run() throws Exception;
    }

    /** On a busy machine an answer may come too late; a message that is sent twice does no harm here. */
    private static void untilDone(Step step) throws Exception {
        for (int attempt = 1; ; attempt++) {
            try {
                step.run();
                return;
            } catch (Exception late) {
                if (attempt == 20) {
                    throw late;
                }
                Thread.sleep(500);
            }
        }
    }
}
"""


def project(folder: Path) -> Path:
    """A Maven project with the recipe of the document, and a command that it finds as rocketproof."""
    (recipe,) = re.findall(r"```xml title=maven-recipe\.xml\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    tests = folder / "src" / "test" / "java"
    tests.mkdir(parents=True)
    (tests / "BillingTest.java").write_text(TEST, encoding="utf-8")
    pom = POM.replace("RELEASE", RELEASE).replace("RECIPE", recipe)
    (folder / "pom.xml").write_text(pom, encoding="utf-8")
    command = folder / "rocketproof"
    code = "from rocketproof.cli import main; main()"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{code}" "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    return command


def cases(folder: Path) -> dict[str, set[str]]:
    """What each test case of the report has in it, by its name."""
    report = ElementTree.parse(folder / "target" / "surefire-reports" / "TEST-rocketproof.xml")
    return {str(case.get("name")): {child.tag for child in case} for case in report.iter("testcase")}


def test_a_java_team_gets_verdicts_as_test_results(
    toolchain: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "billing"
    command = project(folder)
    options = (f"-Drocketproof={command}", f"-Drocketproof.agent={toolchain.jar('agent')}", "verify")
    with Cluster.up(toolchain, release=RELEASE, home=tmp_path / "home") as cluster:
        monkeypatch.setitem(os.environ, "NAMESRV", cluster.namesrv)
        monkeypatch.setitem(os.environ, "MAVEN_OPTS", "-XX:TieredStopAtLevel=1")  # it starts twice
        toolchain.run_maven(folder, *options)
    told = cases(folder)
    assert len(told) == len(CLAIMS)
    assert not any("failure" in found for found in told.values())
    assert sum(not found for found in told.values()) > 10  # what holds has nothing in it

    # The last step again, with a recording of a mistake in the place of the build's own: it fails, and says so.
    for path in (folder / "target" / "rocketproof").iterdir():
        path.unlink()
    shutil.copyfile(VIOLATING / "b7.jsonl.zst", folder / "target" / "rocketproof" / "b7.jsonl.zst")
    with pytest.raises(LabError, match="Maven failed"):
        toolchain.run_maven(folder, *options[:-1], "exec:exec@rocketproof")
    assert {name for name, found in cases(folder).items() if "failure" in found} >= {"offset-never-past-unfinished"}
