"""``rocketproof export``: a configuration of a machine as Promela, for a second opinion by SPIN."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from ..checkers.catalogue import all_rows
from ..checkers.export import promela
from ..errors import InputError
from ..model.kernel import lower, nearest
from ..output.files import STANDARD_OUTPUT, write
from ..properties.claim import Claim
from ..properties.property import Kind


def export(machine: str, constants: Mapping[str, int | str], *, invariants: Sequence[str], to: str) -> int:
    """Write the Promela text of a configuration to a file, or to standard output.

    Raises:
        InputError: an unknown machine or property, or a file that cannot be written.
    """
    claims = [row.subject for row in all_rows() if isinstance(row.subject, Claim)]
    machines = {claim.machine.name: claim.machine for claim in claims}
    name = machine.replace("-", "_")
    if name not in machines:
        raise InputError(f"there is no machine {machine!r}.{nearest(machine, machines)}")
    always = {
        claim.property.id: claim.property.holds
        for claim in claims
        if claim.machine.name == name and claim.property.kind is Kind.ALWAYS
    }
    for invariant in invariants:
        if invariant not in always:
            raise InputError(
                f"machine {machine!r} has no property {invariant!r} of kind 'always'.{nearest(invariant, always)}"
            )
    wanted = {invariant: always[invariant] for invariant in invariants}
    text = promela(lower(machines[name].configure(**constants), wanted), invariants=tuple(wanted))
    write(to, text)
    if to != STANDARD_OUTPUT:
        print(f"{to}: {len(text.splitlines()):,} lines of Promela; 'spin -a {to}' makes the verifier", file=sys.stderr)
    return 0
