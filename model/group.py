"""The state of a group: what every part of the machines about groups, their clients and their brokers declares."""

from __future__ import annotations

from .any_assignment import AnyAssignmentState
from .assignment import AssignmentState
from .concurrently import ConcurrentlyState
from .consume_queue import ConsumeQueueState
from .correction import CorrectionState
from .everything import EverythingState
from .faults import FaultsState
from .filtering import FilteringState
from .flow_control import FlowControlState
from .history import HistoryState
from .hung_listener import HungListenerState
from .late_update import LateUpdateState
from .local_file import LocalFileState
from .lock import LockState
from .lost_log import LostLogState
from .membership import MembershipState
from .offsets import OffsetsState
from .orderly import OrderlyState
from .orderly_ownership import OrderlyOwnershipState
from .process_queue import ProcessQueueState
from .pull import PullState
from .pull_expiry import PullExpiryState
from .rebalance import RebalanceState
from .replicas import ReplicasState
from .reset import ResetState
from .retry_copy import RetryCopyState
from .route import RouteState
from .schedule import ScheduleState
from .send_back import SendBackState
from .shutdown import ShutdownState
from .start_position import StartPositionState
from .start_stop import StartStopState
from .subscription import SubscriptionState
from .tags import TagsState


class GroupState(
    AnyAssignmentState,
    AssignmentState,
    ConcurrentlyState,
    ConsumeQueueState,
    CorrectionState,
    EverythingState,
    FaultsState,
    FilteringState,
    FlowControlState,
    HistoryState,
    HungListenerState,
    LateUpdateState,
    LocalFileState,
    LockState,
    LostLogState,
    MembershipState,
    OffsetsState,
    OrderlyState,
    OrderlyOwnershipState,
    ProcessQueueState,
    PullState,
    PullExpiryState,
    RebalanceState,
    ReplicasState,
    ResetState,
    RetryCopyState,
    RouteState,
    ScheduleState,
    SendBackState,
    ShutdownState,
    StartPositionState,
    StartStopState,
    SubscriptionState,
    TagsState,
):
    """What a text may read and write in a machine that consists of these parts.

    A part may not be there, or a constant may switch off what it declares; whoever asks for it then asks the constants
    first.
    """
