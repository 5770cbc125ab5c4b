"""Opening a trace: which files there are, and which form each has, by its content and not only by its name."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import TraceError
from ..format.header import MARK
from ..format.problems import Problems, Trouble
from ..recorders.agent_files import is_recording
from . import importers
from .addresses import local_path, store_of
from .compressed import HEAD, head_of, order_of, packing_of
from .imported import ImportedTrace
from .importers import protocol
from .jsonl import JsonLines, begin_of, looks_like_jsonl, value_of
from .parquet import FAILURES, MAGIC, ParquetTrace, is_beside_a_trace, lacks, rows_of
from .source import Source
from .trace import Trace

if TYPE_CHECKING:
    from ..recorders.processes import Death

_JSONL, _PARQUET, _AUTO = "jsonl", "parquet", "auto"
_OWN = (_JSONL, _PARQUET)
_CAPTURED = "captured"  # JSONL as an agent wrote it
_START = 1_024
"""Number of bytes by which files are told apart before they are compared; a shorter one is the beginning of none."""
_OTHERS = (
    b"\x7fELF",
    b"JAVA PROFILE ",
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"%PDF-",
    b"\xd0\xcf\x11\xe0",
    b"\xca\xfe\xba\xbe",
    b"PK\x03\x04",
)
"""How files begin that are no recordings: core and heap dumps, pictures, documents, classes, ZIP archives."""
_NAMED_SO = frozenset({".jsonl", ".parquet"})
_NUMBER = re.compile(r"\.\d+(\.gz|\.zst)?$|\.(gz|zst)$")
"""What rotating appends to the name of a file."""
_RECORDINGS = _NAMED_SO | {".gz", ".zst"}


@dataclass(frozen=True)
class _Found:
    path: Path
    named: bool  # named by the user; otherwise found in a folder


class _Unknown(TraceError):
    """A file has no known form."""


class _Beside(_Unknown):
    """A file is a table of the kit's own that belongs beside a trace."""


class NothingToReadError(TraceError):
    """Nothing of what was given can be read.

    Attributes:
        wrong: why; ``left_out``: files that are not traces.
    """

    def __init__(self, what: str, problems: Problems, left_out: Sequence[str]) -> None:
        super().__init__(what)
        self.wrong, self.left_out = problems, tuple(left_out)


def files_of(paths: Sequence[Path | str]) -> list[Path]:
    """The files that :func:`open_trace` considers, in its order.

    Raises:
        TraceError: there is no such file.
    """
    return [found.path for found in _in_order(_found(paths, Problems()))]


def open_trace(
    paths: Path | str | Sequence[Path | str],
    *,
    strict: bool = False,
    format: str = _AUTO,
    options: Mapping[str, str] | None = None,
    deaths: Sequence[Death] = (),
    passed_over: Collection[Path] = (),
) -> Trace:
    """Open files and folders as one trace. Files of the agents are joined, see :mod:`..recorders.joining`.

    Folders are searched recursively; files and folders whose names begin with ``.`` or ``_`` are skipped, and so are
    files that are not traces, such as notes: :attr:`Trace.left_out` names them. Files are read in the order of their
    names, each once; what was rotated (``trace.jsonl.1``), in the order of its events.

    Args:
        paths: files and folders, or one of them.
        strict: make the first problem an error.
        format: ``auto`` recognises the form of each file by its content; with ``jsonl``, ``parquet`` or the name of an
            importer, all files are read in that form.
        options: options of importers, such as ``zone``; each goes to those importers that have it.
        deaths: processes that were killed.
        passed_over: files to ignore.

    Raises:
        TraceError: there is no such file, nothing in it, no events, or a named file is of no known form; or no file is
            read by an importer with one of the options.
    """
    if format not in (_AUTO, *_OWN) and importers.importer(format) is None:
        raise TraceError(f"no format {format}; there are {', '.join((_AUTO, *_formats()))}.")
    if isinstance(paths, str | Path):
        paths = [paths]
    if not paths:
        raise TraceError("no trace was given; name files or folders.")
    problems = Problems(strict=strict)
    left_out: list[str] = []
    chosen: list[tuple[str, list[Path]]] = []
    series: dict[str, list[Path]] = {}
    all_found = _in_order(_found(paths, problems))
    known = Copies([found.path for found in all_found if found.path not in passed_over])
    for found in all_found:
        path = found.path
        if path in passed_over:
            continue
        try:
            form = _form(path, format)
        except _Unknown as error:
            if found.named:
                raise
            left_out.append(str(error))
            if not isinstance(error, _Beside) and _seems_recorded(path):
                problems.add(str(path), 0, "left out: nothing in it can be told", kind=Trouble.UNKNOWN_FORMAT)
            continue
        except FAILURES as error:
            problems.add(str(path), 0, str(error), kind=Trouble.UNREADABLE)
            continue
        if not form and not found.named and not _RECORDINGS.intersection(path.suffixes):
            left_out.append(f"{path}: there is nothing in it.")
        elif not form:
            problems.add(str(path), 0, "nothing in it", kind=Trouble.EMPTY)
        elif (copy := known.of(path)) is not None:
            left_out.append(f"{path}: {copy}, which is read.")
        elif form in series:
            series[form].append(path)
        else:
            chosen.append((form, [path]))
            importer = importers.importer(form)
            if form == _CAPTURED or (importer is not None and importer.reads_series):
                series[form] = chosen[-1][1]
    if not chosen:
        raise NothingToReadError(_nothing(paths, problems, left_out), problems, left_out)
    readers = _with_options({form for form, _ in chosen}, options or {})
    from ..recorders.died import Deaths  # which needs this module to read files

    sources = _apart([_source(form, files, readers, deaths, problems) for form, files in chosen], left_out)
    named = [death for death in deaths if death.client]
    if named:
        sources.append(Deaths(sources, named, problems))
    return Trace(sources, problems, left_out=left_out)


def _in_order(found: Iterable[_Found]) -> list[_Found]:
    """By name; JSONL whose names differ by a number at the end was rotated, and is ordered by its first events."""
    files = {one.path: one for one in found}
    names = {path: _NUMBER.sub("", str(path)) for path in files}
    count = Counter(names.values())

    def place(path: Path) -> tuple[str, int, str]:
        is_rotated = count[names[path]] > 1
        return (names[path], _begin_of(path), str(path)) if is_rotated else (str(path), 0, "")

    return [files[path] for path in sorted(files, key=place)]


def _begin_of(path: Path) -> int:
    try:
        return begin_of(head_of(path))
    except FAILURES:
        return 0


def _found(paths: Sequence[Path | str], problems: Problems) -> Iterator[_Found]:
    seen: set[Path] = set()
    for name in paths:
        if not str(name):
            raise TraceError("an empty name was given, perhaps of a variable that is not set; name files or folders.")
        given, store = local_path(name), store_of(name)
        if store and not given.exists():
            raise TraceError(
                f"{store}: addresses are not read, only files. Copy it to a folder, or mount it; or have 'rocketproof "
                "pipeline ingest' copy it into a trace table; or read it with Spark, and give the DataFrame to "
                "rocketproof.mine."
            )
        try:
            given.stat()
        except FileNotFoundError:
            raise TraceError(f"{given}: there is no such file or folder.") from None
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise TraceError(f"{str(given)[:200]}: cannot be opened: {reason}.") from None
        if given.is_dir():
            found = [_Found(path, named=False) for path in _inside(given, problems)]
        elif given.is_file():
            found = [_Found(given, named=True)]
        else:
            raise TraceError(
                f"{given} is a pipe or a device. A trace is read more than once: write it to a file first."
            )
        for one in found:
            if one.path.resolve() not in seen:
                seen.add(one.path.resolve())
                yield one


def _inside(folder: Path, problems: Problems) -> Iterator[Path]:
    """The files of a folder and of those in it, but for hidden ones. A folder that cannot be listed is a problem.

    ``.rocketmq_offsets`` is no hidden folder: broadcasting clients keep their offsets there (LocalFileOffsetStore).
    """

    def unreadable(error: OSError) -> None:
        problems.add(str(error.filename), 0, f"the folder cannot be listed: {error.strerror}", kind=Trouble.UNREADABLE)

    for parent, folders, files in os.walk(folder, onerror=unreadable):
        folders[:] = [name for name in folders if name == ".rocketmq_offsets" or not _hidden(name)]
        yield from (path for name in files if not _hidden(name) and _is_file(path := Path(parent, name)))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return True  # reading it says why it cannot be read


def _hidden(name: str) -> bool:
    return name.startswith((".", "_"))


def _seems_recorded(path: Path) -> bool:
    """Whether a file of no known form may be a damaged recording, rather than notes beside one.

    Notes and logs of applications, compressed or not, are text that is not JSON. Bytes that are not text may say what
    they are, such as a core dump; and a file named as JSON should contain some.
    """
    head, packed = head_of(path), packing_of(path)
    if head.startswith(_OTHERS) or _is_of_another(head):
        return False
    if _NAMED_SO.intersection(path.suffixes) or (packed and head[:1] in (b"", b"{", b"[")):
        return True
    try:
        text = head.decode()
        return "\0" in text or (path.suffix == ".json" and len(head) < HEAD and isinstance(value_of(head), ValueError))
    except UnicodeDecodeError as error:
        return error.start < HEAD - 4


def _is_of_another(head: bytes) -> bool:
    """Whether a file is JSONL of another program: objects without anything that each event has."""
    values = [value_of(line) for line in head.split(b"\n")[:-1][:100] if line.strip()]
    return bool(values) and all(isinstance(one, dict) and not {"time", "kind", MARK} & one.keys() for one in values)


def _form(path: Path, format: str) -> str:
    """The name of the form of a file; empty if the file is empty."""
    if path.stat().st_size == 0:
        return ""
    head = head_of(path)
    form = format if format != _AUTO else _detected(path, head)
    if form == _PARQUET:
        if packing_of(path):
            raise _Unknown(f"{path}: Parquet packed with {packing_of(path)}; unpack it, Parquet is packed inside.")
        if is_beside_a_trace(path):
            raise _Beside(f"{path}: a table about a trace, and none itself.")
        if what := lacks(path):
            raise _Unknown(f"{path}: Parquet, but no trace: {what}.")
        return form if rows_of(path) else ""
    first, _, rest = head.partition(b"\n")
    if form == _JSONL and len(head) < HEAD and MARK.encode() in first and not rest.strip():
        return ""
    return _CAPTURED if form == _JSONL and is_recording(str(path), head) else form


def _detected(path: Path, head: bytes) -> str:
    if head.startswith(MAGIC) or path.suffix == ".parquet":
        return _PARQUET
    is_other = head.startswith(_OTHERS)  # an archive may show the beginning of a file as it is
    if looks_like_jsonl(head) and not is_other:
        return _JSONL
    importer = None if is_other else importers.detect(head.decode(errors="replace"), path.name)
    if importer is not None:
        return importer.name
    if ".jsonl" in path.suffixes and not _is_of_another(head):
        return _JSONL
    known = ", ".join(_formats())
    raise _Unknown(f"{path}: its content has no known format. Known are {known}; check --format names one of them.")


def _formats() -> tuple[str, ...]:
    return *_OWN, *(importer.name for importer in importers.all_importers())


def _with_options(formats: Collection[str], options: Mapping[str, str]) -> dict[str, protocol.Importer]:
    """The importers of those forms that have one, each with the options that it accepts."""
    plain = {form: importer for form in sorted(formats) if (importer := importers.importer(form)) is not None}
    possible = {form: importer.options for form, importer in plain.items()}
    for name in options:
        if not any(name in names for names in possible.values()):
            all_names = sorted({each for importer in importers.all_importers() for each in importer.options})
            if name not in all_names:
                raise TraceError(f"there is no option {name!r} of importers; there are {', '.join(all_names)}.")
            raise TraceError(
                f"nothing that is read has the option {name!r}: the files are {', '.join(sorted(formats))}. "
                "Leave it out."
            )
    return {
        form: replace(importer, **{name: value for name, value in options.items() if name in possible[form]})
        for form, importer in plain.items()
    }


def _source(
    form: str,
    files: Sequence[Path],
    readers: Mapping[str, protocol.Importer],
    deaths: Sequence[Death],
    problems: Problems,
) -> Source:
    if form == _CAPTURED:
        from ..recorders.captured import CapturedTrace  # which needs this module to read files

        return CapturedTrace(files, problems, deaths=[death for death in deaths if not death.client])
    if form in readers:
        return ImportedTrace(readers[form], files, problems)
    return ParquetTrace(files[0], problems) if form == _PARQUET else JsonLines(files[0], problems)


def _apart(sources: Sequence[Source], left_out: list[str]) -> list[Source]:
    """The sources, without events that better sources also report; a source that has no others is left out."""
    from ..recorders.beside import Beside, ByOthers, others_of
    from ..recorders.captured import CapturedTrace  # which needs this module to read files

    kept: list[Source] = []
    agents = next((source.told for source in sources if isinstance(source, CapturedTrace)), ByOthers())
    rest = [source for source in sources if not isinstance(source, CapturedTrace)]
    told = others_of(rest, [source for source in rest if isinstance(source, ImportedTrace)])
    for source in sources:
        others = ByOthers() if isinstance(source, CapturedTrace) else agents.and_of(told[rest.index(source)])
        if not others.spans:
            kept.append(source)
            continue
        beside = Beside(source, others)
        if beside.adds_nothing():
            left_out.append(f"{source.file}: other files, which are read, tell all of it and more.")
        else:
            kept.append(beside)
    return kept


def _nothing(paths: Sequence[Path | str], problems: Problems, left_out: Sequence[str]) -> str:
    given = ", ".join(map(str, paths))
    if problems.count:
        return f"{given}: no events can be read. {str(problems.kept[0]).rstrip('.')}."
    if left_out:
        return f"{given}: no trace in {len(left_out)} files. {left_out[0]}"
    return f"{given}: no files in it. Give a trace: JSONL, Parquet, or files that can be imported."


class Copies:
    """Finds files that another one of the same folders contains: copies, compressed or not, and copies that were made
    before the file was complete.
    """

    def __init__(self, paths: Sequence[Path]) -> None:
        self._places = {path: place for place, path in enumerate(paths)}
        self._starts = {path: _start(path) for path in paths}
        self._by_start: dict[bytes, list[Path]] = {}
        for path, start in self._starts.items():
            self._by_start.setdefault(start, []).append(path)

    def of(self, path: Path) -> str | None:
        """Says which file has the same content and comes earlier, or goes on where this one ends.

        None if there is none. Empty files do not count as copies.
        """
        start = self._starts[path]
        for other in self._by_start.get(start, ()) if start else ():
            try:
                order = order_of(path, other) if other != path else None
            except FAILURES:
                continue  # opening it later reports why it cannot be read
            if order == 0 and self._places[other] < self._places[path]:
                return f"the same as {other}"
            if order == -1 and len(start) == _START:
                return f"the beginning of {other}"
        return None


def _start(path: Path) -> bytes:
    """The first bytes of a file, decompressed; none if it cannot be read."""
    try:
        return head_of(path)[:_START]
    except FAILURES:
        return b""
