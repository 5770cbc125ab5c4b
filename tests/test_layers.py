"""The layers of the kit: which folder may import which, and what every module of it owes the reader."""

import ast
import graphlib
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = [pytest.mark.smoke, pytest.mark.quality]

ROOT = Path(__file__).resolve().parent.parent
DOOR = "rocketproof"

# Each folder with the folders it may import besides itself. The door may import them all.
LAYERS: dict[str, frozenset[str]] = {
    "model": frozenset(),
    "properties": frozenset({"model"}),
    "machine_code": frozenset({"model"}),
    "checkers": frozenset({"model", "properties", "machine_code"}),
    "explorer": frozenset({"model", "properties", "checkers"}),
    "traces": frozenset({"model", "properties", "machine_code"}),
    "spark": frozenset({"model", "properties", "machine_code", "traces"}),
    "lab": frozenset({"model", "properties", "traces"}),
}
FOLDERS = (*LAYERS, DOOR)

# The semantics know nothing of files, test libraries, Spark, the command line or other processes.
FOREIGN_TO_MODEL = frozenset(
    {"argparse", "click", "hypothesis", "os", "pathlib", "pyspark", "rich", "subprocess", "tempfile", "typer"}
)


def sources(root: Path) -> list[Path]:
    """Every Python file of the kit, relative to its root."""
    return sorted(path.relative_to(root) for folder in FOLDERS for path in (root / folder).rglob("*.py"))


def package_of(path: Path) -> list[str]:
    """The installed package that a file belongs to: model/kernel/terms.py is in rocketproof.model.kernel."""
    folders = list(path.parent.parts)
    return folders if folders[0] == DOOR else [DOOR, *folders]


def imports(path: Path, tree: ast.Module) -> Iterator[tuple[int, bool, str]]:
    """Every import in a file, also inside functions, as line, whether it is relative, and full dotted name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, False, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = package_of(path)
            start = package[: len(package) - node.level + 1] if node.level else []
            base = [*start, *(node.module.split(".") if node.module else [])]
            yield from ((node.lineno, node.level > 0, ".".join([*base, alias.name])) for alias in node.names)


def offences(root: Path) -> list[str]:
    """Each broken rule, as `file:line: what is wrong`."""
    found: list[str] = []
    for path in sources(root):
        folder = path.parts[0]
        tree = ast.parse((root / path).read_text(encoding="utf-8"), filename=str(path))
        if not ast.get_docstring(tree):
            found.append(f"{path}:1: no module docstring")
        for line, relative, name in imports(path, tree):
            first, *rest = name.split(".")
            own = relative or first in FOLDERS
            if own and not relative:
                found.append(f"{path}:{line}: import {name} relatively")
            if folder == "model" and not own and first in FOREIGN_TO_MODEL:
                found.append(f"{path}:{line}: model must not import {first}")
            if own and folder != DOOR:
                inside = rest if first == DOOR else [first]
                target = inside[0] if inside and inside[0] in LAYERS else DOOR
                if target not in LAYERS[folder] | {folder}:
                    found.append(f"{path}:{line}: {folder} must not import {target}")
    return found


def circles(root: Path, folder: str) -> list[str]:
    """Files of a folder that import each other round about; what only a function imports is no part of it."""
    package = ".".join(package_of(Path(folder) / "x.py"))
    names = {f"{package}.{path.stem}": path.stem for path in (root / folder).glob("*.py") if path.stem != "__init__"}
    needs: dict[str, set[str]] = {}
    for path in sorted((root / folder).glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        inside = {node for item in ast.walk(tree) if isinstance(item, ast.FunctionDef) for node in ast.walk(item)}
        top = ast.Module(
            [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) and node not in inside], []
        )
        found = {name.rpartition(".")[0] for _, _, name in imports(path.relative_to(root), top)}
        needs[path.stem] = {names[name] for name in found & set(names)} - {path.stem}
    try:
        graphlib.TopologicalSorter(needs).prepare()
    except graphlib.CycleError as error:
        return [str(name) for name in error.args[1]]
    return []


def unlisted(root: Path) -> list[str]:
    """Folders with modules that pyproject.toml forgets, and packages it lists that are not there."""
    listed = set(tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["packages"])
    there = {".".join(package_of(path)) for path in sources(root)}
    return sorted(listed ^ there)


def write(root: Path, path: str, text: str) -> None:
    target = root / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")


def test_the_kit_keeps_its_layers() -> None:
    assert sources(ROOT), f"no sources under {ROOT}"
    assert offences(ROOT) == []


def test_the_kernel_imports_in_no_circle() -> None:
    assert circles(ROOT, "model/kernel") == []


def test_a_circle_is_found(tmp_path: Path) -> None:
    write(tmp_path, "model/kernel/state.py", "if TYPE_CHECKING:\n    from .machine import Machine\n")
    write(tmp_path, "model/kernel/machine.py", "from .state import State\n")
    assert set(circles(tmp_path, "model/kernel")) == {"state", "machine"}
    write(tmp_path, "model/kernel/state.py", "def f():\n    from .machine import Machine\n")
    assert circles(tmp_path, "model/kernel") == []


def test_every_package_is_listed_for_installation() -> None:
    assert unlisted(ROOT) == []


def test_every_package_has_an_init() -> None:
    folders = {path.parent for path in sources(ROOT)}
    assert sorted(folder for folder in folders if not (ROOT / folder / "__init__.py").exists()) == []


@pytest.mark.parametrize(
    ("path", "code", "offence"),
    [
        ("model/pull.py", "from ..properties import claims", "model must not import properties"),
        ("model/kernel/terms.py", "from ...checkers.explore import search", "model must not import checkers"),
        ("model/pull.py", "from .. import traces", "model must not import traces"),
        ("model/pull.py", "from .. import __version__", "model must not import rocketproof"),
        ("model/pull.py", "from ..cli import main", "model must not import rocketproof"),
        ("properties/order.py", "from ..checkers import explore", "properties must not import checkers"),
        ("properties/order.py", "def f():\n    from ..traces import events", "properties must not import traces"),
        ("checkers/explore.py", "from ..traces import events", "checkers must not import traces"),
        ("checkers/explore.py", "from ..cli import main", "checkers must not import rocketproof"),
        ("traces/monitors.py", "from ..checkers import explore", "traces must not import checkers"),
        ("traces/monitors.py", "from ..spark import sessions", "traces must not import spark"),
        ("spark/mine.py", "from ..checkers import explore", "spark must not import checkers"),
        ("explorer/page.py", "from ..traces import events", "explorer must not import traces"),
        ("lab/cluster.py", "from ..spark import mine", "lab must not import spark"),
        ("lab/cluster.py", "from ..checkers import explore", "lab must not import checkers"),
        ("lab/cluster.py", "from ..cli import main", "lab must not import rocketproof"),
        ("traces/engine/local.py", "from ...lab import cluster", "traces must not import lab"),
        ("model/pull.py", "import hypothesis.strategies", "model must not import hypothesis"),
        ("model/pull.py", "from pyspark.sql import SparkSession", "model must not import pyspark"),
        ("model/pull.py", "import typer", "model must not import typer"),
        ("model/pull.py", "import click", "model must not import click"),
        ("model/pull.py", "import argparse", "model must not import argparse"),
        ("model/pull.py", "from rich import print", "model must not import rich"),
        ("model/pull.py", "def f():\n    import subprocess", "model must not import subprocess"),
        ("checkers/explore.py", "from rocketproof.model import pull", "import rocketproof.model.pull relatively"),
        ("checkers/explore.py", "import model.kernel", "import model.kernel relatively"),
        ("rocketproof/cli.py", "import rocketproof.checkers", "import rocketproof.checkers relatively"),
    ],
)
def test_an_offending_import_is_found(tmp_path: Path, path: str, code: str, offence: str) -> None:
    write(tmp_path, path, f'"""A module."""\n\n{code}\n')
    assert [text.partition(": ")[2] for text in offences(tmp_path)] == [offence]


def test_a_missing_docstring_is_found(tmp_path: Path) -> None:
    write(tmp_path, "spark/mine.py", "LIMIT = 3\n")
    assert offences(tmp_path) == ["spark/mine.py:1: no module docstring"]


@pytest.mark.parametrize(
    ("path", "code"),
    [
        ("model/pull.py", "from .kernel import Machine\nfrom ..model import offsets\nimport z3"),
        ("model/kernel/terms.py", "from .domains import Domain\nfrom ..pull import pull"),
        ("properties/order.py", "from ..model.kernel import Machine\nimport hypothesis"),
        ("checkers/explore.py", "from .. import model, properties\nimport subprocess"),
        ("traces/monitors.py", "from ..model import offsets"),
        ("lab/capture.py", "from ..traces import kinds\nfrom ..model import offsets\nimport subprocess"),
        ("spark/mine.py", "from ..traces.monitors import fold\nfrom ..model import offsets\nimport pyspark"),
        ("rocketproof/cli.py", "from .checkers import explore\nfrom . import __version__, spark\nimport typer"),
    ],
)
def test_a_lawful_import_passes(tmp_path: Path, path: str, code: str) -> None:
    write(tmp_path, path, f'"""A module."""\n\n{code}\n')
    assert offences(tmp_path) == []


def test_a_forgotten_package_is_found(tmp_path: Path) -> None:
    write(tmp_path, "pyproject.toml", '[tool.setuptools]\npackages = ["rocketproof.model", "rocketproof.gone"]\n')
    write(tmp_path, "model/__init__.py", '"""A package."""\n')
    write(tmp_path, "model/kernel/__init__.py", '"""A package."""\n')
    assert unlisted(tmp_path) == ["rocketproof.gone", "rocketproof.model.kernel"]
