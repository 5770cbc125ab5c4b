"""A network that can be cut: proxies on loopback between one client and the brokers.

A client finds brokers through the answers of its name server. It therefore gets a name server of its own, a proxy that
replaces the addresses in the answers by those of proxies for the brokers. A cut proxy keeps its connections but passes
nothing on; data sent meanwhile arrives when it is healed, as with a network that loses packets for a while.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
from collections.abc import Callable, Mapping

LOOPBACK = "127.0.0.1"
_CHUNK = 1 << 16
_Rewrite = Callable[[bytes], bytes]


class Proxy:
    """Listens on a port of its own and forwards to another address, in both directions."""

    def __init__(self, target: str, *, rewrite: _Rewrite | None = None) -> None:
        """Start to listen for what is forwarded to ``target`` (host:port); ``rewrite`` changes answers' bodies."""
        host, _, port = target.rpartition(":")
        self._target = host, int(port)
        self._rewrite = rewrite
        self._open = threading.Event()
        self._open.set()
        self._closed = False
        self._lock = threading.Lock()
        self._sockets: set[socket.socket] = set()
        self._listener = socket.create_server((LOOPBACK, 0))
        self.address = f"{LOOPBACK}:{self._listener.getsockname()[1]}"  # the address on which it listens
        threading.Thread(target=self._accept, name=f"proxy of {target}", daemon=True).start()

    def cut(self) -> None:
        """Stop forwarding."""
        self._open.clear()

    def heal(self) -> None:
        """Forward again, beginning with what was sent meanwhile."""
        self._open.set()

    def close(self) -> None:
        """Close everything."""
        with self._lock:
            self._closed = True
            sockets = [*self._sockets]
        _close(self._listener)
        for each in sockets:
            _close(each)
        self._open.set()

    def _accept(self) -> None:
        while True:
            try:
                inner, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._connect, args=(inner,), daemon=True).start()

    def _connect(self, inner: socket.socket) -> None:
        self._open.wait()  # a cut network opens no connections either
        try:
            outer = socket.create_connection(self._target, timeout=10)
        except OSError:
            _close(inner)
            return
        outer.settimeout(None)
        with self._lock:
            self._sockets |= {inner, outer}
            closed = self._closed
        if closed:
            _close(inner)
            _close(outer)
            return
        back = self._frames if self._rewrite else self._bytes
        threading.Thread(target=back, args=(outer, inner), daemon=True).start()
        self._bytes(inner, outer)

    def _bytes(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(_CHUNK):
                self._open.wait()
                sink.sendall(data)
        self._end(source, sink)

    def _frames(self, source: socket.socket, sink: socket.socket) -> None:
        assert self._rewrite is not None
        with contextlib.suppress(OSError, EOFError):
            while True:
                (length,) = struct.unpack(">i", _exactly(source, 4))
                frame = rewritten(_exactly(source, length), self._rewrite)
                self._open.wait()
                sink.sendall(struct.pack(">i", len(frame)) + frame)
        self._end(source, sink)

    def _end(self, *both: socket.socket) -> None:
        """One side has closed: the other is closed too, once the network is healed."""
        self._open.wait()
        for each in both:
            _close(each)
        with self._lock:
            self._sockets -= set(both)


class Network:
    """The network of one client: a name server and brokers that it sees under addresses of proxies."""

    def __init__(self, *, namesrv: str, brokers: Mapping[str, str]) -> None:
        """Start the proxies of a name server and of brokers, given by name with their addresses."""
        self._brokers = {name: Proxy(address) for name, address in brokers.items()}
        addresses = {brokers[name].encode(): proxy.address.encode() for name, proxy in self._brokers.items()}

        def rewrite(body: bytes) -> bytes:
            for old, new in addresses.items():
                body = body.replace(b'"' + old + b'"', b'"' + new + b'"')
            return body

        self._namesrv = Proxy(namesrv, rewrite=rewrite)
        self.namesrv = self._namesrv.address  # address of its name server

    def cut(self, broker: str) -> None:
        """Cut the client off from a broker."""
        self._brokers[broker].cut()

    def heal(self, broker: str) -> None:
        """Restore the connection."""
        self._brokers[broker].heal()

    def close(self) -> None:
        """End the proxies."""
        for proxy in [self._namesrv, *self._brokers.values()]:
            proxy.close()


def rewritten(frame: bytes, rewrite: _Rewrite) -> bytes:
    """A frame of RocketMQ's protocol, without its length, with a replaced body: ``RemotingCommand#decode``.

    It begins with four bytes: how the header is written, and its length; header and body follow.
    """
    if len(frame) < 4:
        return frame
    header = 4 + (struct.unpack(">i", frame[:4])[0] & 0xFFFFFF)
    return frame[:header] + rewrite(frame[header:])


def _exactly(source: socket.socket, length: int) -> bytes:
    data = bytearray()
    while len(data) < length:
        piece = source.recv(min(_CHUNK, length - len(data)))
        if not piece:
            raise EOFError
        data += piece
    return bytes(data)


def _close(each: socket.socket) -> None:
    with contextlib.suppress(OSError):
        each.shutdown(socket.SHUT_RDWR)
    with contextlib.suppress(OSError):
        each.close()
