"""All misconfigurations that are looked for, one file for each subject."""

from ..finding import Rule
from .broadcasting import failure_dropped, forbidden, locked_out, name_changes, shared_file
from .brokers import delay_delivery, group_not_created, jumps_on_error, one_retry_less, sql_not_enabled, unlocks_late
from .expressions import tag_expression
from .languages import differs, not_judged
from .listener import ack_index, early_commit, exceeds_timeout, no_status, pins_offset, pull_interval, without_effect
from .members import (
    clientid_clash,
    different_tags,
    different_topics,
    idle_members,
    mixed_models,
    mixed_strategies,
    unsubscribes,
)
from .orderly import (
    forced_unlock,
    lock_lifetimes,
    orderly_dead_letter_missed,
    orderly_retries,
    outlasts_lock,
    suspend_clamped,
)
from .queues import (
    history_replayed,
    new_queues_skipped,
    order_lost,
    order_needs_orderly,
    retries_skipped,
    unread_queues,
)
from .retry import (
    attempts,
    beyond_the_table,
    dead_letters_consumed,
    dead_letters_not_readable,
    different_tables,
    fixed_level,
    no_retry_queues,
    not_ascending,
)
from .strategies import config_lists, empty_ring, machine_room, machine_room_nearby

RULES: tuple[Rule, ...] = (
    clientid_clash,
    different_topics,
    different_tags,
    tag_expression,
    unsubscribes,
    mixed_strategies,
    mixed_models,
    idle_members,
    differs,
    not_judged,
    config_lists,
    machine_room,
    machine_room_nearby,
    empty_ring,
    unread_queues,
    new_queues_skipped,
    history_replayed,
    retries_skipped,
    order_needs_orderly,
    order_lost,
    no_retry_queues,
    not_ascending,
    beyond_the_table,
    different_tables,
    attempts,
    fixed_level,
    dead_letters_not_readable,
    dead_letters_consumed,
    forced_unlock,
    outlasts_lock,
    lock_lifetimes,
    orderly_retries,
    orderly_dead_letter_missed,
    suspend_clamped,
    pull_interval,
    exceeds_timeout,
    pins_offset,
    ack_index,
    no_status,
    early_commit,
    without_effect,
    failure_dropped,
    shared_file,
    name_changes,
    locked_out,
    forbidden,
    sql_not_enabled,
    group_not_created,
    jumps_on_error,
    delay_delivery,
    one_retry_less,
    unlocks_late,
)

OF_ANY_CLIENT: tuple[Rule, ...] = (tag_expression, not_judged)
"""Those that hold for clients which take messages by pop as well."""

__all__ = ["OF_ANY_CLIENT", "RULES"]
