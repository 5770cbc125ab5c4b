"""Long polling (PL-22): a broker holds requests that find nothing, and one thread of the client pulls for all its
queues.

A push consumer only pulls. It is prompt because the broker holds a request at the end of the queue until a message
comes, checks the requests that it holds every 5 s, and returns an empty answer when the time of the request is up. Time
is counted in rounds from check to check: 5 s, or 1 s with short polling, where a new message wakes no request.
Everything that a processor does at once is done within a round; a listener, a pull thread step that hangs, and flow
control may take longer.
"""

from __future__ import annotations

from enum import IntEnum

from .consume_queue import Message
from .kernel import (
    BoolLike,
    Constants,
    Int,
    IntLike,
    Machine,
    State,
    all_of,
    any_of,
    constant,
    ite,
    minimum,
    not_,
    same,
    variable,
)
from .route import Queue


class Request(IntEnum):
    """Where the one request of a queue is (PL-1): with the pull thread or its timer, at the broker, or on the way
    back.
    """

    WAITING = 0
    STEP = 1
    LATER = 2
    SENT = 3
    LOOKED = 4
    HELD = 5
    WOKEN = 6
    FOUND = 7
    FILTERED = 8
    NOTHING = 9


long_polling = Machine(
    "long_polling", doc="One client that pulls from the queues of one broker, which holds requests that find nothing."
)


def _hangs(k: Constants) -> bool:
    return bool(k.hangs)


def _others(k: Constants) -> bool:
    return bool(k.others)


def hold_time(k: Constants) -> int:
    """Rounds for which a request is held; with short polling one, ``shortPollingTimeMills``.

    ``DefaultPullMessageResultHandler#handle``.
    """
    return 1 if k.polling == "short" else int(k.hold)


@long_polling.state
class LongPollingState(State):
    """Requests of a pull thread, and what the broker has for them."""

    queues = constant(1, low=1, high=4, doc="queues that the one pull thread serves")
    messages = constant(2, low=1, doc="messages that may be stored in each queue")
    polling = constant("long", choices=("long", "short"), doc="longPollingEnable of the broker")
    hold = constant(3, low=1, doc="rounds for which a request is held: brokerSuspendMaxTimeMillis, 15 s")
    patience = constant(6, low=1, doc="rounds after which the client gives a request up: 30 s")
    others = constant(0, high=1, doc="1 when messages may have a tag that the client does not want")
    cache = constant(1, doc="pullThresholdForQueue: with more messages in its window a queue is not pulled")
    listener = constant("ends", choices=("ends", "hangs-on-q0"), doc="whether every listener call ends")
    hangs = constant(0, high=1, doc="how often a step of the pull thread may hang")
    hang = constant("ends", choices=("ends", "for-ever"), doc="whether such a step ends")
    watch_steps = constant(0, high=1, doc="1 to keep where each request was before the last step")
    request = variable(Request, Queue)
    stored = variable(Int(0, "messages"), Queue, doc="end of the queue at the broker")
    position = variable(Int(0, "messages"), Queue, doc="where the next pull starts")
    window = variable(Int(0, "messages"), Queue, doc="messages of the queue that the client holds")
    unwanted = variable(bool, Queue, Message, when=_others, doc="it has another tag")
    held = variable(Int(0, lambda k: hold_time(k) + 1), Queue, doc="rounds since the request is held")
    sent = variable(Int(0, "patience"), Queue, doc="rounds since the request was sent")
    late = variable(Int(0, 2), Queue, doc="rounds that a message has waited though nothing hinders its pull")
    passed = variable(bool, Queue, doc="a message came while the request was about to be held")
    hung = variable(bool, when=_hangs, doc="the step of the pull thread does not end")


long_polling.remember("request", when=lambda k: k.watch_steps == 1)


def wanted(s: LongPollingState, q: IntLike, m: IntLike) -> BoolLike:
    """Whether the client subscribes to message ``m`` of ``q``."""
    return not_(s.unwanted[q, m]) if s.others else True


def wants_next(s: LongPollingState, q: IntLike) -> BoolLike:
    """Whether the client subscribes to the message at its position."""
    return s.exists(Message, lambda m: all_of(same(m, s.position[q]), wanted(s, q, m))) if s.others else True


def behind(s: LongPollingState, q: IntLike) -> BoolLike:
    """Whether the broker has messages from the position of the client on."""
    return s.position[q] < s.stored[q]


def busy(s: LongPollingState) -> BoolLike:
    """Whether the pull thread is busy with some queue."""
    return s.exists(Queue, lambda q: s.request[q] == Request.STEP)


# --- the client: one thread, and callbacks --------------------------------------------------------------------------


@long_polling.definition
def thread_free(s: LongPollingState) -> BoolLike:
    """PL-1: the pull thread takes one request after the other (``PullMessageService#run``)."""
    return not_(busy(s))


@long_polling.action(fair=True, tells="the pull thread takes up {q}")
def take(s: LongPollingState, q: Queue) -> None:
    """PL-1."""
    s.require(s.request[q] == Request.WAITING, thread_free(s))
    s.request[q] = Request.STEP


@long_polling.definition
def full(s: LongPollingState, q: IntLike) -> BoolLike:
    """PL-7: whether there are more messages than the threshold; exactly as many do not stop a pull
    (``pullThresholdForQueue``).
    """
    return s.window[q] > s.cache


def _runs(s: LongPollingState) -> BoolLike:
    return not_(s.hung) if s.hangs else True


@long_polling.action(fair=True, tells="the pull thread asks for messages of {q}")
def send(s: LongPollingState, q: Queue) -> None:
    """PL-13: the request goes out, and the thread is free: answers are handled by other threads."""
    s.require(s.request[q] == Request.STEP, _runs(s), not_(full(s, q)))
    s.request[q] = Request.SENT
    s.sent[q] = s.held[q] = s.late[q] = 0
    s.passed[q] = False


@long_polling.definition
def put_off(s: LongPollingState, q: IntLike) -> None:
    """PL-7: the request goes to a timer for 50 ms, and the thread is free (``executePullRequestLater``)."""
    s.request[q] = Request.LATER


@long_polling.action(fair=True, tells="{q} is full, and its pull put off")
def put_off_full(s: LongPollingState, q: Queue) -> None:
    """PL-7: flow control."""
    s.require(s.request[q] == Request.STEP, _runs(s), full(s, q))
    put_off(s, q)


@long_polling.action(fair=True, tells="the pull of {q} is due again")
def again(s: LongPollingState, q: Queue) -> None:
    """PL-7: the timer returns the request to the thread; attempts that find the window still full change nothing."""
    s.require(s.request[q] == Request.LATER, not_(full(s, q)))
    s.request[q] = Request.WAITING


@long_polling.action(budget="hangs", tells="the step of the pull thread for q0 hangs")
def get_stuck(s: LongPollingState) -> None:
    """A call within the step that gets no answer: the route, or the first offset of an orderly queue (PL-11, PL-15).

    ``DefaultMQPushConsumerImpl#pullMessage``, ``PullAPIWrapper#pullKernelImpl``.
    """
    s.require(s.request[0] == Request.STEP, not_(s.hung))
    s.hung = True


@long_polling.action(
    fair=True, tells="the step of the pull thread goes on", when=lambda k: k.hangs and k.hang == "ends"
)
def go_on(s: LongPollingState) -> None:
    """The call is answered, or times out."""
    s.require(s.hung)
    s.hung = False


@long_polling.action(fair=True, tells="messages of {q} come to the client")
def receive_found(s: LongPollingState, q: Queue) -> None:
    """PL-23 FOUND: the callback puts the messages, and the request goes back to the thread."""
    s.require(s.request[q] == Request.FOUND)
    s.position[q] = s.position[q] + 1
    s.window[q] = s.window[q] + 1
    s.request[q] = Request.WAITING


@long_polling.action(fair=True, tells="{q} has only other tags for the client", when=_others)
def receive_filtered(s: LongPollingState, q: Queue) -> None:
    """PL-23 NO_MATCHED_MSG: the position moves behind what was scanned."""
    s.require(s.request[q] == Request.FILTERED)
    s.position[q] = s.position[q] + 1
    s.request[q] = Request.WAITING


@long_polling.action(fair=True, tells="the client hears that there is nothing new in {q}")
def receive_nothing(s: LongPollingState, q: Queue) -> None:
    """PL-23 NO_NEW_MSG: the client asks again at once."""
    s.require(s.request[q] == Request.NOTHING)
    s.request[q] = Request.WAITING


@long_polling.action(fair=True, tells="a listener ends with a message of {q}")
def finish(s: LongPollingState, q: Queue) -> None:
    """A message leaves the window."""
    hangs = same(q, 0) if s.listener == "hangs-on-q0" else False
    s.require(s.window[q] > 0, not_(hangs))
    s.window[q] = s.window[q] - 1


# --- the broker: answer, hold, wake ---------------------------------------------------------------------------------


def _answer_with_messages(s: LongPollingState, q: IntLike) -> None:
    s.request[q] = ite(wants_next(s, q), Request.FOUND, Request.FILTERED)


@long_polling.action(fair=True, tells="the broker finds messages in {q}")
def find(s: LongPollingState, q: Queue) -> None:
    """PL-19: the broker looks for messages for the first time."""
    s.require(s.request[q] == Request.SENT, behind(s, q))
    _answer_with_messages(s, q)


@long_polling.action(fair=True, tells="the broker finds nothing in {q}")
def find_nothing(s: LongPollingState, q: Queue) -> None:
    """PL-22: code 19; the request is not yet in the table that arriving messages are checked against."""
    s.require(s.request[q] == Request.SENT, not_(behind(s, q)))
    s.request[q] = Request.LOOKED


@long_polling.action(fair=True, tells="the broker holds the request for {q}")
def hold(s: LongPollingState, q: Queue) -> None:
    """PL-22: the queue is not checked again, so a message that came since the first look wakes nothing
    (apache/rocketmq#7358).

    ``PullRequestHoldService#suspendPullRequest``.
    """
    s.require(s.request[q] == Request.LOOKED)
    s.request[q] = Request.HELD


@long_polling.definition
def wakes(s: LongPollingState, q: IntLike, is_wanted: BoolLike) -> BoolLike:
    """PL-22: whether a message that arrives wakes a held request: if it may match the filter.

    ``PullRequestHoldService#notifyMessageArriving``; with short polling no request is notified.
    """
    return is_wanted if s.polling == "long" else False


def _arrive(s: LongPollingState, q: IntLike, is_wanted: BoolLike) -> None:
    s.require(s.stored[q] < s.messages)
    s.stored[q] = s.stored[q] + 1
    woken = all_of(s.request[q] == Request.HELD, wakes(s, q, is_wanted))
    s.request[q] = ite(woken, Request.WOKEN, s.request[q])
    s.passed[q] = any_of(s.passed[q], s.request[q] == Request.LOOKED)


@long_polling.action(tells="a message is stored in {q}")
def store(s: LongPollingState, q: Queue) -> None:
    """A producer sends, and the dispatcher notifies held requests
    (``DefaultMessageStore#notifyMessageArriveIfNecessary``).
    """
    _arrive(s, q, True)


@long_polling.action(tells="a message with another tag is stored in {q}", when=_others)
def store_other(s: LongPollingState, q: Queue) -> None:
    """A message that the client does not subscribe to: it wakes no request."""
    s.unwanted[q] = lambda m: any_of(s.unwanted[q, m], same(m, s.stored[q]))
    _arrive(s, q, False)


@long_polling.definition
def is_due(s: LongPollingState, q: IntLike) -> BoolLike:
    """PL-22: whether the check every 5 s wakes a held request: there is a message of any tag, or its time is up.

    ``PullRequestHoldService#checkHoldRequest`` knows no tag, and a filter without a tag lets everything pass.
    """
    return any_of(behind(s, q), s.held[q] >= hold_time(s.constants))


@long_polling.definition
def find_again(s: LongPollingState, q: IntLike) -> None:
    """PL-22: a woken request that finds nothing is answered, and not held again (``executeRequestWhenWakeup``)."""
    s.request[q] = Request.NOTHING


@long_polling.action(fair=True, tells="the broker answers the woken request for {q} with messages")
def answer_woken(s: LongPollingState, q: Queue) -> None:
    """PL-22: the request is processed anew."""
    s.require(s.request[q] == Request.WOKEN, behind(s, q))
    _answer_with_messages(s, q)


@long_polling.action(fair=True, tells="the woken request for {q} finds nothing")
def answer_nothing(s: LongPollingState, q: Queue) -> None:
    """PL-22: its time was up."""
    s.require(s.request[q] == Request.WOKEN, not_(behind(s, q)))
    find_again(s, q)


# --- time -----------------------------------------------------------------------------------------------------------


def at_rest(s: LongPollingState, q: IntLike) -> BoolLike:
    """Whether no processor has anything left to do at once for ``q``."""
    return any_of(
        s.request[q] == Request.HELD,
        all_of(s.request[q] == Request.LATER, full(s, q)),
        all_of(s.request[q] == Request.WAITING, not_(thread_free(s))),
        all_of(s.request[q] == Request.STEP, not_(_runs(s))),
    )


@long_polling.action(fair=True, tells="a round of 5 s ends, and the broker looks at the requests it holds")
def look(s: LongPollingState) -> None:
    """PL-22: ``PullRequestHoldService#run``: every 5 s, or 1 s with short polling.

    Between two checks there is time for everything that is done at once. A request that has been held since after the
    last check has been held for less than a round.
    """
    s.require(s.forall(Queue, lambda q: at_rest(s, q)))

    def older(rounds: IntLike, q: IntLike, most: IntLike) -> IntLike:
        return ite(s.request[q] == Request.HELD, minimum(rounds + 1, most), rounds)

    s.held = lambda q: older(s.held[q], q, hold_time(s.constants) + 1)
    s.sent = lambda q: older(s.sent[q], q, s.patience)
    s.late = lambda q: ite(_could_come(s, q), minimum(s.late[q] + 1, 2), s.late[q])
    s.request = lambda q: ite(all_of(s.request[q] == Request.HELD, is_due(s, q)), Request.WOKEN, s.request[q])


def _could_come(s: LongPollingState, q: IntLike) -> BoolLike:
    """Whether a message that the client wants is stored at or beyond its position, and window and thread admit it."""
    there = behind(s, q)
    if s.others:
        there = s.exists(Message, lambda m: all_of(s.position[q] <= m, m < s.stored[q], wanted(s, q, m)))
    return all_of(there, not_(full(s, q)), _runs(s))


@long_polling.mutant(
    "F9",
    "full-window-holds-the-thread",
    of=put_off,
    killed_by="one-queue-delays-no-other",
    constants={"queues": 2, "messages": 1, "cache": 0, "listener": "hangs-on-q0"},
)
def wait_for_room(s: LongPollingState, q: IntLike) -> None:
    """The thread waits for room in the window of one queue, and meanwhile pulls for no queue.

    This happens if messages go to a bounded channel that blocks: apache/rocketmq-client-go#904.
    """


@long_polling.mutant(
    "F11-untold",
    "arrival-wakes-nobody",
    of=wakes,
    killed_by="message-wakes-held-request",
)
def arrival_wakes_nobody(s: LongPollingState, q: IntLike, is_wanted: BoolLike) -> BoolLike:
    """Held requests are found only by the check every 5 s, as in long polling without its listener for arrivals."""
    return False


@long_polling.mutant(
    "F11-unseen",
    "look-forgets-messages",
    of=is_due,
    killed_by="message-waits-one-round-at-most",
)
def only_time(s: LongPollingState, q: IntLike) -> BoolLike:
    """The check considers only the time: a message that came while a request was about to be held has to wait with
    it.
    """
    return s.held[q] >= hold_time(s.constants)


@long_polling.mutant(
    "F10-silent",
    "silent-queue-is-never-answered",
    of=is_due,
    killed_by="held-request-is-answered-in-time",
)
def only_messages(s: LongPollingState, q: IntLike) -> BoolLike:
    """The check ignores the time: a request at the end of a silent queue is never answered."""
    return behind(s, q)


@long_polling.mutant(
    "F10-again",
    "woken-request-is-held-again",
    of=find_again,
    killed_by="held-request-is-answered-in-time",
)
def hold_again(s: LongPollingState, q: IntLike) -> None:
    """A woken request may be held again, with a new time, although its client has given it up by then."""
    s.request[q] = Request.LOOKED


long_polling.misconfiguration(
    "F10",
    "request-held-beyond-its-time-out",
    killed_by="held-request-is-answered-in-time",
    sets={"hold": 6},
    doc="The broker holds a request as long as the client waits for an answer, so the client gives up what is still "
    "held. apache/rocketmq-clients#98, where the client then waited longer than it asked the broker to.",
)


long_polling.explanation(
    "F11",
    "message-missed-before-hold",
    naive="message-never-waits",
    exact="message-waits-one-round-at-most",
    doc="A message that comes between the look of the broker and the moment in which it holds the request wakes nobody "
    "(apache/rocketmq#7358). The look every 5 s finds it, so it is late, and not lost.",
)
