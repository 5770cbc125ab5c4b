"""Settings files of name server and broker, free ports, and the frames that are spoken with them."""

from __future__ import annotations

import json
import socket
import struct
import threading
from pathlib import Path

import pytest

from rocketproof.lab.brokers import BROKER_PORTS, broker_file, check_settings, namesrv_file, write_logging
from rocketproof.lab.errors import LabError
from rocketproof.lab.ports import free_ports
from rocketproof.lab.remoting import brokers_known
from rocketproof.traces.cluster.remoting import Answer, ask


def values(text: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in text.splitlines())


def test_a_broker_stays_on_loopback_and_takes_what_the_user_says() -> None:
    given = {"messageDelayLevel": "1s 2s", "mappedFileSizeCommitLog": "1048576", "namesrv.x": "1", "path": "a\\b"}
    file = broker_file(name="broker-b", port=20911, namesrv="127.0.0.1:9876", store=Path("/store"), settings=given)
    read = values(file)
    assert read["brokerIP1"] == read["brokerIP2"] == read["bindAddress"] == "127.0.0.1"
    assert (read["listenPort"], read["haListenPort"]) == ("20911", "20912")
    assert read["messageDelayLevel"] == "1s 2s"
    assert read["mappedFileSizeCommitLog"] == "1048576"
    assert read["path"] == "a\\\\b"
    assert not any(name.startswith("namesrv.") for name in read)


def test_a_name_server_takes_its_own_settings_only() -> None:
    file = namesrv_file(
        port=9876, folder=Path("/home"), settings={"namesrv.scanNotActiveBrokerInterval": "6000", "y": "1"}
    )
    assert values(file) == {
        "bindAddress": "127.0.0.1",
        "kvConfigPath": "/home/kvConfig.json",
        "listenPort": "9876",
        "scanNotActiveBrokerInterval": "6000",
    }


@pytest.mark.parametrize("name", ["listenPort", "brokerName", "namesrvAddr", "haListenPort", "namesrv.listenPort"])
def test_what_the_lab_sets_itself_is_refused(name: str) -> None:
    with pytest.raises(LabError) as error:
        check_settings({"messageDelayLevel": "1s", name: "1"})
    assert str(error.value) == f"{name} is set by the lab, which needs it; leave it out."


def test_a_setting_needs_a_name() -> None:
    with pytest.raises(LabError, match=r"there is a setting without a name \(value '1'\)"):
        check_settings({"namesrv.": "1"})


def test_all_releases_find_a_logging_file(tmp_path: Path) -> None:
    properties = write_logging(tmp_path)
    assert Path(properties["rmq.logback.configurationFile"]).read_text(encoding="utf-8").startswith("<configuration>")
    for name in ("logback_broker.xml", "logback_namesrv.xml"):
        assert (tmp_path / "conf" / name).is_file()


def test_free_ports_are_free_together_and_apart() -> None:
    bases = free_ports((0,), BROKER_PORTS, BROKER_PORTS)
    ports = [bases[0], *(base + distance for base in bases[1:] for distance in BROKER_PORTS)]
    assert len(set(ports)) == 7
    for port in ports:
        with socket.socket() as one:
            one.bind(("127.0.0.1", port))


def served(answer: bytes) -> tuple[str, list[bytes], threading.Thread]:
    """A server that takes one request and answers so; its address, what it got, and its thread."""
    server = socket.create_server(("127.0.0.1", 0))
    got: list[bytes] = []

    def serve() -> None:
        with server, server.accept()[0] as connection:
            (length,) = struct.unpack(">I", connection.recv(4))
            got.append(connection.recv(length))
            connection.sendall(answer)

    thread = threading.Thread(target=serve)
    thread.start()
    return f"127.0.0.1:{server.getsockname()[1]}", got, thread


def frame(header: dict[str, object], body: bytes) -> bytes:
    head = json.dumps({"opaque": 1, "flag": 1} | header).encode()
    return struct.pack(">II", 4 + len(head) + len(body), len(head)) + head + body


def test_a_request_and_its_answer() -> None:
    address, got, thread = served(frame({"code": 1, "remark": "no such topic"}, b"rest"))
    assert ask(address, 105, {"topic": "orders"}) == Answer(code=1, remark="no such topic", body=b"rest")
    thread.join()
    (length,) = struct.unpack(">I", got[0][:4])
    header = json.loads(got[0][4 : 4 + length])
    assert (header["code"], header["extFields"], header["serializeTypeCurrentRPC"]) == (
        105,
        {"topic": "orders"},
        "JSON",
    )


def test_the_brokers_that_a_name_server_knows_by_their_masters() -> None:
    body = (
        b'{"brokerAddrTable":{"broker-b":{"brokerAddrs":{1:"127.0.0.1:30"},"brokerName":"broker-b"},'
        b'"broker-a":{"brokerAddrs":{0:"127.0.0.1:10",1:"127.0.0.1:20"},"brokerName":"broker-a"}}}'
    )
    address, _, thread = served(frame({"code": 0}, body))
    assert brokers_known(address) == {"broker-a": "127.0.0.1:10"}
    thread.join()


def test_a_refusal_is_an_error() -> None:
    address, _, thread = served(frame({"code": 2, "remark": "busy"}, b""))
    with pytest.raises(OSError, match="answers code 2: busy"):
        brokers_known(address)
    thread.join()


@pytest.mark.parametrize("answer", [b"HTTP/1.1 400 Bad Request\r\n\r\n", struct.pack(">II", 6, 2) + b"{}"])
def test_somebody_else_who_listens_is_noticed(answer: bytes) -> None:
    address, _, thread = served(answer)
    with pytest.raises(OSError, match="does not speak RocketMQ's protocol"):
        ask(address, 106)
    thread.join()


def test_an_answer_that_breaks_off_is_noticed() -> None:
    address, _, thread = served(frame({"code": 0}, b"body")[:-2])
    with pytest.raises(OSError, match="the connection ended before the answer did"):
        ask(address, 106)
    thread.join()
