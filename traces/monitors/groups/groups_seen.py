"""What the judges of groups share: what a recording says about groups, and where they report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ...claims.settings import Settings
from ...encoding.names import Names, Slot
from ...encoding.store_counts import Stored
from ...engine.context import Context
from ..notebook import Notebook
from ..standstills import Standstills
from .memberships import Memberships
from .runs import Told


@dataclass(frozen=True, kw_only=True)
class GroupsSeen:
    """What a recording says about groups.

    Attributes:
        told: what the context says about them; ``common``: what concerns all groups, such as polls of routes.
        memberships: who was a member, and when; ``still``: when processes stood still.
        stores: what was stored in each queue.
        context: the whole context of the recording.
        names: codes of slots and processes; ``settings``: those of the check.
        notebook: where to report.
    """

    told: Told
    common: Told
    memberships: Memberships
    still: Standstills
    stores: Mapping[Slot, Stored]
    context: Context
    names: Names
    settings: Settings
    notebook: Notebook
