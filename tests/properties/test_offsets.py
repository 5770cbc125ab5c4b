"""Every claim about offsets: its verdict, the exact size of its state space, its shortest run."""

import pytest

from rocketproof.checkers.explore import explore
from rocketproof.checkers.mutants import Status, Trials, entries
from rocketproof.checkers.simulate import simulate
from rocketproof.checkers.suite import Row, claim_rows, run_suite
from rocketproof.model.consumption import consumption
from rocketproof.model.correction import correction
from rocketproof.model.first_query import first_query
from rocketproof.model.hung_listener import hung_listener
from rocketproof.model.late_update import late_update
from rocketproof.model.lost_log import lost_log
from rocketproof.model.offsets import offsets
from rocketproof.model.pull_expiry import pull_expiry
from rocketproof.model.replicas import replicas
from rocketproof.model.reset import reset
from rocketproof.properties.delivery import offset_safe
from rocketproof.properties.offset_claims import claims
from rocketproof.properties.offsets import caused, one_pull, owned_only
from rocketproof.properties.verdict import Verdict

# Property, configuration, verdict, states, transitions, and steps of the run, its loop included (None: no run).
EXPECTED: list[tuple[str, str, str, int, int, int | None]] = [
    (
        "offset-never-back",
        "messages=2 watch_offsets=1 moves=1 crashes=1 overlaps=0 lost_commits=1 leaves=1 failures=1",
        "HOLDS",
        7273,
        24716,
        None,
    ),
    (
        "every-regression-has-a-cause",
        "messages=2 watch_offsets=1 moves=1 crashes=1 overlaps=0 lost_commits=1 leaves=1 failures=1",
        "HOLDS",
        7273,
        24716,
        None,
    ),
    (
        "offset-sent-by-owner-only",
        "messages=2 watch_offsets=1 moves=1 crashes=1 overlaps=0 lost_commits=1 leaves=1 failures=1",
        "HOLDS",
        7273,
        24716,
        None,
    ),
    ("offset-never-back", "messages=2 watch_offsets=1 consumers=1 moves=1 held_updates=1", "HOLDS", 243, 510, None),
    ("offset-never-back", "messages=2 watch_offsets=1 moves=1", "VIOLATED", 2548, 9432, 7),
    ("offset-back-overlap", "messages=2 watch_offsets=1 moves=1", "HOLDS", 2548, 9432, 7),
    ("every-regression-has-a-cause", "messages=2 watch_offsets=1 moves=1", "HOLDS", 2548, 9432, None),
    ("offset-sent-by-owner-only", "messages=2 watch_offsets=1 moves=1", "HOLDS", 2548, 9432, None),
    ("offset-never-back", "messages=2 watch_offsets=1 moves=1 overlaps=0 late_commits=1", "VIOLATED", 633, 1508, 8),
    ("offset-back-late-commit", "messages=2 watch_offsets=1 moves=1 overlaps=0 late_commits=1", "HOLDS", 633, 1508, 8),
    (
        "every-regression-has-a-cause",
        "messages=2 watch_offsets=1 moves=1 overlaps=0 late_commits=1",
        "HOLDS",
        633,
        1508,
        None,
    ),
    (
        "offset-sent-by-owner-only",
        "messages=2 watch_offsets=1 moves=1 overlaps=0 late_commits=1",
        "HOLDS",
        633,
        1508,
        None,
    ),
    ("offset-never-back", "messages=2 watch_offsets=1 consumers=1 pulls=fine piggyback=1", "VIOLATED", 55, 111, 12),
    (
        "offset-back-carried-commit",
        "messages=2 watch_offsets=1 consumers=1 pulls=fine piggyback=1",
        "HOLDS",
        55,
        111,
        12,
    ),
    (
        "every-regression-has-a-cause",
        "messages=2 watch_offsets=1 consumers=1 pulls=fine piggyback=1",
        "HOLDS",
        55,
        111,
        None,
    ),
    (
        "offset-sent-by-owner-only",
        "messages=2 watch_offsets=1 consumers=1 pulls=fine piggyback=1",
        "HOLDS",
        55,
        111,
        None,
    ),
    ("offset-never-back", "messages=2 watch_offsets=1 consumers=1 broker_restarts=1", "VIOLATED", 65, 120, 6),
    ("offset-back-broker-restart", "messages=2 watch_offsets=1 consumers=1 broker_restarts=1", "HOLDS", 65, 120, 6),
    (
        "every-regression-has-a-cause",
        "messages=2 watch_offsets=1 consumers=1 broker_restarts=1",
        "HOLDS",
        65,
        120,
        None,
    ),
    ("offset-sent-by-owner-only", "messages=2 watch_offsets=1 consumers=1 broker_restarts=1", "HOLDS", 65, 120, None),
    (
        "offset-never-back",
        "messages=2 watch_offsets=1 overlaps=0 moves=1 slaves=1 fail_overs=1",
        "VIOLATED",
        951,
        2342,
        6,
    ),
    (
        "offset-back-fail-over",
        "messages=2 watch_offsets=1 overlaps=0 moves=1 slaves=1 fail_overs=1",
        "HOLDS",
        951,
        2342,
        6,
    ),
    (
        "every-regression-has-a-cause",
        "messages=2 watch_offsets=1 overlaps=0 moves=1 slaves=1 fail_overs=1",
        "HOLDS",
        951,
        2342,
        None,
    ),
    (
        "offset-sent-by-owner-only",
        "messages=2 watch_offsets=1 overlaps=0 moves=1 slaves=1 fail_overs=1",
        "HOLDS",
        951,
        2342,
        None,
    ),
    ("offset-never-back", "messages=2 watch_offsets=1 consumers=1 truncations=1", "VIOLATED", 35, 55, 10),
    ("offset-back-corrected", "messages=2 watch_offsets=1 consumers=1 truncations=1", "HOLDS", 35, 55, 10),
    ("every-regression-has-a-cause", "messages=2 watch_offsets=1 consumers=1 truncations=1", "HOLDS", 35, 55, None),
    ("offset-sent-by-owner-only", "messages=2 watch_offsets=1 consumers=1 truncations=1", "HOLDS", 35, 55, None),
    ("offset-never-back", "messages=2 watch_offsets=1 consumers=1 version=4.9.8 resets=1", "VIOLATED", 286, 567, 8),
    ("offset-back-reset", "messages=2 watch_offsets=1 consumers=1 version=4.9.8 resets=1", "HOLDS", 286, 567, 8),
    (
        "every-regression-has-a-cause",
        "messages=2 watch_offsets=1 consumers=1 version=4.9.8 resets=1",
        "HOLDS",
        286,
        567,
        None,
    ),
    (
        "offset-sent-by-owner-only",
        "messages=2 watch_offsets=1 consumers=1 version=4.9.8 resets=1",
        "HOLDS",
        286,
        567,
        None,
    ),
    (
        "offset-never-back",
        "messages=1 arriving=1 consumers=1 moves=1 recreations=1 from_where=FIRST_OFFSET watch_offsets=1",
        "VIOLATED",
        46,
        75,
        2,
    ),
    (
        "offset-back-recreated",
        "messages=1 arriving=1 consumers=1 moves=1 recreations=1 from_where=FIRST_OFFSET watch_offsets=1",
        "HOLDS",
        46,
        75,
        2,
    ),
    (
        "every-regression-has-a-cause",
        "messages=1 arriving=1 consumers=1 moves=1 recreations=1 from_where=FIRST_OFFSET watch_offsets=1",
        "HOLDS",
        46,
        75,
        None,
    ),
    (
        "offset-sent-by-owner-only",
        "messages=1 arriving=1 consumers=1 moves=1 recreations=1 from_where=FIRST_OFFSET watch_offsets=1",
        "HOLDS",
        46,
        75,
        None,
    ),
    (
        "every-regression-has-a-cause",
        "messages=2 watch_offsets=1 consumers=1 truncations=1 corrections=steps held_updates=1 moves=1",
        "HOLDS",
        522,
        1216,
        None,
    ),
    (
        "offset-sent-by-owner-only",
        "messages=2 watch_offsets=1 consumers=1 truncations=1 corrections=steps held_updates=1 moves=1",
        "HOLDS",
        522,
        1216,
        None,
    ),
    (
        "every-regression-has-a-cause",
        "messages=2 watch_offsets=1 consumers=1 truncations=1 corrections=steps held_updates=1 moves=1 version=4.9.8",
        "HOLDS",
        653,
        1484,
        None,
    ),
    (
        "offset-sent-by-owner-only",
        "messages=2 watch_offsets=1 consumers=1 truncations=1 corrections=steps held_updates=1 moves=1 version=4.9.8",
        "HOLDS",
        653,
        1484,
        None,
    ),
    (
        "every-regression-has-a-cause",
        "messages=2 watch_offsets=1 consumers=1 resets=1 corrections=steps piggyback=1",
        "HOLDS",
        141,
        249,
        None,
    ),
    (
        "offset-sent-by-owner-only",
        "messages=2 watch_offsets=1 consumers=1 resets=1 corrections=steps piggyback=1",
        "HOLDS",
        141,
        249,
        None,
    ),
    (
        "every-regression-has-a-cause",
        "messages=2 consumers=1 moves=1 failed_queries=1 watch_offsets=1",
        "HOLDS",
        108,
        199,
        None,
    ),
    (
        "every-regression-has-a-cause",
        "messages=2 consumers=1 moves=1 failed_queries=1 watch_offsets=1 version=4.9.8 from_where=FIRST_OFFSET",
        "VIOLATED",
        159,
        300,
        7,
    ),
    ("offset-never-past-unfinished", "messages=2 moves=1 crashes=1 held_updates=1", "HOLDS", 8255, 47218, None),
    ("offset-never-past-unfinished", "messages=2 moves=1 crashes=1 slaves=1 fail_overs=1", "HOLDS", 9847, 60466, None),
    (
        "offset-never-past-unfinished",
        "messages=2 consumers=1 moves=1 pulls=fine piggyback=1 broker_restarts=1",
        "HOLDS",
        2263,
        8097,
        None,
    ),
    ("offset-never-past-unfinished", "messages=2 consumers=1 moves=1 failed_queries=1", "HOLDS", 108, 199, None),
    (
        "offset-never-past-unfinished",
        "messages=2 consumers=1 moves=1 failed_queries=1 version=4.9.8 from_where=FIRST_OFFSET",
        "HOLDS",
        144,
        280,
        None,
    ),
    (
        "offset-never-past-unfinished",
        "messages=2 moves=1 crashes=1 retentions=2 retention=consumed corrections=steps late_commits=1",
        "HOLDS",
        18687,
        115895,
        None,
    ),
    (
        "offset-never-past-unfinished",
        "messages=1 arriving=1 consumers=1 moves=1 recreations=1 from_where=FIRST_OFFSET",
        "HOLDS",
        46,
        75,
        None,
    ),
    (
        "offset-never-past-unfinished",
        "messages=2 consumers=1 moves=1 failed_queries=1 version=4.9.8",
        "VIOLATED",
        64,
        109,
        2,
    ),
    ("offset-never-past-unfinished", "messages=2 moves=1 crashes=1 retentions=1", "VIOLATED", 3480, 18950, 3),
    ("offset-never-past-unfinished", "messages=2 consumers=1 removals=1", "VIOLATED", 33, 47, 3),
    ("offset-never-past-unfinished", "messages=2 consumers=1 truncations=1", "VIOLATED", 33, 54, 7),
    ("offset-never-past-unfinished", "messages=1 arriving=1 consumers=1 truncations=1", "VIOLATED", 20, 26, 8),
    (
        "offset-never-past-unfinished",
        "messages=1 resets=1 corrections=steps consumers=1 reset_to=1",
        "VIOLATED",
        20,
        29,
        1,
    ),
    (
        "offset-never-past-unfinished",
        "messages=1 arriving=1 consumers=1 moves=1 recreations=1 from_where=FIRST_OFFSET version=4.9.8",
        "VIOLATED",
        38,
        54,
        8,
    ),
    (
        "offset-never-past-unfinished",
        "messages=1 arriving=1 consumers=1 moves=1 recreations=1 from_where=LAST_OFFSET",
        "VIOLATED",
        51,
        80,
        5,
    ),
    (
        "new-group-starts-where-chosen",
        "messages=2 crashes=1 group=new watch_starts=1 from_where=LAST_OFFSET head_in_memory=0",
        "HOLDS",
        17,
        32,
        None,
    ),
    (
        "offset-safe-from-first-start",
        "messages=2 crashes=1 group=new watch_starts=1 from_where=LAST_OFFSET head_in_memory=0",
        "HOLDS",
        17,
        32,
        None,
    ),
    (
        "offset-never-past-unfinished",
        "messages=2 crashes=1 group=new watch_starts=1 from_where=LAST_OFFSET head_in_memory=0",
        "VIOLATED",
        17,
        32,
        2,
    ),
    (
        "new-group-starts-where-chosen",
        "messages=2 crashes=1 group=new watch_starts=1 from_where=LAST_OFFSET head_in_memory=1",
        "HOLDS",
        766,
        3466,
        None,
    ),
    (
        "offset-safe-from-first-start",
        "messages=2 crashes=1 group=new watch_starts=1 from_where=LAST_OFFSET head_in_memory=1",
        "HOLDS",
        766,
        3466,
        None,
    ),
    (
        "offset-never-past-unfinished",
        "messages=2 crashes=1 group=new watch_starts=1 from_where=LAST_OFFSET head_in_memory=1",
        "HOLDS",
        766,
        3466,
        None,
    ),
    (
        "new-group-starts-at-the-end",
        "messages=2 crashes=1 group=new watch_starts=1 from_where=LAST_OFFSET head_in_memory=1",
        "VIOLATED",
        766,
        3466,
        1,
    ),
    (
        "new-group-starts-where-chosen",
        "messages=2 crashes=1 group=new watch_starts=1 from_where=FIRST_OFFSET head_in_memory=0",
        "HOLDS",
        766,
        3466,
        None,
    ),
    (
        "offset-safe-from-first-start",
        "messages=2 crashes=1 group=new watch_starts=1 from_where=FIRST_OFFSET head_in_memory=0",
        "HOLDS",
        766,
        3466,
        None,
    ),
    (
        "offset-never-past-unfinished",
        "messages=2 crashes=1 group=new watch_starts=1 from_where=FIRST_OFFSET head_in_memory=0",
        "HOLDS",
        766,
        3466,
        None,
    ),
    (
        "new-group-starts-where-chosen",
        "messages=2 crashes=1 group=new watch_starts=1 from_where=FIRST_OFFSET head_in_memory=1",
        "HOLDS",
        766,
        3466,
        None,
    ),
    (
        "offset-safe-from-first-start",
        "messages=2 crashes=1 group=new watch_starts=1 from_where=FIRST_OFFSET head_in_memory=1",
        "HOLDS",
        766,
        3466,
        None,
    ),
    (
        "offset-never-past-unfinished",
        "messages=2 crashes=1 group=new watch_starts=1 from_where=FIRST_OFFSET head_in_memory=1",
        "HOLDS",
        766,
        3466,
        None,
    ),
    (
        "new-group-starts-where-chosen",
        "messages=2 crashes=1 group=new watch_starts=1 from_where=TIMESTAMP head_in_memory=0 timestamp_offset=1",
        "HOLDS",
        106,
        322,
        None,
    ),
    (
        "offset-safe-from-first-start",
        "messages=2 crashes=1 group=new watch_starts=1 from_where=TIMESTAMP head_in_memory=0 timestamp_offset=1",
        "HOLDS",
        106,
        322,
        None,
    ),
    (
        "offset-never-past-unfinished",
        "messages=2 crashes=1 group=new watch_starts=1 from_where=TIMESTAMP head_in_memory=0 timestamp_offset=1",
        "VIOLATED",
        106,
        322,
        2,
    ),
    (
        "new-group-starts-where-chosen",
        "messages=2 crashes=1 group=new watch_starts=1 from_where=TIMESTAMP head_in_memory=1 timestamp_offset=1",
        "HOLDS",
        766,
        3466,
        None,
    ),
    (
        "offset-safe-from-first-start",
        "messages=2 crashes=1 group=new watch_starts=1 from_where=TIMESTAMP head_in_memory=1 timestamp_offset=1",
        "HOLDS",
        766,
        3466,
        None,
    ),
    (
        "offset-never-past-unfinished",
        "messages=2 crashes=1 group=new watch_starts=1 from_where=TIMESTAMP head_in_memory=1 timestamp_offset=1",
        "HOLDS",
        766,
        3466,
        None,
    ),
    (
        "new-group-starts-at-the-end",
        "messages=2 crashes=1 group=new watch_starts=1 from_where=LAST_OFFSET",
        "HOLDS",
        17,
        32,
        None,
    ),
    (
        "retry-queue-from-its-beginning",
        "queues=2 messages=2 retry_room=1 copies=1 failures=1 group=new consumers=1 watch_starts=1 "
        "from_where=LAST_OFFSET head_in_memory=1",
        "HOLDS",
        84,
        173,
        None,
    ),
    (
        "retry-queue-from-its-beginning",
        "queues=2 messages=2 retry_room=1 copies=1 failures=1 group=new consumers=1 watch_starts=1 "
        "from_where=FIRST_OFFSET",
        "HOLDS",
        84,
        173,
        None,
    ),
    (
        "retry-queue-from-its-beginning",
        "queues=2 messages=2 retry_room=1 copies=1 failures=1 group=new consumers=1 watch_starts=1 "
        "from_where=TIMESTAMP",
        "VIOLATED",
        90,
        180,
        8,
    ),
    (
        "offset-never-past-unfinished",
        "queues=2 group=scaled messages=1 arriving=1 consumers=1 head_in_memory=1",
        "HOLDS",
        104,
        240,
        None,
    ),
    (
        "offset-never-past-unfinished",
        "queues=2 group=scaled messages=1 arriving=1 consumers=1 from_where=FIRST_OFFSET starts=steps",
        "HOLDS",
        120,
        280,
        None,
    ),
    (
        "offset-never-past-unfinished",
        "queues=2 group=scaled messages=1 arriving=1 consumers=1 head_in_memory=1 starts=steps version=4.9.8",
        "HOLDS",
        104,
        240,
        None,
    ),
    (
        "offset-never-past-unfinished",
        "queues=2 group=scaled messages=1 arriving=1 consumers=1",
        "VIOLATED",
        120,
        264,
        3,
    ),
    (
        "offset-never-past-unfinished",
        "queues=2 group=scaled messages=1 arriving=1 consumers=1 head_in_memory=1 starts=steps",
        "VIOLATED",
        208,
        472,
        4,
    ),
    ("reset-comes-through", "messages=2 version=4.9.8 resets=1 consumers=1", "HOLDS", 235, 487, None),
    ("reset-pauses-the-client", "messages=2 version=4.9.8 resets=1 consumers=1", "HOLDS", 235, 487, None),
    (
        "offset-never-back",
        "queues=2 group=scaled messages=1 arriving=1 consumers=1 from_where=FIRST_OFFSET starts=steps moves=1 "
        "watch_offsets=1",
        "HOLDS",
        279,
        829,
        None,
    ),
    ("reset-comes-through", "messages=2 resets=2 corrections=steps consumers=1 piggyback=1", "HOLDS", 184, 408, None),
    ("reset-comes-through", "messages=1 version=4.9.8 resets=1 consumers=2", "VIOLATED", 1604, 4616, 12),
    ("reset-comes-through", "messages=2 version=4.9.8 resets=2 consumers=1", "VIOLATED", 976, 2598, 11),
    ("reset-comes-through", "messages=1 version=4.9.8 resets=1 consumers=1 moves=1", "VIOLATED", 116, 203, 8),
    ("reset-comes-through", "messages=1 version=4.9.8 resets=1 consumers=1 late_commits=1", "VIOLATED", 108, 179, 9),
    ("reset-comes-through", "messages=1 version=4.9.8 resets=1 consumers=1 pulls=fine", "VIOLATED", 144, 315, 10),
    ("reset-comes-through", "messages=1 version=4.9.8 resets=1 consumers=1 held_updates=1", "VIOLATED", 108, 165, 10),
    ("reset-comes-through", "messages=1 resets=1 corrections=steps consumers=2 moves=1", "VIOLATED", 582, 1864, 9),
    (
        "reset-comes-through",
        "messages=1 resets=1 corrections=steps consumers=2 crashes=1 overlaps=0 piggyback=1",
        "VIOLATED",
        140,
        327,
        7,
    ),
    (
        "reset-comes-through",
        "messages=1 resets=1 corrections=steps consumers=2 crashes=1 overlaps=0",
        "VIOLATED",
        186,
        509,
        8,
    ),
    ("reset-comes-through", "messages=1 resets=1 corrections=steps consumers=1 late_commits=1", "VIOLATED", 85, 147, 8),
    (
        "reset-comes-through",
        "messages=1 resets=1 corrections=steps consumers=1 held_updates=1 moves=1",
        "VIOLATED",
        251,
        514,
        10,
    ),
    (
        "reset-comes-through",
        "messages=1 resets=1 corrections=steps consumers=1 pulls=fine moves=1",
        "VIOLATED",
        369,
        988,
        12,
    ),
    (
        "counter-counts-the-window",
        "messages=3 consumers=1 moves=1 counters=1 threshold=1 failures=1 refusals=1 batch=2 pull_batch=2",
        "HOLDS",
        322,
        665,
        None,
    ),
    (
        "one-pull-a-window",
        "messages=3 consumers=1 moves=1 counters=1 threshold=1 failures=1 refusals=1 batch=2 pull_batch=2",
        "HOLDS",
        322,
        665,
        None,
    ),
    (
        "one-pull-a-window",
        "messages=2 consumers=1 moves=1 pulls=fine lost_pulls=1 piggyback=1 truncations=1 arriving=1",
        "HOLDS",
        6713,
        24392,
        None,
    ),
    (
        "every-duplicate-has-a-cause",
        "messages=1 consumers=1 moves=1 pulls=fine lost_pulls=1 causes=1",
        "HOLDS",
        209,
        569,
        None,
    ),
    (
        "every-message-is-handled",
        "messages=3 consumers=1 moves=1 counters=1 threshold=1 failures=1 refusals=1 batch=2 pull_batch=2",
        "HOLDS",
        322,
        665,
        None,
    ),
    ("every-message-is-handled", "messages=2 consumers=1 moves=1 pulls=fine lost_pulls=1", "HOLDS", 1007, 3450, None),
    (
        "every-message-is-handled",
        "messages=2 consumers=1 moves=1 pulls=whole lost_pulls=1 idle_limit=0",
        "VIOLATED",
        138,
        275,
        2,
    ),
    ("hung-message-pins-the-offset", "messages=3 moves=1 overlaps=0 hangs=1", "HOLDS", 1162, 2914, None),
    ("progress-is-stored", "messages=2 consumers=1 hangs=1", "VIOLATED", 27, 41, 7),
    ("progress-is-stored", "messages=2 moves=1 crashes=1 held_updates=1", "HOLDS", 7122, 35802, None),
    ("progress-is-stored", "messages=2 consumers=1 moves=1 retentions=1 corrections=steps", "HOLDS", 130, 266, None),
    (
        "progress-is-stored",
        "messages=2 consumers=1 truncations=1 corrections=steps version=4.9.8 held_updates=1",
        "HOLDS",
        92,
        159,
        None,
    ),
    ("progress-is-stored", "messages=2 crashes=1 slaves=1 fail_overs=1", "HOLDS", 2322, 10970, None),
    ("progress-is-stored", "messages=2 consumers=1 resets=1 corrections=steps piggyback=1", "HOLDS", 92, 165, None),
    ("progress-is-stored", "messages=2 consumers=1 moves=1 resets=1 version=4.9.8", "HOLDS", 619, 1417, None),
    ("progress-is-stored", "messages=2 consumers=1 moves=1 pulls=fine piggyback=1", "HOLDS", 341, 904, None),
    ("slave-has-the-offsets", "messages=2 crashes=1 slaves=1 fail_overs=1", "HOLDS", 2929, 14408, None),
    ("slave-serves-an-old-copy", "messages=2 consumers=1 slaves=1 fail_overs=1", "HOLDS", 87, 185, 6),
    (
        "recreated-topic-is-empty",
        "messages=1 arriving=1 consumers=1 moves=1 recreations=1 from_where=FIRST_OFFSET",
        "HOLDS",
        46,
        75,
        2,
    ),
    ("progress-reaches-the-disk", "messages=2 watch_offsets=0 consumers=1 broker_restarts=1", "HOLDS", 50, 98, None),
    (
        "every-message-is-handled",
        "queues=2 group=scaled messages=1 arriving=1 consumers=1 from_where=FIRST_OFFSET starts=steps",
        "HOLDS",
        120,
        280,
        None,
    ),
    ("reset-comes-to-its-end", "messages=1 version=4.9.8 resets=1 consumers=1", "HOLDS", 49, 69, None),
    ("reset-comes-to-its-end", "messages=1 resets=1 corrections=steps consumers=1", "HOLDS", 27, 37, None),
    (
        "foreign-offset-is-forgotten",
        "messages=1 moves=1 held_updates=1 overlaps=0",
        "HOLDS",
        89,
        144,
        None,
    ),
    (
        "corrected-offset-is-remembered",
        "messages=2 consumers=1 truncations=1 corrections=steps version=4.9.8 held_updates=1",
        "HOLDS",
        117,
        218,
        None,
    ),
    (
        "mark-never-back-in-a-window",
        "messages=2 consumers=1 moves=1 pulls=fine lost_pulls=0 piggyback=1 truncations=1 watch_marks=1",
        "HOLDS",
        1640,
        5875,
        None,
    ),
    ("quiet-group-has-no-duplicates", "messages=2 consumers=1 causes=1", "HOLDS", 19, 27, None),
]


ROWS = [
    Row(subject=claim, machine=claim.machine.name, expected=claim.expected, constants=claim.constants)
    for claim in claims()
]


def answers(rows: list[Row]) -> set[tuple[str, str, str, int, int, int | None]]:
    found = set()
    for outcome in run_suite(rows):
        assert outcome.as_expected, outcome.row.id
        result = outcome.result
        text = result.bounds.partition("all ")[2]
        states, transitions = (int(part.split()[0].replace(",", "")) for part in text.split(", ")[:2])
        steps = len(result.run) if result.run is not None else None
        found.add((outcome.row.id, outcome.row.configuration, result.verdict.name, states, transitions, steps))
    return found


def test_each_eighth_claim_has_its_verdict_its_exact_size_and_its_shortest_run() -> None:
    few = ROWS[::8]
    names = {(row.id, row.configuration) for row in few}
    assert answers(few) == {row for row in EXPECTED if row[:2] in names}


@pytest.mark.slow
def test_every_claim_has_its_verdict_its_exact_size_and_its_shortest_run() -> None:
    assert answers(ROWS) == set(EXPECTED)


def test_what_is_false_has_a_lesson() -> None:
    assert [claim.property.id for claim in claims() if (claim.expected is Verdict.VIOLATED) != bool(claim.lesson)] == []


@pytest.mark.slow
def test_every_action_about_offsets_happens() -> None:
    parts = (offsets, first_query, lost_log, pull_expiry, correction, reset, replicas, late_update, hung_listener)
    missing = {name for part in parts for name in part.actions}
    unsearched = {claim.configuration: claim.constants for claim in claim_rows(claims())}
    for constants in unsearched.values():
        configuration = consumption.configure(**constants)
        if missing & configuration.actions():
            taken = explore(configuration, idle_actions_allowed=True).taken
            missing -= {label.partition("(")[0] for label, count in taken.items() if count}
    elsewhere = {"die_while_writing", "lose_file", "persist"}
    assert missing <= elsewhere


MUTANTS: dict[str, tuple[Status, int | None]] = {
    "A10": (Status.KILLED, 4),
    "B1": (Status.KILLED, 7),
    "B2": (Status.KILLED, 10),
    "B3": (Status.KILLED, 13),
    "B4": (Status.KILLED, 7),
    "B5": (Status.EXPLAINED, 6),
    "B6": (Status.KILLED, 8),
    "B9": (Status.KILLED, 10),
    "B10": (Status.KILLED, 5),
    "C5": (Status.KILLED, 9),
    "F1": (Status.KILLED, 10),
    "F4": (Status.KILLED, 7),
    "G1": (Status.KILLED, 3),
    "G2": (Status.EXPLAINED, 1),
}


def test_known_bugs_are_killed_or_explained() -> None:
    known = [entry for entry in entries(claim_rows(claims())) if entry.id in MUTANTS]
    found = {}
    for answer in map(Trials().answer, known):
        run = answer.mutated.run if answer.mutated is not None else None
        found[answer.entry.id] = (answer.status, len(run) if run is not None else None)
    assert found == MUTANTS


def test_random_runs_far_beyond_what_can_be_searched_find_nothing() -> None:
    large = consumption.configure(
        consumers=3,
        queues=2,
        messages=5,
        arriving=2,
        watch_offsets=1,
        moves=3,
        crashes=1,
        restarts=1,
        failures=2,
        late_commits=2,
        lost_commits=1,
        broker_restarts=1,
        leaves=1,
        failed_queries=1,
        retentions=2,
        retention="consumed",
        corrections="steps",
        slaves=1,
        fail_overs=1,
        held_updates=1,
        pulls="fine",
        piggyback=1,
        lost_pulls=1,
    )
    results = simulate(large, (offset_safe, caused, owned_only, one_pull), runs=10, steps=150, seed=1)
    assert [result.verdict for result in results] == [Verdict.UNKNOWN] * 4
