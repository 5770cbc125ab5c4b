"""Runs the benchmarks and prints one JSON line for each figure: ``python -m benchmarks [NAME…]``."""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import benchmarks

Measure = Callable[[], Iterator[dict[str, Any]]]


def measures() -> dict[str, Measure]:
    """The ``measure`` functions of all benchmark modules, by module name, with hyphens."""
    found = {}
    for module in pkgutil.iter_modules(benchmarks.__path__):
        if not module.name.startswith("_"):
            measure = getattr(importlib.import_module(f"benchmarks.{module.name}"), "measure", None)
            if measure is not None:
                found[module.name.replace("_", "-")] = measure
    return found


def main(names: Sequence[str]) -> int:
    """Run the benchmarks named, or all; returns the exit code."""
    possible = measures()
    names = [name.replace("_", "-") for name in names]
    unknown = [name for name in names if name not in possible]
    if unknown:
        print(f"no benchmark {', '.join(unknown)}; possible: {', '.join(possible)}.", file=sys.stderr)
        return 2
    for name in names or possible:
        for figure in possible[name]():
            print(json.dumps({"benchmark": name, **figure}, ensure_ascii=False), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
