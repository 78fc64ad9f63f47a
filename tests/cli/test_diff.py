"""`waybill diff`: says why two payloads differ, in one line first."""

import json

import command
import pytest
import waybill
from command import needs_binary
from diffs import changes, define, diff, run, summary

__all__ = ["diff"]  # A fixture.

pytestmark = needs_binary


def test_equal_payloads_end_with_0(tmp_path):
    data = waybill.dumps([1, 2])

    ended = run(tmp_path, data, data)

    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "equal\n", "")


def test_different_payloads_end_with_6_and_begin_with_why(tmp_path):
    ended = run(tmp_path, waybill.dumps([1, {"x": 2}]), waybill.dumps([1, {"x": 3}]))

    assert ended.returncode == 6
    assert ended.stdout.splitlines()[0] == "differ in: the value at obj[1]['x']"
    assert "- 2" in ended.stdout and "+ 3" in ended.stdout
    assert "\033" not in ended.stdout


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (1, 2, [("changed", "obj", "1", "2")]),
        (1, 1.0, [("changed", "obj", "1", "1.0")]),
        ([1, 2, 3], [1, 3], [("removed", "obj[1]", "2", None)]),
        ([1, 3], [1, 2, 3], [("added", "obj[1]", None, "2")]),
        ((1, "a"), (1, "b"), [("changed", "obj[1]", "'a'", "'b'")]),
        (
            {"a": 1},
            {"b": 1},
            [("removed", "obj['a']", "1", None), ("added", "obj['b']", None, "1")],
        ),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, [("order", "obj", None, None)]),
        (
            {1, 2},
            {2, 3},
            [
                ("removed", "obj<element 0>", "1", None),
                ("added", "obj<element 1>", None, "3"),
            ],
        ),
        ([[[0]]], [[[None]]], [("changed", "obj[0][0][0]", "0", "None")]),
        ([b"\0a'"], [2**70], [("changed", "obj[0]", "b'\\x00a\\''", hex(2**70))]),
        ([-(2**70)], [True], [("changed", "obj[0]", hex(-(2**70)), "True")]),
        ({"k": (1,)}, {"k": [1]}, [("changed", "obj['k']", "(1,)", "[1]")]),
    ],
)
def test_values_are_told_by_path(diff, one, other, expected):
    assert changes(diff(one, other)) == expected


BEGIN = "x" * 40


@pytest.mark.parametrize(
    ("one", "other", "index", "old", "new"),
    [
        (
            "x" * 200 + "a",
            "x" * 200 + "b",
            200,
            f"'…{BEGIN}a' (201 characters)",
            f"'…{BEGIN}b' (201 characters)",
        ),
        (
            "ä" * 200 + "ö" + "y" * 99,
            "ä" * 200 + "ü",
            200,
            f"'…{'ä' * 20}ö{'y' * 38}…' (300 characters)",
            f"'…{'ä' * 20}ü' (201 characters)",
        ),
        (
            "x" * 100,
            "x" * 101,
            100,
            f"'…{BEGIN}' (100 characters)",
            f"'…{BEGIN}x' (101 characters)",
        ),
        (
            b"x" * 200 + b"'",
            b"x" * 200 + b"\0" * 2,
            200,
            f"b'…{BEGIN}\\'' (201 bytes)",
            f"b'…{BEGIN}\\x00\\x00' (202 bytes)",
        ),
        (
            bytearray(32) + b"\4",
            bytearray(32) + b"\t",
            32,
            f"bytearray(b'{chr(92)}x00" + r"\x00" * 31 + r"\x04') (33 bytes)",
            f"bytearray(b'{chr(92)}x00" + r"\x00" * 31 + r"\x09') (33 bytes)",
        ),
    ],
    ids=["text", "no ASCII", "longer", "bytes", "bytearray"],
)
def test_long_values_are_shown_where_they_differ(diff, one, other, index, old, new):
    [row] = diff([one], [other])["payload"]["items"]

    assert (row["index"], row["old"], row["new"]) == (index, old, new)


def test_index_of_a_difference_is_told(tmp_path):
    ended = run(tmp_path, waybill.dumps("x" * 90 + "a"), waybill.dumps("x" * 90 + "b"))

    assert "  ~ obj  from index 90 on\n" in ended.stdout


def test_values_that_would_look_the_same_are_said_to_differ(diff):
    [row] = diff([2**1000], [2**1000 + 1])["payload"]["items"]

    assert row["old"] == "<int of 126 bytes>"
    assert row["new"] == "<int of 126 bytes> (differs beyond what is shown)"


def test_short_values_are_shown_whole(diff):
    [row] = diff(["x" * 70 + "a"], ["x" * 70 + "b"])["payload"]["items"]

    assert "index" not in row and row["new"] == repr("x" * 70 + "b")


def test_lines_alone_are_the_same_content(diff):
    source = "def f(x):\n    return x"

    found = diff(define(source), define(source, line=4))

    assert summary(found) == "line numbers only"
    [row] = found["locations"]["items"]
    assert (row["name"], row["old_line"], row["new_line"]) == ("f", 1, 5)


def test_files_alone_are_the_same_content(diff):
    source = "def f(x):\n    return x"

    assert (
        summary(diff(define(source), define(source, file="b.py"))) == "file names only"
    )


@pytest.mark.parametrize(
    ("one", "other", "part"),
    [
        ("return x + 1001", "return x + 1002", "constants"),
        ("return a.b(x)", "return a.c(x)", "names"),
        ("y = x; return y", "z = x; return z", "variables"),
        ("return x + 7.5", "return x - 7.5", "instructions"),
    ],
)
def test_code_says_which_part_differs(diff, one, other, part):
    found = diff(define(f"def f(x): {one}"), define(f"def f(x): {other}"))

    assert summary(found) == f"code of f: {part}"
    assert found["payload"]["count"] == 0


def test_first_instruction_that_differs_is_shown(diff):
    found = diff(define("def f(x): return x + 1"), define("def f(x): return x - 1"))

    [row] = found["code"]["items"]
    assert row["old_instruction"]["text"].endswith("(+)")
    assert row["new_instruction"]["text"].endswith("(-)")
    assert row["old_instruction"]["offset"] == row["new_instruction"]["offset"]


def test_changed_nested_code_is_named_and_not_what_holds_it(diff):
    source = "def f():\n    def g(): return {}\n    return g"

    found = diff(define(source.format("'a'")), define(source.format("'b'")))

    assert summary(found) == "code of f.<locals>.g: constants"
    assert [r["parts"] for r in found["code"]["items"] if r["name"] == "f"] == [
        ["nested code"]
    ]


def test_code_of_another_name_is_new(diff):
    one = define("def f(x): return x")
    other = define("def g(x): return x + 1\nf = g")

    found = diff(one, other)

    expected = {("removed", "f"), ("added", "g")}
    assert {(r["change"], r["name"]) for r in found["code"]["items"]} == expected


def test_imports_are_compared(diff):
    import colorsys
    import string

    found = diff(
        define("def f(): return m", m=colorsys), define("def f(): return m", m=string)
    )

    expected = {("removed", "colorsys"), ("added", "string")}
    assert {(r["change"], r["module"]) for r in found["imports"]["items"]} == expected


def test_signature_and_application_field_are_compared(diff):
    key = waybill.security.SigningKey.generate()

    assert summary(diff([1], waybill.dumps([1], key=key))) == "the signature"
    assert summary(diff([1], waybill.dumps([1], application=b"x"))) == (
        "the application field"
    )


def test_application_fields_are_shown_where_they_differ(diff):
    payloads = [waybill.dumps(1, application=b"\0" * 20 + end) for end in (b"\1", b"")]

    [row] = diff(*payloads)["header"]

    assert (row["index"], row["old"]) == (20, "…" + "00" * 8 + "01")
    assert row["new"] == "…" + "00" * 8


def test_signature_tells_the_keys(diff):
    one, other = (
        waybill.security.SigningKey.generate(),
        waybill.security.SigningKey.generate("mac"),
    )
    payloads = [waybill.dumps([1]), *(waybill.dumps([1], key=k) for k in (one, other))]

    found = [diff(payloads[0], payloads[1]), diff(payloads[1], payloads[2])]

    keys = [f"ed25519 key {one.id}", f"mac key {other.id}"]
    expected = [{"old": "not signed", "new": keys[0]}, {"old": keys[0], "new": keys[1]}]
    assert [each["signatures"] for each in found] == expected


def test_signatures_of_one_key_are_told_once(tmp_path):
    key = waybill.security.SigningKey.generate()

    ended = run(tmp_path, *(waybill.dumps(i, key=key) for i in range(2)))

    assert f"\nsignature\n  ~ both: ed25519 key {key.id}\n" in ended.stdout


def test_no_signatures_are_told_where_they_are_equal(diff):
    key = waybill.security.SigningKey.generate()
    payload = waybill.dumps([1], key=key)

    assert "signatures" not in diff(payload, payload)
    assert "signatures" not in diff([1], [2])


def test_what_is_not_shown_is_counted(diff):
    found = diff(list(range(100)), list(range(1, 101))[::-1], "--items", "3")

    assert len(found["payload"]["items"]) == 3
    assert found["payload"]["count"] > 90
    assert "more values" in found["summary"]


def test_sharing_alone_is_a_difference_of_values(diff):
    one = [1]

    assert changes(diff([one, one], [[1], [1]]))


def test_deep_payloads_are_walked_without_recursion(diff):
    def deep(value, depth=200_000):
        for _ in range(depth):
            value = [value]
        return waybill.dumps(value)

    [(_, path, old, new)] = changes(diff(deep(1), deep(2)))

    assert path.startswith("…[0]")
    assert (old, new) == ("1", "2")


LAMBDAS = "def make(n):\n  if n: return lambda: 11\n  return lambda: 12\n"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("[make(0), make(1)]", "[make(1), make(0)]"),
        ("{'a': make(0), 'b': make(1)}", "{'a': make(1), 'b': make(0)}"),
        ("[lambda: 11, lambda: 12]", "[lambda: 12, lambda: 11]"),
        ("[make(0), make(1)]", "[make(0), make(0)]"),
    ],
)
def test_functions_of_one_name_that_trade_places_are_told(diff, one, other):
    found = diff(define(f"{LAMBDAS}f = {one}"), define(f"{LAMBDAS}f = {other}"))

    assert found["payload"]["count"] > 0
    assert "different code of the same name" in json.dumps(found["payload"])
    assert "only" not in summary(found) and summary(found).startswith(("the", "code"))


def test_nested_functions_that_trade_places_are_told(diff):
    found = diff(
        define("def f(): return (lambda: 1), (lambda: 2)"),
        define("def f(): return (lambda: 2), (lambda: 1)"),
    )

    assert "code of f: which nested code" in summary(found)
    assert "only" not in summary(found)


def test_constants_that_differ_behind_what_is_shown_have_no_other_order(diff):
    found = diff(
        define(f"def f(): return {'x' * 100 + 'a'!r}"),
        define(f"def f(): return {'x' * 100 + 'b'!r}"),
    )

    [row] = found["code"]["items"]
    assert row["details"] == ["constants: differ beyond what is shown"]


def test_cycles_are_equal_whatever_else_is_shared(diff):
    def cycle():
        found = [0]
        found.append(found)
        return found

    shared = []
    found = diff([[shared, shared], cycle()], [[[], 1], cycle()])

    assert not [path for _, path, _, _ in changes(found) if path.startswith("obj[1]")]


def test_lines_of_a_second_use_of_one_body_are_told(diff):
    source = "def f(x): return x"

    found = diff(
        [define(source), define(source, line=3)],
        [define(source), define(source, line=7)],
    )

    assert summary(found) == "line numbers only"


def test_json_does_not_steer_the_terminal(tmp_path):
    hostile = "\x7f\x9b31m\u202e\u2066\u061c"
    define_it = define("def f(): return g", **{"g": hostile})
    one, other = (
        waybill.dumps([define_it, hostile]),
        waybill.dumps([{hostile: hostile}]),
    )

    compared = run(tmp_path, one, other, "--json")
    told = command.run("inspect", "--json", tmp_path / "a", text=True)

    for text in compared.stdout, told.stdout:
        assert json.loads(text)
        assert not set(hostile) - set("31m") & set(text)
