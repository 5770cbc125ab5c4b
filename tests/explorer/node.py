"""Scripts of the explorer in node, without a browser."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from importlib import resources
from pathlib import Path
from typing import Any

import pytest

NODE = shutil.which("node")


def run_node(script: str, given: Any, folder: Path) -> Any:
    """What a module prints as JSON; ``given`` is there as ``given``, the explorer's files as ``scripts``."""
    if NODE is None:
        # A CI run must not pass because node is missing.
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("there is no node here")
    data, module = folder / "given.json", folder / "script.mjs"
    data.write_text(json.dumps(given), encoding="utf-8")
    kernel = resources.files("rocketproof.explorer").joinpath("script")
    head = (
        'import { readFileSync } from "node:fs";\n'
        f"const given = JSON.parse(readFileSync({json.dumps(str(data))}));\n"
        f"const {{ Machine }} = await import({json.dumps(str(kernel / 'kernel' / 'machine.mjs'))});\n"
        f"const {{ Search }} = await import({json.dumps(str(kernel / 'kernel' / 'search.mjs'))});\n"
    )
    module.write_text(head + script, encoding="utf-8")
    done = subprocess.run([NODE, str(module)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def check_syntax(text: str, folder: Path) -> None:
    """Fail where a module cannot be read, or declares a name twice."""
    if NODE is None:
        pytest.skip("there is no node here")
    module = folder / "module.mjs"
    module.write_text(text, encoding="utf-8")
    done = subprocess.run([NODE, "--check", str(module)], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
