"""Options that the extension reads itself mean what those mean that Python reads."""

import pickle

import pytest
import waybill
from waybill._api import functions


def content():
    return [pickle.PickleBuffer(bytearray(b"abc" * 100)), 1, pickle.PickleBuffer(b"")]


SENT = content()
FORMS = {
    "the callback": lambda dumps, keep: dumps(SENT, buffer_callback=keep),
    "protocol first": lambda dumps, keep: dumps(SENT, 5, buffer_callback=keep),
    "protocol named": lambda dumps, keep: dumps(SENT, protocol=5, buffer_callback=keep),
    "no protocol": lambda dumps, keep: dumps(SENT, None, buffer_callback=keep),
    "the newest": lambda dumps, keep: dumps(SENT, -1, buffer_callback=keep),
    "others": lambda dumps, keep: dumps(SENT, buffer_callback=keep, fix_imports=False),
    "no callback": lambda dumps, keep: dumps(SENT, 5, buffer_callback=None),
    "an old protocol": lambda dumps, keep: dumps(SENT, 2),
}


@pytest.mark.parametrize("form", FORMS)
def test_payload_and_buffers_are_those_of_the_python_way(form):
    buffers, expected = [], []

    data = FORMS[form](waybill.dumps, buffers.append)

    assert data == FORMS[form](functions.dumps_with, expected.append)
    assert buffers == expected
    arrived = waybill.loads(data, buffers=buffers)
    assert [bytes(arrived[0]), arrived[1], bytes(arrived[2])] == [b"abc" * 100, 1, b""]


def test_what_a_callback_answers_decides():
    data = waybill.dumps(SENT, buffer_callback=lambda buffer: True)

    assert data == waybill.dumps(SENT)


@pytest.mark.parametrize(
    ("arguments", "options", "error"),
    [
        ((SENT, 4), {"buffer_callback": print}, ValueError),
        ((SENT,), {"protocol": 4, "buffer_callback": print}, ValueError),
        ((SENT, 5), {"protocol": 5}, TypeError),
        ((SENT, 5, None), {}, TypeError),
        ((SENT,), {"buffers": print}, TypeError),
        ((), {"buffer_callback": print}, TypeError),
        ((SENT,), {"buffer_callback": 5}, TypeError),
    ],
)
def test_what_python_refuses_is_refused(arguments, options, error):
    with pytest.raises(error) as refused:
        waybill.dumps(*arguments, **options)
    with pytest.raises(error) as expected:
        functions.dumps_with(*arguments, **options)

    assert type(refused.value) is type(expected.value)


@pytest.mark.parametrize("protocol", [0, 4, 6, -1, 10**30, -(10**30), True])
def test_any_number_may_be_the_protocol(protocol):
    expected = functions.dumps_with(SENT, protocol)

    assert waybill.dumps(SENT, protocol) == expected
    assert waybill.dumps(SENT, protocol=protocol) == expected


def test_options_of_the_process_count_beside_them():
    waybill.configure(application=b"mark")
    try:
        data = waybill.dumps(SENT, buffer_callback=lambda buffer: None)
    finally:
        waybill.configure(application=None)

    assert b"mark" in data


def test_small_buffers_keep_whether_they_can_be_written_to():
    writable, read_only = bytearray(b"abc"), b"abc"

    arrived = waybill.loads(
        waybill.dumps([pickle.PickleBuffer(writable), pickle.PickleBuffer(read_only)])
    )

    assert [type(each) for each in arrived] == [bytearray, bytes]
    assert arrived == [writable, read_only]


def test_released_buffer_is_refused():
    buffer = pickle.PickleBuffer(b"abc")
    buffer.release()

    with pytest.raises(ValueError, match="released"):
        waybill.dumps(buffer)


def test_small_buffer_with_gaps_is_refused():
    buffer = pickle.PickleBuffer(memoryview(b"abcdef")[::2])

    with pytest.raises(BufferError):
        waybill.dumps(buffer)
