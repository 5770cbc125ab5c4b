"""``rocketproof explore``: a configuration as a page in which the model runs, written to a file or served."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from ..errors import InputError
from ..explorer.page import Entry, page
from ..explorer.subjects import entry_of, is_known, subject
from ..model.kernel import ConfigurationError, ModelError
from ..output.files import STANDARD_OUTPUT, check_writable, write
from ..output.progress import told_if_long
from ..traces.explain.report.rules import rule_texts
from ..traces.format.printable import printable
from .explore_trace import found_in
from .request import read_constants

Constants = Mapping[str, int | str]

_LONG = (
    "the page writes out each step and each claim for its constants, which takes long if they are large: "
    "smaller ones, such as --set messages=3, show the same steps. Ctrl-C stops it."
)


@dataclass(frozen=True, kw_only=True)
class ExploreRequest:
    """What to explore; see the options of ``rocketproof explore``. Without ``port``, the page is written to a file."""

    name: str
    constants: Constants
    also: Sequence[Constants] = ()
    out: str = ""
    port: int | None = None


def explore(request: ExploreRequest) -> int:
    """Write or serve the requested page; returns the exit code.

    Raises:
        InputError: the file cannot be written.
        ConfigurationError, ModelError: there is no such subject, or it cannot be stepped through.
    """
    if request.port is not None and request.out:
        raise InputError("--out writes the page and --serve shows it; leave one of them out.")
    out = request.out or f"{Path(request.name).absolute().stem}.html"
    if request.port is None:
        check_writable(out)
    with told_if_long(_LONG):
        text = text_of(request.name, request.constants, also=request.also, served=request.port is not None)
    if request.port is not None:
        return _serve(text, request.port)
    write(out, text)
    if out != STANDARD_OUTPUT:
        print(f"{printable(out)}: open it in a browser; it needs no network", file=sys.stderr)
    return 0


def text_of(name: str, constants: Constants, *, also: Sequence[Constants] = (), served: bool = False) -> str:
    """The page about a machine, preset, property, known bug, or trace."""
    if is_trace(name):
        if constants or also:
            raise InputError("--set and --also change constants of the model, and a trace has none; leave them out.")
        return page(found_in(name), title=Path(name).name, served=served)
    first = entry(name, constants)
    others = [
        replace(
            entry(name, {**constants, **more}),
            id=f"{name}-{number}",
            title=" ".join([first.title, *(f"{key}={value}" for key, value in more.items())]),
        )
        for number, more in enumerate(also, 2)
    ]
    return page([first, *others], served=served, opens=True)


def is_trace(name: str) -> bool:
    """Whether a name is that of a recording: a file or folder, and not the name of a known subject."""
    return Path(name).exists() and ("." in name or "/" in name or not is_known(name))


def entry(name: str, constants: Constants) -> Entry:
    """The subject with a name, with the rules that it cites."""
    return entry_of(subject(name, constants), rules=rule_texts())


def _serve(first: str, port: int) -> int:
    """Serve the page until Ctrl-C, and pages with other constants on request."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked = urlsplit(self.path)
            if asked.path != "/":
                return self._answer(404, f"There is no {asked.path} here.", kind="text/plain")
            query = parse_qs(asked.query)
            if "subject" not in query:
                return self._answer(200, first)
            try:
                told = text_of(query["subject"][0], read_constants(query.get("set", [])), served=True)
            except (InputError, ConfigurationError, ModelError) as error:
                return self._answer(400, str(error), kind="text/plain")
            return self._answer(200, told)

        def _answer(self, status: int, text: str, *, kind: str = "text/html") -> None:
            body = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Print nothing: the terminal is for the address."""

    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    except OSError as error:
        raise InputError(f"cannot serve at port {port}: {error.strerror}; choose another with --port.") from None
    print(f"http://127.0.0.1:{server.server_address[1]}/ shows it; Ctrl-C ends it", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()
    return 0
