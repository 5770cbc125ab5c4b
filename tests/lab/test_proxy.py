"""The network that can be cut: what passes, what waits, and whose addresses a client sees."""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Iterator

import pytest

from rocketproof.lab.proxy import LOOPBACK, Network, Proxy, rewritten

HEADER = b'{"code":0}'
SECONDS = 20


class Server:
    """Answers each frame with what is told, and keeps what it was sent."""

    def __init__(self, answer: bytes) -> None:
        self.answer = answer
        self.got: list[bytes] = []
        self.came = threading.Semaphore(0)
        self._listener = socket.create_server((LOOPBACK, 0))
        self.address = f"{LOOPBACK}:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection: socket.socket) -> None:
        with connection:
            while data := connection.recv(1000):
                self.got.append(data)
                self.came.release()
                connection.sendall(self.answer)


def frame(body: bytes) -> bytes:
    content = struct.pack(">i", len(HEADER)) + HEADER + body
    return struct.pack(">i", len(content)) + content


def connect(address: str) -> socket.socket:
    host, _, port = address.rpartition(":")
    return socket.create_connection((host, int(port)), timeout=SECONDS)


def read(connection: socket.socket, length: int) -> bytes:
    data = b""
    while len(data) < length:
        piece = connection.recv(length - len(data))
        assert piece, f"closed after {data!r}"
        data += piece
    return data


@pytest.fixture
def server() -> Iterator[Server]:
    one = Server(b"answer")
    yield one
    one.close()


def test_passes_both_ways(server: Server) -> None:
    proxy = Proxy(server.address)
    with connect(proxy.address) as client:
        client.sendall(b"question")
        assert read(client, 6) == b"answer"
    proxy.close()
    assert server.got == [b"question"]


def test_what_is_sent_to_a_cut_network_arrives_when_it_is_healed(server: Server) -> None:
    proxy = Proxy(server.address)
    with connect(proxy.address) as client:
        client.sendall(b"before")
        assert read(client, 6) == b"answer"
        assert server.came.acquire(timeout=SECONDS)
        proxy.cut()
        client.sendall(b"during")
        assert not server.came.acquire(timeout=0.2)
        proxy.heal()
        assert read(client, 6) == b"answer"
    proxy.close()
    assert server.got == [b"before", b"during"]


def test_a_cut_network_opens_no_connection(server: Server) -> None:
    proxy = Proxy(server.address)
    proxy.cut()
    with connect(proxy.address) as client:
        client.sendall(b"question")
        assert not server.came.acquire(timeout=0.2)
        proxy.heal()
        assert read(client, 6) == b"answer"
    proxy.close()


def test_the_other_side_learns_of_an_end(server: Server) -> None:
    proxy = Proxy(server.address)
    client = connect(proxy.address)
    client.sendall(b"question")
    assert read(client, 6) == b"answer"
    proxy.close()
    assert client.recv(1) == b""
    client.close()


def test_nobody_listens_behind_it() -> None:
    with socket.create_server((LOOPBACK, 0)) as taken:
        port = taken.getsockname()[1]
    proxy = Proxy(f"{LOOPBACK}:{port}")
    with connect(proxy.address) as client:
        assert client.recv(1) == b""
    proxy.close()


def test_only_the_body_of_a_frame_is_rewritten() -> None:
    content = frame(b"code: 1")[4:]
    assert rewritten(content, lambda body: body.replace(b"code", b"sign")) == frame(b"sign: 1")[4:]
    assert rewritten(b"\0", lambda body: b"never") == b"\0"


def test_a_client_sees_the_brokers_of_its_network() -> None:
    brokers = [Server(b"a says"), Server(b"b says")]
    route = {"brokerDatas": [{"brokerAddrs": {"0": each.address}} for each in brokers]}
    namesrv = Server(frame(json.dumps(route).encode()))
    network = Network(namesrv=namesrv.address, brokers={"a": brokers[0].address, "b": brokers[1].address})
    with connect(network.namesrv) as client:
        client.sendall(b"route?")
        (length,) = struct.unpack(">i", read(client, 4))
        seen = json.loads(read(client, length)[4 + len(HEADER) :])
    addresses = [each["brokerAddrs"]["0"] for each in seen["brokerDatas"]]
    assert not {each.address for each in brokers} & set(addresses)
    network.cut("a")
    with connect(addresses[0]) as cut, connect(addresses[1]) as whole:
        cut.sendall(b"one")
        whole.sendall(b"two")
        assert read(whole, 6) == b"b says"
        assert brokers[0].got == []
        network.heal("a")
        assert read(cut, 6) == b"a says"
    network.close()
    for server in [*brokers, namesrv]:
        server.close()
