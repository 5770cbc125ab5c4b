"""Patterns of messages in which fields have their names."""

import pytest

from rocketproof.traces.io.importers.message_text import fields_in, text_pattern

MQ = "MessageQueue [topic=Orders, brokerName=a-0, queueId=3]"


@pytest.mark.parametrize(
    ("pattern", "text", "fields"),
    [
        ("group=<group>, client=<client>", "group=a b, client=c d", {"group": "a b", "client": "c"}),
        (r"consumer\[<group>\] of <topic>@", "consumer[a,b] of t@x@", {"group": "a,b", "topic": "t"}),
        ("from <offset> to <next>", "from -1 to 17", {"offset": -1, "next": 17}),
        ("mq=(?:null|<mq>)", f"mq={MQ}", {"topic": "Orders", "broker": "a-0", "queue": 3}),
        ("mq=(?:null|<mq>)", "mq=null", {}),
        ("key=<key>, x", "key=null, x", {}),
        (r"(?P<detail>\w+) of <attempt>", "failure of 2", {"detail": "failure", "attempt": 2}),
    ],
)
def test_a_field_ends_where_the_text_goes_on(pattern, text, fields):
    found = text_pattern(pattern).search(text)
    assert found is not None
    assert fields_in(found) == fields


def test_a_queue_of_pop_has_no_id():
    assert text_pattern("<mq>").search(MQ.replace("3", "-1")) is None
