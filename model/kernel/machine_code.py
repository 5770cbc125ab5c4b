"""Machine code for this processor, through LLVM: compiled once from LLVM's text form, and loaded from object code."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

from llvmlite import binding


@cache
def _processor() -> tuple[str, str]:
    """The processor's name and features."""
    return binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()


@dataclass(frozen=True, kw_only=True)
class Host:
    """The processor of this machine, as LLVM knows it."""

    effort: int  # how much work LLVM puts into fast code when it selects instructions, 0 to 3

    def __post_init__(self) -> None:
        binding.initialize_native_target()
        binding.initialize_native_asmprinter()

    @cached_property
    def target(self) -> Any:
        """LLVM's target machine. It is consumed by the first engine that :meth:`load` makes."""
        cpu, features = _processor()
        of_process = binding.Target.from_triple(binding.get_process_triple())
        return of_process.create_target_machine(cpu=cpu, features=features, opt=self.effort)

    @property
    def name(self) -> str:
        """What object code depends on, besides the text it is compiled from."""
        return f"{binding.llvm_version_info} {_processor()} {self.effort}"

    def load(self, *codes: bytes) -> Any:
        """An engine that holds object code for as long as it lives, and knows the addresses of its functions."""
        engine = binding.create_mcjit_compiler(binding.parse_assembly(""), self.target)
        for code in codes:
            engine.add_object_file(binding.ObjectFileRef.from_data(code))
        engine.finalize_object()
        return engine
