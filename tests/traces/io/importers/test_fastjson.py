"""fastjson's dialect: keys without quotes."""

import pytest

from rocketproof.traces.io.importers import fastjson


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"offsetTable":{"t@g":{0:12,1:5}}}', {"offsetTable": {"t@g": {"0": 12, "1": 5}}}),
        ("{\n\t3 : 10,\n\t-1:4\n}", {"3": 10, "-1": 4}),
        ('{{"queueId":1,"topic":"t"}:7}', {'{"queueId": 1, "topic": "t"}': 7}),
        ('{"a":"{0:1}, 5:6 and \\"7:8","b":[1,{2:3}]}', {"a": '{0:1}, 5:6 and "7:8', "b": [1, {"2": 3}]}),
        ('{"t%:1@g":{}}', {"t%:1@g": {}}),
        ("{}", {}),
    ],
)
def test_what_is_read(text, value):
    assert fastjson.loads(text) == value


@pytest.mark.parametrize("text", ["", "{0:12", '{"a":}', "{'a':1}"])
def test_what_is_no_json_at_all(text):
    with pytest.raises(ValueError, match="line 1"):
        fastjson.loads(text)
