"""The monitor by group: members, subscriptions, rebalances. It uses the events of the context, which are few."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from ..claims.settings import Settings
from ..encoding.names import Names, Slot
from ..encoding.store_counts import Stored
from ..engine.context import Context
from ..format.coverage import EVIDENCE_BIT
from ..format.kinds import Kind
from .allocations import Allocations
from .balance import Balance
from .fold import Outcome
from .group_steps import GroupSteps
from .memberships import Memberships
from .notebook import Notebook
from .processes import judge_processes
from .readable import judge_readable
from .runs import told_by
from .standstills import Standstills
from .subscriptions import judge_subscriptions
from .unassigned import judge_unassigned
from .views import judge_views


class GroupMonitor:
    """Judges the claims about groups.

    Findings about a group as a whole, or about a topic in it, have a slot without a queue, see ``notebook.whole``. What
    goes through all events of the context are folds, see :mod:`..encoding.context_folds`; the others use what these
    have found.

    Attributes:
        unjudged: number of rebalance passes that could not be judged, by reason; known when it has finished.
    """

    def __init__(self, *, names: Names, settings: Settings, context: Context) -> None:
        self.unjudged: Counter[str] = Counter()
        self._names = names
        self._settings = settings
        self._context = context
        self._stores: Mapping[Slot, Stored] = {}
        events = context.events
        self._told = events.once(told_by, settings.rounds)
        self._still = events.once(Standstills.of, settings.rounds)
        self._balance = events.fed(Balance(self._told, still=self._still, names=names, settings=settings))
        self._steps = events.fed(GroupSteps(context, names, settings))

    def stores(self, stores: Mapping[Slot, Stored]) -> None:
        """Pass on how many messages were stored in each queue."""
        self._stores = stores

    def finish(self) -> Outcome:
        """Judge everything; called once."""
        notebook = Notebook(names=self._names)
        told = self._told
        memberships = Memberships(told, context=self._context, skew=self._settings.skew)
        judge_processes(told, memberships, names=self._names, notebook=notebook)
        judge_subscriptions(told, memberships, settings=self._settings, notebook=notebook)
        judge_views(
            told,
            memberships,
            still=self._still,
            has_brokers=bool(self._context.evidence & EVIDENCE_BIT[Kind.BROKER_START]),
            names=self._names,
            settings=self._settings,
            notebook=notebook,
        )
        self.unjudged = Allocations(told, names=self._names, notebook=notebook).unjudged
        self._balance.finish(notebook)
        judge_unassigned(told, self._stores, settings=self._settings, notebook=notebook)
        judge_readable(told, self._stores, settings=self._settings, context=self._context, notebook=notebook)
        self._steps.finish(notebook)
        passed_over = {f"passes of rebalance ({why})": count for why, count in sorted(self.unjudged.items())}
        return replace(notebook.outcome(), passed_over=passed_over)
