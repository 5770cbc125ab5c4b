"""The catalogue: every row that can be checked by name, and which of them make up the default suite."""

from __future__ import annotations

from collections.abc import Iterator

from ..properties.allocation import ALLOCATION_THEOREMS
from ..properties.allocation_inputs import INPUT_THEOREMS, NAIVE_THEOREMS
from ..properties.assignment import claims as assignment_claims
from ..properties.broadcast import claims as broadcast_claims
from ..properties.claim import Claim
from ..properties.client_instance import claims as client_instance_claims
from ..properties.consistent_hash import RING_THEOREMS
from ..properties.delivery import claims as delivery_claims
from ..properties.ends import claims as end_claims
from ..properties.equal_views import EQUAL_VIEW_CLAIMS
from ..properties.examples import EXPECTED
from ..properties.filtering import claims as filtering_claims
from ..properties.flow_control import FLOW_THEOREMS, NAIVE_FLOW_THEOREMS
from ..properties.flow_control import claims as flow_control_claims
from ..properties.listener_answer import ANSWER_THEOREMS, NAIVE_ANSWER_THEOREMS
from ..properties.long_polling import claims as long_polling_claims
from ..properties.member_steps import claims as member_step_claims
from ..properties.members import claims as member_claims
from ..properties.offset_claims import claims as offset_claims
from ..properties.orderly import claims as orderly_claims
from ..properties.orderly_lock import claims as orderly_lock_claims
from ..properties.orderly_lock_progress import claims as lock_progress_claims
from ..properties.orderly_lock_steps import claims as lock_step_claims
from ..properties.orderly_steps import claims as orderly_step_claims
from ..properties.presets import preset_claims, preset_named
from ..properties.pulls import claims as pull_claims
from ..properties.refinements import refinement_claims
from ..properties.refused_inputs import REFUSED_CLAIMS
from ..properties.retry import claims as retry_claims
from ..properties.retry_policy import NAIVE_RETRY_THEOREMS, RETRY_THEOREMS
from ..properties.retry_settings import SETTING_THEOREMS
from ..properties.retry_topic import NAIVE_TOPIC_THEOREMS, TOPIC_THEOREMS
from ..properties.schedule import NAIVE_SCHEDULE_THEOREMS, SCHEDULE_THEOREMS
from ..properties.schedule import claims as schedule_claims
from ..properties.settings import claims as settings_claims
from ..properties.step_claims import claims as step_claims
from ..properties.turns import claims as turns_claims
from ..properties.unbounded import claims as unbounded_claims
from ..properties.unbounded_broadcast import claims as unbounded_broadcast_claims
from ..properties.unequal_views import GROUP_CLAIMS
from ..properties.verdict import Verdict
from .suite import Row, claim_row, claim_rows

ALLOCATION = "allocation"
"""The subject to which theorems about strategies belong; it is a set of rules, not a machine."""
RETRY = "retry"
"""The subject to which theorems about answers of listeners, attempts, delay levels and dead letters belong."""
FLOW_CONTROL = "flow_control"
"""The subject to which theorems about limits on cached messages belong."""


REFINEMENT = "refinement"
"""The subject to which refinements between machines belong."""


def default_rows() -> list[Row]:
    """The default suite: what RocketMQ users can rely on, and popular beliefs that are false."""
    return (
        allocation_rows()
        + retry_rows()
        + flow_control_rows()
        + claim_rows(_claims())
        + member_rows()
        + refinement_rows()
    )


def member_rows() -> list[Row]:
    """What must hold for groups with real members; coverage of actions is claimed for the machines they come from."""
    return [claim_row(claim) for claim in (*member_claims(), *member_step_claims())]


def refinement_rows() -> list[Row]:
    """That larger machines do nothing that the smaller ones, for which more is proven, cannot do."""
    return [
        Row(subject=item, machine=REFINEMENT, expected=item.expected, lesson=item.lesson, constants=item.constants)
        for item in refinement_claims()
    ]


def _claims() -> Iterator[Claim]:
    yield from assignment_claims()
    yield from orderly_lock_claims()
    yield from lock_progress_claims()
    yield from lock_step_claims()
    yield from orderly_step_claims()
    yield from long_polling_claims()
    yield from client_instance_claims()
    yield from delivery_claims()
    yield from pull_claims()
    yield from step_claims()
    yield from end_claims()
    yield from unbounded_claims()
    yield from offset_claims()
    yield from broadcast_claims()
    yield from filtering_claims()
    yield from unbounded_broadcast_claims()
    yield from orderly_claims()
    yield from retry_claims()
    yield from schedule_claims()
    yield from settings_claims()
    yield from flow_control_claims()
    yield from turns_claims()


def retry_rows() -> list[Row]:
    """Theorems about answers of listeners, attempts, delay levels and dead letters."""
    proven = (*ANSWER_THEOREMS, *RETRY_THEOREMS, *TOPIC_THEOREMS, *SETTING_THEOREMS, *SCHEDULE_THEOREMS)
    naive = (*NAIVE_ANSWER_THEOREMS, *NAIVE_RETRY_THEOREMS, *NAIVE_TOPIC_THEOREMS, *NAIVE_SCHEDULE_THEOREMS)
    rows = [Row(subject=item, machine=RETRY, expected=Verdict.HOLDS) for item in proven]
    return rows + [Row(subject=item, machine=RETRY, expected=Verdict.VIOLATED) for item in naive]


def flow_control_rows() -> list[Row]:
    """Theorems about limits on cached messages."""
    rows = [Row(subject=item, machine=FLOW_CONTROL, expected=Verdict.HOLDS) for item in FLOW_THEOREMS]
    return rows + [Row(subject=item, machine=FLOW_CONTROL, expected=Verdict.VIOLATED) for item in NAIVE_FLOW_THEOREMS]


def preset_rows(name: str) -> list[Row]:
    """What is claimed about a preset. Raises :class:`KeyError` if there is none of that name."""
    return [claim_row(claim) for claim in preset_claims(preset_named(name))]


def all_rows() -> list[Row]:
    """The default suite and the example machines."""
    return default_rows() + claim_rows(_example_claims())


def _example_claims() -> Iterator[Claim]:
    for expected in EXPECTED:
        configuration = expected.sized.configuration
        machine = configuration.machine
        changed = {
            name: value for name, value in configuration.constants.items() if value != machine.constants[name].default
        }
        for claim in expected.claims:
            yield Claim(property=claim.property, machine=machine, constants=changed, expected=claim.verdict)


def allocation_rows() -> list[Row]:
    """Theorems about the six strategies, and what wrong inputs break."""
    proven = (*ALLOCATION_THEOREMS, *RING_THEOREMS, *INPUT_THEOREMS)
    rows = [Row(subject=item, machine=ALLOCATION, expected=Verdict.HOLDS) for item in proven]
    rows += [Row(subject=item, machine=ALLOCATION, expected=Verdict.VIOLATED) for item in NAIVE_THEOREMS]
    groups = (*EQUAL_VIEW_CLAIMS, *REFUSED_CLAIMS, *GROUP_CLAIMS)
    rows += [Row(subject=item, machine=ALLOCATION, expected=item.expected) for item in groups]
    return rows
