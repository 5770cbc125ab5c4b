"""``rocketproof verify --module``: claims about machines of the user's own, in a module of the user's."""

from __future__ import annotations

from collections.abc import Iterable

from ..checkers.suite import Row, claim_rows
from ..checkers.user_modules import UserModuleError, import_user_module
from ..errors import InputError
from ..properties.claim import Claim

SUITE = "CLAIMS"
"""Name of the claims in a module."""


def module_rows(name: str, *, folder: str) -> list[Row]:
    """The rows of the claims in a module, and for each machine the row that all its actions happen.

    ``folder`` is searched before installed packages.

    Raises:
        InputError: there is no such module, it cannot be imported, or it has no claims, or a machine has no actions.
    """
    if name.endswith(".py") or "/" in name:
        raise InputError(f"--module {name!r} is a file; write the module as it is imported, such as package.module.")
    try:
        module = import_user_module(name, folder=folder, meant="of --module")
    except UserModuleError as error:
        raise InputError(str(error)) from error
    told: object = getattr(module, SUITE, None)
    if told is None:
        raise InputError(f"module {name!r} has no {SUITE}; write a tuple of rocketproof.Claim objects of that name.")
    listed = list(told) if isinstance(told, Iterable) else [told]
    strange = [claim for claim in listed if not isinstance(claim, Claim)]
    if strange or not listed:
        what = f"holds {type(strange[0]).__name__} objects" if strange else "is empty"
        raise InputError(f"{SUITE} of module {name!r} {what}; it must hold rocketproof.Claim objects.")
    claims = [claim for claim in listed if isinstance(claim, Claim)]
    still = next((claim.machine.name for claim in claims if not claim.machine.actions), "")
    if still:
        raise InputError(f"machine {still} has no actions, so nothing happens; write what may happen: @machine.action.")
    return claim_rows(claims)
