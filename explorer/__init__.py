"""The explorer: a configuration as an HTML page in which the model itself runs; runs as pictures, and as tests."""

from __future__ import annotations

from .regression import Rerun, rerun
from .run_svg import run_svg

__all__ = ["Rerun", "rerun", "run_svg"]
