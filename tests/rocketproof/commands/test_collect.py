"""``rocketproof collect``: what it prints, its exit codes, keys and TLS, and a user's mistakes."""

from __future__ import annotations

import ssl
import subprocess
from pathlib import Path

import pytest

from rocketproof.traces.cluster.remoting import Credentials

from ...traces.cluster.test_collect import a_cluster, call, trace
from ..command import run

SINCE = "2023-11-14T22:13:00Z"
ACCOUNT = Credentials(access_key="reader", secret_key="12345678")


def test_a_folder_is_collected_gone_on_with_and_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    with a_cluster() as fake:
        asked = ("collect", "--namesrv", fake.address, "--group", "CG", "--since", SINCE, "--out", out)
        assert run(capsys, *asked) == (
            0,
            f"message-trace.jsonl: 3 lines\nsamples.jsonl: 4 lines\ncheck it: rocketproof check {out}\n",
            "",
        )
        assert run(capsys, *asked) == (0, f"nothing new\ncheck it: rocketproof check {out}\n", "")
        fake.queues["RMQ_SYS_TRACE_TOPIC", 0] += [trace(call(number)) for number in range(3, 9)]
        code, told, _ = run(capsys, *asked, "--limit", "messages=1")
        assert code == 2
        assert told.splitlines() == [
            "message-trace.jsonl: 3 more lines",
            "  not read to the end: RMQ_SYS_TRACE_TOPIC@a:0: the limit of 1 messages is reached",
            "run the same command again to continue",
            f"check it: rocketproof check {out}",
        ]
    code, told, _ = run(capsys, "check", out)
    assert code in (0, 2)
    assert "VIOLATED" not in told


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--namesrv", "here"), "--namesrv 'here' is no address. Write HOST:PORT"),
        (("--since", "soon"), "--since 'soon' is no moment"),
        (("--until", "2h"), "--until is not after --since"),
        (("--limit", "queues=1"), "--limit 'queues=1' is none"),
        (("--trace-topic", ""), "nothing was asked for"),
        (("--messages",), "--messages needs to know which"),
        (("--ca", "x.pem"), "--ca is about encrypted connections; add --tls"),
        (("--tls", "--ca", "nowhere.pem"), "--ca nowhere.pem: no certificate can be read from it"),
        (("--credentials", "nowhere.yml"), "--credentials nowhere.yml: No such file"),
        ((), "no name server answers: 127.0.0.1:1: Connection refused"),
    ],
)
def test_a_mistake_is_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], said: str
) -> None:
    code, _, error = run(capsys, "collect", "--namesrv", "127.0.0.1:1", "--out", tmp_path / "out", *options)
    assert (code, error.count("\n")) == (3, 1)
    assert said in error


def test_keys_come_from_a_file_or_the_environment_and_are_never_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = tmp_path / "reader.yml"
    keys.write_text('accessKey: reader\nsecretKey: "12345678"\n')
    with a_cluster(account=ACCOUNT) as fake:
        asked = ("collect", "--namesrv", fake.address, "--group", "CG", "--since", SINCE, "--out", tmp_path / "out")
        code, _, error = run(capsys, *asked)
        assert (code, error.count("\n")) == (3, 1)
        assert "Give the keys of an account" in error
        assert run(capsys, *asked, "--credentials", keys)[0] == 0
        monkeypatch.setenv("ROCKETPROOF_ACCESS_KEY", "reader")
        assert "belong together" in run(capsys, *asked)[2]
        monkeypatch.setenv("ROCKETPROOF_SECRET_KEY", "87654321")
        code, _, error = run(capsys, *asked)
        assert "The account needs to read" in error
        assert "87654321" not in error
        monkeypatch.setenv("ROCKETPROOF_SECRET_KEY", "12345678")
        assert run(capsys, *asked)[0] == 0


def test_connections_are_encrypted_and_the_chain_is_checked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    self_signed = "openssl req -x509 -newkey rsa:2048 -nodes -subj /CN=broker -days 2 -keyout"
    subprocess.run([*self_signed.split(), key, "-out", cert], check=True, capture_output=True)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(cert, key)
    with a_cluster(tls=server) as fake:
        asked = ("collect", "--namesrv", fake.address, "--group", "CG", "--since", SINCE, "--out", tmp_path / "out")
        assert "does it want TLS (--tls)?" in run(capsys, *asked)[2]
        assert "certificate verify failed" in run(capsys, *asked, "--tls")[2].replace("_", " ").lower()
        assert run(capsys, *asked, "--tls", "--ca", cert)[0] == 0
        assert run(capsys, *asked, "--tls", "--tls-unverified")[0] == 0


def test_a_folder_that_holds_something_else_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    code, _, error = run(capsys, "collect", "--namesrv", "127.0.0.1:1", "--group", "CG", "--out", tmp_path)
    assert (code, [path.name for path in tmp_path.iterdir()]) == (3, ["notes.txt"])
    assert "holds something else" in error
