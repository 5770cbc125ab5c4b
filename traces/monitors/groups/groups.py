"""The monitor by group: members, subscriptions, rebalances. It uses the events of the context, which are few."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from ...claims.settings import Settings
from ...encoding.names import Names, Slot
from ...encoding.store_counts import Stored
from ...engine.context import Context
from ..fold import Outcome
from ..notebook import Notebook
from ..standstills import Standstills
from .allocations import Allocations
from .balance import Balance
from .group_shares import ALL_GROUPS, GroupShare
from .group_steps import GroupSteps
from .groups_seen import GroupsSeen
from .memberships import Memberships
from .processes import judge_processes
from .readable import judge_readable, judge_unassigned
from .runs import told_by
from .subscriptions import judge_subscriptions
from .views import judge_views


class GroupMonitor:
    """Judges the claims about groups.

    Findings about a group as a whole, or about a topic in it, have a slot without a queue, see ``notebook.whole``. What
    goes through all events of the context are folds, see :mod:`...encoding.context_folds`; the others use what these
    have found.

    Args:
        names: codes of slots and processes.
        settings: settings of the check.
        context: the whole context of the recording.
        share: the groups that are judged; all of them by default.

    Attributes:
        unjudged: number of rebalance passes that could not be judged, by reason; known when it has finished.
    """

    def __init__(self, *, names: Names, settings: Settings, context: Context, share: GroupShare = ALL_GROUPS) -> None:
        self.unjudged: Counter[str] = Counter()
        self._names = names
        self._settings = settings
        self._context = context
        self._stores: Mapping[Slot, Stored] = {}
        events = share.of(context.events)
        self._common = share.common(context.events, settings.rounds)
        self._told = events.once(told_by, settings.rounds)
        self._still = events.once(Standstills.of, settings.rounds)
        balance = Balance(self._told, common=self._common, still=self._still, names=names, settings=settings)
        self._balance = events.fed(balance)
        self._steps = events.fed(GroupSteps(context, names, settings, judges_brokers=share.has_brokers))
        self._events = events

    def stores(self, stores: Mapping[Slot, Stored]) -> None:
        """Pass on how many messages were stored in each queue."""
        self._stores = stores

    def finish(self) -> Outcome:
        """Judge everything; called once."""
        notebook, told = Notebook(names=self._names), self._told
        seen = GroupsSeen(
            told=told,
            common=self._common,
            memberships=Memberships(told, context=self._context, skew=self._settings.skew),
            still=self._still,
            stores=self._stores,
            context=self._context,
            names=self._names,
            settings=self._settings,
            notebook=notebook,
        )
        for judge in (judge_processes, judge_subscriptions, judge_views, judge_unassigned, judge_readable):
            judge(seen)
        self.unjudged = Allocations(told, names=self._names, notebook=notebook).unjudged
        self._balance.finish(notebook)
        self._steps.finish(self._events, notebook)
        passed_over = {f"passes of rebalance ({why})": count for why, count in sorted(self.unjudged.items())}
        return replace(notebook.outcome(), passed_over=passed_over)
