"""What a fold says, with the doubts that the coverage of its events leaves, as every engine adds them."""

from rocketproof.traces.claims.settings import Settings
from rocketproof.traces.encoding.names import Names
from rocketproof.traces.engine.context import Context
from rocketproof.traces.engine.doubts import doubted
from rocketproof.traces.format.coverage import Coverage, told_holes
from rocketproof.traces.format.schema import Header
from rocketproof.traces.monitors.fold import Outcome


def covered(outcome: Outcome, names: Names, context: Context, settings: Settings | None = None) -> Outcome:
    """The outcome of a fold over a recording that begins with its first event."""
    holes = told_holes(Header(complete=True), context.events, begin=context.begin, end=context.end)
    coverage = Coverage(recorded=context.evidence, begin=context.begin, end=context.end, holes=holes)
    return doubted(outcome, names, coverage, settings or Settings())
