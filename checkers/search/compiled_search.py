"""The search in machine code: in memory or in a folder, on several threads, with or without reductions."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ...model.kernel import Lowered
from ...model.kernel.native import CodeCache, compile_machine
from ...properties.property import Property
from ..exploration import Limits
from ..reduction import Reduction
from ..reduction.partial_order import PartialOrder
from ..reduction.symmetry import Symmetry
from .disk_search import DiskSearch, alone_in
from .level_search import LevelSearch
from .machine_limits import cores
from .table_search import TableSearch


def compiled_search(
    lowered: Lowered,
    properties: Sequence[Property],
    limits: Limits,
    *,
    terminal: bool,
    stop_when_decided: bool,
    deadlocks: bool,
    reduce: Reduction,
    threads: int | None,
    folder: Path | str | None,
    cache: CodeCache | None,
    session: Any,
    stack: ExitStack,
) -> TableSearch | LevelSearch:
    """A search that is ready to run.

    The arguments are those of :func:`..explore.explore`, and in addition ``terminal``: whether the predicate after
    those of the properties excuses states without successors; ``stack``: closing it releases everything that the
    search holds.

    Raises:
        ModelError: the machine cannot be compiled, or the reduction is not possible.
        FolderError: the folder is in use, or contains something else.
    """
    native = compile_machine(lowered, cache=cache)
    threads = cores() if threads is None else threads
    search: TableSearch | LevelSearch
    if session is not None:
        from .spark_search import SparkSearch

        shared = str(folder) if folder is not None else stack.enter_context(TemporaryDirectory(prefix="rocketproof-"))
        if "://" not in shared:
            stack.enter_context(alone_in(Path(shared)))
            shared = Path(shared).resolve().as_uri()
        search = SparkSearch(native, properties, limits, session=session, folder=shared, terminal=terminal)
    elif folder is not None:
        stack.enter_context(alone_in(Path(folder)))
        search = DiskSearch(native, properties, limits, folder=Path(folder), terminal=terminal, threads=threads)
    else:
        partial_order = None
        if Reduction.PARTIAL_ORDER in reduce:
            partial_order = PartialOrder(native, properties, deadlocks=deadlocks, cache=cache)
        search = TableSearch(
            native,
            properties,
            limits,
            terminal=terminal,
            stop_when_decided=stop_when_decided and bool(properties),
            partial_order=partial_order,
            symmetry=Symmetry(native, cache=cache) if Reduction.SYMMETRY in reduce else None,
            threads=threads,
        )
    stack.callback(search.close)
    return search
