"""Verification kit for Apache RocketMQ message consumption.

The names below are the public interface: what users' programs import, typed and kept stable (docs/python.md). Each is
loaded when it is first used, so that ``import rocketproof`` costs nothing. Other modules are internal, except
:mod:`rocketproof.terms`, the vocabulary for machines of one's own.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .api import check as check
    from .api import conform as conform
    from .api import verify as verify
    from .checkers.exploration import Exploration as Exploration
    from .checkers.explore import explore as explore
    from .checkers.inductive_refinement import prove_refinement as prove_refinement
    from .checkers.prove import prove as prove
    from .checkers.refinement import check_refinement as check_refinement
    from .checkers.result import Result as Result
    from .checkers.run import story as story
    from .checkers.simulate import simulate as simulate
    from .checkers.stateful import stateful as stateful
    from .checkers.suite import Outcome as Outcome
    from .errors import InputError as InputError
    from .model.kernel import ConfigurationError as ConfigurationError
    from .model.kernel import Machine as Machine
    from .model.kernel import ModelError as ModelError
    from .model.kernel import State as State
    from .model.kernel.refinement import Refinement as Refinement
    from .properties.claim import Claim as Claim
    from .properties.property import Kind as Kind
    from .properties.property import Property as Property
    from .properties.property import always as always
    from .properties.property import eventually as eventually
    from .properties.property import settles as settles
    from .properties.property import sometimes as sometimes
    from .properties.verdict import Verdict as Verdict
    from .spark import mine as mine
    from .traces.conformance import Conformance as Conformance
    from .traces.engine.result import CheckResult as CheckResult
    from .traces.errors import TraceError as TraceError
    from .traces.io import Trace as Trace
    from .traces.io import open_trace as open_trace

__version__: str

_HOMES = {
    "CheckResult": "traces.engine.result",
    "Claim": "properties.claim",
    "ConfigurationError": "model.kernel",
    "Conformance": "traces.conformance",
    "Exploration": "checkers.exploration",
    "InputError": "errors",
    "Kind": "properties.property",
    "Machine": "model.kernel",
    "ModelError": "model.kernel",
    "Outcome": "checkers.suite",
    "Property": "properties.property",
    "Refinement": "model.kernel.refinement",
    "Result": "checkers.result",
    "State": "model.kernel",
    "Trace": "traces.io",
    "TraceError": "traces.errors",
    "Verdict": "properties.verdict",
    "always": "properties.property",
    "check": "api",
    "check_refinement": "checkers.refinement",
    "conform": "api",
    "eventually": "properties.property",
    "explore": "checkers.explore",
    "mine": "spark",
    "open_trace": "traces.io",
    "prove": "checkers.prove",
    "prove_refinement": "checkers.inductive_refinement",
    "settles": "properties.property",
    "simulate": "checkers.simulate",
    "sometimes": "properties.property",
    "stateful": "checkers.stateful",
    "story": "checkers.run",
    "verify": "api",
}
"""The module of each public name."""

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    """A public name, or the version, loaded on first use."""
    if name == "__version__":
        from importlib.metadata import version

        return version("rocketproof")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; it has {', '.join(_HOMES)}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return [*globals(), *_HOMES]
