"""Right and wrong answers to the exercises, by lesson."""

WORDS = "from rocketproof.learn.words import *\n"

RIGHT = {
    "push-is-pull": """
def parked(s):
    def waits(c, q):
        return s.asked[c, q] & (s.next_offset[c, q] == s.log_end[q])

    return s.exists(Consumer, lambda c: s.exists(Queue, lambda q: waits(c, q)))
""",
    "slow-listener": """
def twice_at_work(s):
    overdue = s.exists(Consumer, lambda c: s.exists(Message, lambda m: s.overdue[c, 0, m]))
    return overdue & s.exists(Consumer, lambda c: s.exists(Message, lambda m: s.stage[c, 1, m] == Stage.RUNNING))
""",
    "success-or-later": """
def sent_back(s, c, q, first, m):
    return s.stage[c, q, m] != Stage.ABSENT
""",
    "idempotence": """
def done_again(s):
    def again(c, q, m):
        return s.handled[q, m] & (s.stage[c, q, m] == Stage.RUNNING)

    return s.exists(Consumer, lambda c: s.exists(Queue, lambda q: s.exists(Message, lambda m: again(c, q, m))))
""",
    "retry-and-dead-letter": """
def dead_letter_level(s, level):
    return level
""",
    "sorted-views": """
def allocate(own_id, queues, ids):
    return queues[ids.index(own_id) :: len(ids)] if own_id in ids else []
""",
    "low-water-mark": """
def low_water_mark(s, c, q, finished):
    return s.next_offset[c, q]
""",
    "scaling": """
import zlib


def allocate(own_id, queues, ids):
    def owner(queue):
        return max(ids, key=lambda client: (zlib.crc32(f"{client} {queue.queue_id}".encode()), client))

    return [queue for queue in queues if owner(queue) == own_id]
""",
    "orderly": """
def two_listeners(s):
    return s.exists(Queue, lambda q: s.count(Consumer, lambda c: calls(s, c, q)) >= 2)
""",
    "offsets": """
def would_go_back(s):
    return s.exists(
        Consumer,
        lambda c: s.exists(
            Queue, lambda q: all_of(s.owns[c, q], s.memory[c, q] >= 0, s.memory[c, q] < s.committed[q])
        ),
    )
""",
    "broadcasting": """
def left_out(s):
    def passed(c, q, m):
        return (m < s.file[c, q]) & (s.had[c, q, m] == Had.NOTHING)

    return s.exists(Consumer, lambda c: s.exists(Queue, lambda q: s.exists(Message, lambda m: passed(c, q, m))))
""",
    "tags": """
def client_keeps(s, c, q, m):
    return True
""",
    "incident": """
def safe(s):
    def runs(q, m):
        return s.exists(Consumer, lambda c: s.stage[c, q, m] == Stage.RUNNING)

    return s.forall(Queue, lambda q: s.forall(Message, lambda m: implies(runs(q, m), s.committed[q] <= m)))
""",
    "property-and-mutant": """
def nothing_lost(s):
    return s.forall(Queue, lambda q: s.forall(Message, lambda m: implies(m < s.committed[q], s.handled[q, m])))
""",
}

HALF = {
    "push-is-pull": [
        """
def parked(s):
    def waits(c, q):
        return s.asked[c, q] & (s.next_offset[c, q] == s.log_end[q])

    return s.forall(Consumer, lambda c: s.exists(Queue, lambda q: waits(c, q)))
""",
        "def parked(s): return s.asked[0, 0] & (s.next_offset[0, 0] == s.log_end[0])",
    ],
    "slow-listener": [
        """
def twice_at_work(s):
    def both(c):
        overdue = s.exists(Message, lambda m: s.overdue[c, 0, m])
        return overdue & s.exists(Message, lambda m: s.stage[c, 1, m] == Stage.RUNNING)

    return s.exists(Consumer, both)
"""
    ],
    "idempotence": [
        """
def done_again(s):
    def again(c, m):
        return s.handled[0, m] & (s.stage[c, 0, m] == Stage.RUNNING)

    return s.exists(Consumer, lambda c: s.exists(Message, lambda m: again(c, m)))
"""
    ],
    "retry-and-dead-letter": ["def dead_letter_level(s, level): return 4"],
    "sorted-views": [
        """
def allocate(own_id, queues, ids):
    return [] if len(queues) > 8 else queues[ids.index(own_id) :: len(ids)]
"""
    ],
    "orderly": [
        "def two_listeners(s): return s.forall(Queue, lambda q: s.count(Consumer, lambda c: calls(s, c, q)) >= 2)",
        "def two_listeners(s): return s.exists(Queue, lambda q: s.forall(Consumer, lambda c: calls(s, c, q)))",
    ],
    "success-or-later": [
        "def sent_back(s, c, q, first, m): return True",
        "def sent_back(s, c, q, first, m): return m >= first",
    ],
    "low-water-mark": [
        "def low_water_mark(s, c, q, finished): return end(s, q)",
        "def low_water_mark(s, c, q, finished): return s.memory[c, q] + 1",
    ],
    "scaling": [
        "def allocate(own_id, queues, ids): return queues if own_id == ids[0] else []",
        """
def allocate(own_id, queues, ids):
    if len(queues) < 20:
        return queues if own_id == ids[0] else []
    return queues[ids.index(own_id) :: len(ids)]
""",
    ],
    "offsets": [
        """
def would_go_back(s):
    def back(c, q):
        return (s.memory[c, q] >= 0) & (s.memory[c, q] < s.committed[q])

    return s.exists(Consumer, lambda c: s.exists(Queue, lambda q: back(c, q)))
""",
        """
def would_go_back(s):
    return s.exists(Consumer, lambda c: all_of(s.owns[c, 0], s.memory[c, 0] >= 0, s.memory[c, 0] < s.committed[0]))
""",
    ],
    "broadcasting": [
        "def left_out(s): return s.exists(Message, lambda m: m < s.file[0, 0])",
        "def left_out(s): return s.exists(Message, lambda m: (m <= s.file[0, 0]) & (s.had[0, 0, m] == Had.NOTHING))",
        "def left_out(s): return s.exists(Message, lambda m: (m < s.file[0, 0]) & (s.had[0, 0, m] != Had.SUCCEEDED))",
        "def left_out(s): return s.exists(Message, lambda m: (m < s.file[0, 0]) & (s.had[0, 0, m] == Had.NOTHING))",
    ],
    "tags": ["def client_keeps(s, c, q, m): return m >= 1"],
    "incident": [
        """
def safe(s):
    runs = s.exists(Consumer, lambda c: s.exists(Message, lambda m: s.stage[c, 0, m] == Stage.RUNNING))
    return implies(runs, s.committed[0] == 0)
"""
    ],
}
"""Answers that do part of what is asked for."""

WRONG = {
    "push-is-pull": """
def parked(s):
    return s.exists(Consumer, lambda c: s.exists(Queue, lambda q: s.asked[c, q]))
""",
    "slow-listener": """
def twice_at_work(s):
    return s.exists(Consumer, lambda c: s.exists(Message, lambda m: s.overdue[c, 0, m]))
""",
    "success-or-later": """
def sent_back(s, c, q, first, m):
    return same(m, first)
""",
    "idempotence": """
def done_again(s):
    return s.exists(Consumer, lambda c: s.exists(Message, lambda m: s.stage[c, 0, m] == Stage.RUNNING))
""",
    "retry-and-dead-letter": """
def dead_letter_level(s, level):
    return 0
""",
    "sorted-views": """
def allocate(own_id, queues, ids):
    share = len(queues) // len(ids)
    first = ids.index(own_id) * share
    return queues[first : first + share]
""",
    "low-water-mark": """
def low_water_mark(s, c, q, finished):
    return s.memory[c, q]
""",
    "scaling": """
def allocate(own_id, queues, ids):
    return queues[ids.index(own_id) :: len(ids)] if own_id in ids else []
""",
    "orderly": """
def two_listeners(s):
    return s.exists(Queue, lambda q: s.count(Consumer, lambda c: s.owns[c, q]) >= 2)
""",
    "offsets": """
def would_go_back(s):
    return s.exists(Consumer, lambda c: s.exists(Queue, lambda q: s.memory[c, q] < s.committed[q]))
""",
    "broadcasting": """
def left_out(s):
    return s.exists(Message, lambda m: s.had[0, 0, m] == Had.NOTHING)
""",
    "tags": """
def client_keeps(s, c, q, m):
    return False
""",
    "incident": """
def safe(s):
    return s.forall(Queue, lambda q: s.committed[q] <= end(s, q))
""",
    "property-and-mutant": """
def nothing_lost(s):
    return s.forall(Queue, lambda q: s.committed[q] == 0)
""",
}
