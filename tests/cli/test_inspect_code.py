"""`waybill inspect --code`: instructions, compared with what `dis` says."""

import dis
import importlib
import json
import types
from pathlib import Path

import command
import pytest
import waybill
from command import needs_binary

GOLDEN = Path(__file__).parents[1] / "golden" / "v1"

pytestmark = needs_binary

MODULES = ["argparse", "ast", "asyncio.tasks", "contextlib", "enum", "json"]
MODULES += ["collections", "dataclasses", "email.message", "fractions"]
MODULES += ["logging", "pickle", "statistics", "tarfile", "typing", "zipfile"]


def run(*arguments, data):
    ended = command.run("inspect", "-", *arguments, data=data)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.decode()


def bodies(function):
    return json.loads(run("--code", "--json", data=waybill.dumps(function)))["code"]


def functions_of(name):
    """Functions of a module as if __main__ had them, so that they go by value."""
    module = importlib.import_module(name)
    for value in list(vars(module).values()):
        members = vars(value).values() if isinstance(value, type) else [value]
        for member in members:
            if isinstance(member, types.FunctionType) and member.__module__ == name:
                yield types.FunctionType(
                    member.__code__,
                    {"__name__": "__main__"},
                    closure=tuple(
                        types.CellType(None) for _ in member.__code__.co_freevars
                    )
                    or None,
                )


def nested(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from nested(constant)


def told_by_dis(code):
    """(offset of the first unit, opcode, argument, line) of each instruction."""
    start, rows = None, []
    lines = {}
    for first, last, line in code.co_lines():
        lines.update(dict.fromkeys(range(first, last, 2), line))
    for instruction in dis.get_instructions(code):
        if instruction.opname == "CACHE":
            continue
        if start is None:
            start = instruction.offset
        if instruction.opname != "EXTENDED_ARG":
            row = (start, instruction.opname, instruction.arg, lines.get(start))
            rows.append(row)
            start = None
    return rows


def told_by_us(body):
    return [
        (row["offset"], row["opcode"], row.get("argument"), row.get("line"))
        for row in body["instructions"]
    ]


@pytest.mark.parametrize("name", MODULES)
def test_instructions_are_those_that_dis_tells(name):
    functions = list(functions_of(name))
    assert functions

    found = {
        body["qualified_name"]: told_by_us(body)
        for body in bodies(functions)
        if "error" not in body
    }

    codes = [code for function in functions for code in nested(function.__code__)]
    expected = {code.co_qualname: told_by_dis(code) for code in codes}
    # Where functions share a name, either will do.
    everything = [told_by_dis(code) for code in codes]
    assert found.keys() == expected.keys()
    assert all(rows in everything for rows in found.values())


def sample(a, items):
    try:
        for item in items:
            if item + a <= 10:
                print(item, "ten")
    finally:
        del a


def body_of(function):
    function.__module__ = "__main__"
    return {body["name"]: body for body in bodies(function)}[function.__name__]


def meanings(body):
    return {(row["opcode"], row.get("meaning")) for row in body["instructions"]}


def test_arguments_are_told_by_what_they_mean():
    body = body_of(sample)

    found = meanings(body)
    assert {what for opcode, what in found if opcode == "LOAD_GLOBAL"} == {
        "print + NULL"
    }
    assert {("BINARY_OP", "+"), ("COMPARE_OP", "<=")} <= found
    assert "'ten'" in {
        what for opcode, what in found if opcode.startswith("LOAD_CONST")
    }
    assert any(what and "items" in what for _, what in found)


# Those that `dis` spells as waybill does.
NAMED = {"MAKE_FUNCTION", "SET_FUNCTION_ATTRIBUTE", "CALL_INTRINSIC_1", "FORMAT_VALUE"}
NAMED |= {"CALL_INTRINSIC_2", "LOAD_SPECIAL", "CONVERT_VALUE"}


@pytest.mark.once
def test_flags_and_choices_are_named_as_dis_names_them():
    functions = [f for name in MODULES for f in functions_of(name)]
    codes = [code for function in functions for code in nested(function.__code__)]

    found = {what for body in bodies(functions) for what in meanings(body)}

    expected = {
        (i.opname, i.argrepr or None)
        for code in codes
        for i in dis.get_instructions(code)
        if i.opname in NAMED
    }
    assert any(what and "closure" in what for _, what in expected)
    assert {row for row in found if row[0] in NAMED} == expected


def test_operators_that_are_words_are_told():
    def compare(a, b):
        return a is not b, a not in b

    found = meanings(body_of(compare))

    assert {("IS_OP", "is not"), ("CONTAINS_OP", "not in")} <= found


@pytest.mark.once
def test_null_of_calls_is_spelled_alike_in_all_versions():
    seen = set()
    for file in sorted(GOLDEN.rglob("*.waybill")):
        report = json.loads(run("--code", "--json", data=file.read_bytes()))
        for body in report["code"]:
            seen |= {r["meaning"] for r in body["instructions"] if r.get("meaning")}

    told = {what.partition(" + ")[2] for what in seen if "NULL" in what}
    assert told == {"NULL", "NULL|self"}


def test_jumps_lead_to_instructions():
    body = body_of(sample)

    offsets = {row["offset"] for row in body["instructions"]}
    targets = {r["target"] for r in body["instructions"] if "target" in r}
    assert targets
    assert targets <= offsets


@pytest.mark.skipif(
    not hasattr(dis, "_parse_exception_table"), reason="dis does not tell"
)
def test_exception_table_is_the_one_that_dis_tells():
    body = body_of(sample)

    assert [
        (e["start"], e["end"], e["target"], e["depth"], e["lasti"])
        for e in body["exception_entries"]
    ] == [tuple(entry) for entry in dis._parse_exception_table(sample.__code__)]


def test_free_variables_have_names():
    seed = 3

    def grow(x):
        return x + seed

    assert "seed" in {what for _, what in meanings(body_of(grow))}


def test_file_and_line_come_from_the_notes():
    body = body_of(sample)

    assert body["file"] == sample.__code__.co_filename
    assert body["first_line"] == sample.__code__.co_firstlineno


def test_without_the_option_there_are_no_instructions():
    report = json.loads(run("--json", data=waybill.dumps(sample)))

    assert all("instructions" not in body for body in report["code"])


def test_text_has_a_line_for_each_instruction():
    sample.__module__ = "__main__"

    text = run("--disassemble", data=waybill.dumps(sample))

    for offset, opcode, _, line in told_by_dis(sample.__code__):
        assert any(
            words[:2] == [str(offset), opcode]
            or words[:3] == [str(line), str(offset), opcode]
            for words in map(str.split, text.splitlines())
        )
    assert "exception table" in text
    assert not any(row.endswith(" ") for row in text.splitlines())


def test_code_of_other_pythons_is_disassembled_without_them():
    seen = set()
    for file in sorted(GOLDEN.rglob("*.waybill")):
        report = json.loads(run("--code", "--json", data=file.read_bytes()))
        for body in report["code"]:
            names = [row["opcode"] for row in body["instructions"]]
            assert "unreadable" not in body
            assert "RESUME" in names
            seen.add(report["python"]["minor"])
    if not seen:
        pytest.skip("no golden payload has code")
