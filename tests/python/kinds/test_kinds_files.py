"""Files and handlers of logging."""

import io
import logging
import pickle
import sys
import tempfile

import fresh_process
import pytest
import waybill
from sources import define


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "file.txt"
    file.write_text("first\nsécond\nthird\n", encoding="utf-8")
    return file


def test_text_file_is_read_on_from_its_position(path):
    with open(path, encoding="utf-8") as file:
        file.readline()
        file.readline()
        payload = waybill.dumps(file)
        rest = file.read()

    assert rest == "third\n"
    expression = "value.name, value.read(), value.getvalue()"
    expected = (str(path), "third\n", "first\nsécond\nthird\n")
    assert fresh_process.load(payload, expression) == expected


@pytest.mark.parametrize("mode", ["rb", "r+b"])
@pytest.mark.parametrize("buffering", [0, 100])
def test_binary_file_is_read_on_from_its_position(path, mode, buffering):
    with open(path, mode, buffering) as file:
        file.read(6)
        payload = waybill.dumps(file)
        assert file.tell() == 6

    assert fresh_process.load(payload, "value.tell(), value.read(2)") == (6, b"s\xc3")


def test_temporary_file_arrives():
    with tempfile.NamedTemporaryFile("w+") as file:
        file.write("text")

        assert fresh_process.send(file, "value.getvalue(), value.tell()") == ("text", 4)


def refused(file, message):
    with pytest.raises(waybill.EncodeError) as caught:
        waybill.dumps(file)
    cause = caught.value.__cause__
    assert isinstance(cause, pickle.PicklingError)
    assert str(cause).startswith(message)


@pytest.mark.parametrize("mode", ["w", "a", "wb", "ab"])
def test_file_for_writing_is_refused(path, mode):
    with open(path, mode) as file:
        refused(file, "Cannot pickle files that are not opened for reading")


@pytest.mark.parametrize("mode", ["r", "rb", "w"])
def test_closed_file_is_refused(path, mode):
    with open(path, mode) as file:
        pass

    refused(file, "Cannot pickle closed files")


def test_terminal_is_refused():
    try:
        import pty

        descriptor = pty.openpty()[1]
    except (ImportError, OSError):
        pytest.skip("no terminals here")

    with open(descriptor) as file:
        refused(file, "Cannot pickle files that map to tty objects")


@pytest.mark.parametrize("name", ["__stdout__", "__stderr__"])
def test_standard_stream_is_that_of_the_receiver(name):
    answer = fresh_process.send(getattr(sys, name), f"value is sys.{name}")

    assert answer is True


def test_standard_input_is_refused():
    refused(sys.__stdin__, "Cannot pickle standard input")


# ---- logging


@pytest.mark.parametrize(
    "made, expression, expected",
    [
        ("logging.getLogger('a.b')", "value.name", "a.b"),
        ("logging.getLogger()", "value is __import__('logging').root", True),
        ("logging.LoggerAdapter(logging.getLogger('x'), {'a': 1})", "value.extra",
         {"a": 1}),
        ("logging.Formatter('%(name)s')", "value._fmt", "%(name)s"),
        ("logging.Filter('a')", "value.name", "a"),
        ("logging.NullHandler(5)", "value.level, value.lock", (5, None)),
        ("logging.lastResort", "value is __import__('logging').lastResort", True),
        ("logging.StreamHandler(sys.__stderr__)", "value.stream is sys.__stderr__",
         True),
    ],
)  # fmt: skip
def test_object_of_logging_arrives(made, expression, expected):
    value = define(f"import logging, sys\nvalue = {made}").value

    assert fresh_process.send(value, expression) == expected


def test_handler_has_a_lock_and_works():
    handler = logging.StreamHandler(io.StringIO())
    handler.setFormatter(logging.Formatter("<%(message)s>"))
    program = """[
        value.acquire(), value.release(),
        value.emit(__import__('logging').LogRecord('n', 1, 'f', 1, 'text', (), None)),
        value.stream.getvalue(),
    ][-1]"""

    assert fresh_process.send(handler, program) == "<text>\n"


def test_file_handler_writes_on_to_its_file(tmp_path):
    path = tmp_path / "log"
    handler = logging.FileHandler(path, "w")
    handler.emit(logging.LogRecord("n", 1, "f", 1, "here", (), None))
    program = """[
        value.emit(__import__('logging').LogRecord('n', 1, 'f', 1, 'there', (), None)),
        value.close(),
    ]"""

    fresh_process.send(handler, program)
    handler.close()

    assert path.read_text() == "here\nthere\n"
