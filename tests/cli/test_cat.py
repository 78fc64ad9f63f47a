"""`waybill cat`: plain data as JSON, and everything else refused."""

import base64
import functools
import json
import os
import subprocess
from pathlib import Path

import command
import pytest
import waybill
from command import BINARY, error_of, needs_binary
from terminals import open_terminal, read_until_closed

pytestmark = needs_binary


run = functools.partial(command.run, "cat")


def cat(value, *arguments):
    """What the command makes of a value, as a reader of JSON has it."""
    result = run("-", *arguments, data=waybill.dumps(value))
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def untagged(value):
    """The value again, as docs/cli.md says it is to be read."""
    if isinstance(value, list):
        return [untagged(item) for item in value]
    if not isinstance(value, dict):
        return value
    if not any(name.startswith("$") for name in value):
        return {name: untagged(item) for name, item in value.items()}
    ((tag, content),) = value.items()
    binary = {
        "$bytes": bytes,
        "$bytearray": bytearray,
        "$text": lambda data: data.decode("utf-8", "surrogatepass"),
    }
    if tag in binary:
        return binary[tag](base64.b64decode(content))
    if tag == "$constant":
        return {"ellipsis": ..., "not_implemented": NotImplemented}[content]
    items = {
        "$tuple": tuple,
        "$set": set,
        "$frozenset": frozenset,
        "$slice": lambda items: slice(*items),
        "$range": lambda items: range(*items),
        "$complex": lambda parts: complex(*parts),
        "$dict": dict,
    }
    if tag in items:
        return items[tag](untagged(content))
    return {"$int": int, "$float": float}[tag](content)


VALUES = [
    None,
    {"run": 7, "ok": True, "energies": [0.5, -1.0, 1e300], "name": "ä中😀\n\x1b"},
    [2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1, -(10**40), 2**1000],
    [float("inf"), float("-inf"), 1 - 2j, complex(float("inf"), -0.0)],
    (1, (2, ()), [3, ()]),
    # Nothing whose order in a set could be another one in the next process.
    [{1, 2}, {"x"}, {(1, 2)}, frozenset({frozenset({3})}), set()],
    [b"", b"\0\xff" * 50, bytearray(b"abc")],
    {1: "int", "1": "str", (1, 2): "tuple", None: [], b"k": {}, 2.5: 0},
    {"$tuple": [1], "nested": {"$": 1}},
    ["\udc80", {"\ud800": 1}],
    [slice(1, None, (2,)), range(0, 10, -3), ..., NotImplemented],
]


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_nothing_is_lost(value):
    assert repr(untagged(cat(value, "--json"))) == repr(value)


def test_golden_data_is_read():
    folder = Path(__file__).parents[1] / "golden/v1"
    for path in sorted(folder.glob("data-*.waybill")):
        result = run(path, "--json")
        assert result.returncode == 0, result.stderr
        expected = waybill.loads(path.read_bytes())
        assert untagged(json.loads(result.stdout)) == expected


def test_what_is_shared_is_written_each_time():
    inner = ["x" * 100]

    assert cat([inner, inner, inner[0]]) == [inner, inner, inner[0]]


def test_indent_is_chosen():
    data = waybill.dumps({"a": [1]})

    assert run("-", data=data).stdout == b'{\n  "a": [\n    1\n  ]\n}\n'
    assert run("-", "--indent", "-1", data=data).stdout == b'{"a":[1]}\n'
    assert run("-", "--indent", "1", data=data).stdout.count(b"\n  1\n") == 1
    assert run("-", "--indent", "-2", data=data).returncode == 1


def test_loose_form_takes_what_is_nearest():
    value = {"t": (1, {2}), 3: b"\xff", None: 2**70, "f": float("nan")}

    expected = {"t": [1, [2]], "3": "/w==", "null": str(2**70), "f": None}
    assert cat(value, "--loose") == expected


@pytest.mark.parametrize("value", [{(1,): 2}, {1: 2, "1": 3}])
def test_loose_form_refuses_what_it_would_mix_up(value):
    result = run("-", "--loose", "--json", data=waybill.dumps(value))

    assert result.returncode == 3
    assert error_of(result)["code"] == "refused"


class Instance:
    pass


def loop():
    items = [1]
    items.append(items)
    return items


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (lambda: 1, "a node function"),
        ([1, Instance()], "a node new_object"),
        ([json], "a module"),
        ([len], "a node global"),
        (loop(), "a cycle"),
    ],
    ids=["function", "instance", "module", "global", "cycle"],
)
def test_what_is_no_plain_data_ends_with_3_and_is_named(value, words):
    data = waybill.dumps(value)

    result = run("-", "--json", data=data)

    assert result.returncode == 3
    error = error_of(result)
    assert error["code"] == "refused"
    assert words in error["detail"]
    assert 0 < error["offset"] < len(data)
    assert result.stderr.startswith(b"waybill: refused at byte ")


def test_without_json_errors_stay_off_stdout():
    result = run("-", data=waybill.dumps(len))

    assert (result.returncode, result.stdout) == (3, b"")


def test_bombs_are_refused():
    level = ["lol"] * 10
    for _ in range(20):
        level = [level] * 10

    result = run("-", "--json", data=waybill.dumps(level))

    assert result.returncode == 2
    assert error_of(result)["code"] == "limit_exceeded"


def test_signature_is_demanded_where_keys_are_given(tmp_path):
    key = waybill.security.SigningKey.generate()
    public = tmp_path / "sender.pub"
    public.write_text(key.public_text)
    data = waybill.dumps([1], key=key)

    by_file = run("-", "--key", public, data=data)
    by_name = run("-", "--key-env", "K", data=data, env={"K": key.public_text})
    unsigned = run("-", "--key", public, "--json", data=waybill.dumps([1]))

    assert by_file.stdout == by_name.stdout == b"[\n  1\n]\n"
    assert unsigned.returncode == 4
    assert error_of(unsigned)["code"] == "bad_signature"
    assert run("-", "--key", tmp_path / "absent", data=data).returncode == 4


def on_a_terminal(*arguments, data, env):
    """What the command writes to a terminal."""
    master, terminal = open_terminal()
    with subprocess.Popen(
        [BINARY, "cat", "-", *arguments],
        stdin=subprocess.PIPE,
        stdout=terminal,
        env={**os.environ, **env},
    ) as process:
        os.close(terminal)
        process.stdin.write(data)
        process.stdin.close()
        written = read_until_closed(master)
    os.close(master)
    return written


def test_colours_are_for_terminals_only():
    data = waybill.dumps({"a": 1})
    plain = run("-", data=data).stdout
    wants = {"NO_COLOR": ""}

    assert b"\x1b" not in plain
    assert b"\x1b[36m" in on_a_terminal(data=data, env=wants)
    for arguments, env in [
        (("--no-colours",), wants),
        (("--json",), wants),
        ((), {"NO_COLOR": "1"}),
    ]:
        written = on_a_terminal(*arguments, data=data, env=env)
        assert written.replace(b"\r\n", b"\n") == plain


def test_json_that_is_far_larger_than_the_payload_is_refused():
    value = [0] * 40_000
    for _ in range(500):
        value = [value]

    ended = run("--indent", "16", "-", data=waybill.dumps(value))

    assert (ended.returncode, ended.stdout) == (2, b"")
    assert b"max_bytes" in ended.stderr
