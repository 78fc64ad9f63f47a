"""What json makes in C travels by its options; and what answers for everything."""

import json
import unittest.mock

import fresh_process
import pytest
import waybill
from sources import define


@pytest.mark.parametrize(
    "options, text",
    [
        ({}, '[1, {"a": 2.5}, NaN]'),
        ({"strict": False}, '"\t"'),
        ({"parse_float": str, "parse_int": float}, "[1, 2.5]"),
        ({"object_hook": dict.items}, '{"a": 2}'),
        ({"object_pairs_hook": list}, '{"a": 2}'),
        ({"parse_constant": str.lower}, "[NaN, Infinity]"),
    ],
)
def test_a_decoder_arrives(options, text):
    decoder = json.JSONDecoder(**options)

    there = fresh_process.send(decoder, f"repr(value.decode({text!r}))")

    assert there == repr(decoder.decode(text))


def test_a_decoder_that_calls_functions_of_ones_own_arrives():
    source = """
import json
class Own(json.JSONDecoder):
    def __init__(self): super().__init__(object_hook=self.read)
    def read(self, found): return sorted(found), type(self).__name__
value = Own()
"""

    there = fresh_process.send(define(source).value, "value.decode('{\"a\": 1}')")

    assert there == (["a"], "Own")


@pytest.mark.parametrize("allow_nan", [True, False])
def test_an_encoder_arrives(allow_nan):
    encode = json.encoder.c_make_encoder(
        *({}, repr, json.encoder.c_encode_basestring_ascii, None),
        *("=", ";", True, False, allow_nan),
    )

    there = fresh_process.send(encode, "''.join(value({'b': 1, 'a': 1j}, 0))")

    assert there == '{"a"="1j";"b"=1}'
    nan = "''.join(value(float('nan'), 0))"
    if allow_nan:
        assert fresh_process.send(encode, nan) == "NaN"
    else:
        with pytest.raises(fresh_process.FreshProcessError, match="ValueError"):
            fresh_process.send(encode, nan)


def test_what_answers_for_everything_by_its_state_arrives():
    there = fresh_process.send(unittest.mock.call.a(1), "tuple(value), repr(value)")

    assert there == (("a", (1,), {}), "call.a(1)")


def test_unittest_mock_arrives_by_value():
    payload = waybill.dumps(
        unittest.mock.MagicMock, by_value=[unittest.mock], replace="fresh"
    )
    program = """
made = value(x=3)
made.a.b(4)
answer = made.x, len(made), made.a.b.call_count
"""

    there = fresh_process.execute("value = waybill.loads(data)\n" + program, payload)

    assert there == (3, 0, 1)


def test_a_setstate_that_itself_recurses_is_an_error():
    source = """
class C:
    def __init__(self): self.x = 1
    @property
    def __setstate__(self): return self.__setstate__
value = C()
"""

    with pytest.raises(fresh_process.FreshProcessError, match="RecursionError"):
        fresh_process.send(define(source).value, "value.x")
