"""What is refused before a compiler sees it; no hostile text crashes the process."""

import pytest
import source_package
from fresh_process import run_script
from waybill._source.compiling import compile_unit
from waybill._source.nesting import (
    MAX_BLOCKS,
    MAX_BRACKETS,
    MAX_DEPTH,
    MAX_INDENTS,
    nesting_problem,
)
from waybill._source.units import DEF, LAMBDA, Unit, UnitError

PLAIN = Unit(DEF, "def f(): pass", "f", "f", None, 0, 0, 0, 0, (), (), ())


def returning(expression):
    return f"def f():\n return {expression}\n"


def nested(before, inside, after, n):
    return returning(before * n + inside + after * n)


#: Texts that nest in each way that there is.
DEEP = {
    "brackets": lambda n: nested("(", "1", ")", n),
    "lists": lambda n: nested("[", "", "]", n),
    "calls": lambda n: nested("f(", "", ")", n),
    "open": lambda n: nested("f(", "", "", n),
    "braces": lambda n: nested("{1:", "1", "}", n),
    "minus": lambda n: nested("-", "x", "", n),
    "not": lambda n: nested("not ", "x", "", n),
    "power": lambda n: nested("x**", "x", "", n),
    "sum": lambda n: nested("", "x", "+x", n),
    "attributes": lambda n: nested("", "x", ".a", n),
    "called": lambda n: nested("", "x", "()", n),
    "called with two": lambda n: nested("", "x", "(a, b)", n),
    "subscripts": lambda n: nested("", "x", "[0]", n),
    "conditions": lambda n: nested("x if x else ", "x", "", n),
    "lambdas": lambda n: nested("lambda:", "x", "", n),
    "lambdas of two": lambda n: nested("lambda a, b:", "x", "", n),
    "lambdas in defaults": lambda n: nested("lambda x=", "1", ":1", n),
    "clauses": lambda n: returning("[x" + " for x, y in z" * n + "]"),
    "comprehensions": lambda n: nested("[", "x", " for x in y]", n),
    "comprehensions in front": lambda n: nested("[x for x in ", "y", "]", n),
    "names": lambda n: f"def f():\n import a{'.a' * n}\n",
    "otherwise": lambda n: "def f():\n if x: pass\n" + " elif x: pass\n" * n,
    "strings": lambda n: nested('f"{', "1", '}"', n),
    "formats": lambda n: returning("f'{x" + ":{x" * n + "}" * n + "}'"),
    "patterns": lambda n: f"def f():\n match x:\n  case {'[' * n}{']' * n}: pass\n",
    "indents": lambda n: (
        "def f():\n"
        + "".join(f"{' ' * (i + 1)}if x:\n" for i in range(n))
        + " " * (n + 2)
        + "pass\n"
    ),
}

_PROGRAM = """
import sys, threading
sys.path.insert(0, sys.argv[1])
import source_package
from waybill._source.compiling import compile_unit
from waybill._source.units import Unit, UnitError
def run():
    text = sys.stdin.read()
    unit = Unit(0, text, "f", "f", None, 0, 0, 0, 0, (), (), ())
    try: compile_unit(unit, "f", 1)
    except SyntaxError: print("SyntaxError")
    except UnitError: print("UnitError")
    else: print("compiled")
threading.stack_size(512 << 10)
thread = threading.Thread(target=run)
thread.start()
thread.join()
"""


def outcome(text):
    """What becomes of a text in a thread with little stack."""
    folder = source_package.__file__[:-18]
    return run_script(_PROGRAM, folder, given=text).strip()


@pytest.mark.once
@pytest.mark.parametrize("size", [18, 95, 1900, 40_000])
@pytest.mark.parametrize("shape", DEEP)
def test_deep_text_is_compiled_or_refused_and_never_crashes(shape, size):
    # Indents are as long as they are deep.
    text = DEEP[shape](min(size, 1900) if shape == "indents" else size)

    assert outcome(text) in ("compiled", "SyntaxError", "UnitError")


@pytest.mark.parametrize("shape", DEEP)
def test_each_way_to_nest_is_bounded(shape):
    assert nesting_problem(DEEP[shape](2100 if shape == "indents" else 5000), False)


@pytest.mark.parametrize("shape", DEEP)
def test_what_people_write_is_within_the_bounds(shape):
    assert not nesting_problem(DEEP[shape](12), False)


@pytest.mark.parametrize("blocks", ["for a in b:", "try:", "with a, b:", "while a:"])
def test_comprehension_in_too_many_blocks_is_refused(blocks):
    weight = {"try:": 2, "with a, b:": 2}.get(blocks, 1)
    count = MAX_BLOCKS // weight

    def text(n):
        lines = [f"{' ' * (i + 1)}{blocks}\n" for i in range(n)]
        return "def f():\n" + "".join(lines) + " " * (n + 2) + "[x for x in y]\n"

    assert "blocks" in nesting_problem(text(count), False)
    assert not nesting_problem(text(count - 1), False)


def test_long_table_of_lambdas_and_many_statements_are_no_nesting():
    table = ",\n".join(f"{n}: lambda a, b: a + b * {n}" for n in range(2000))
    lines = "".join(
        f" if a:\n  b[{n}] = (-a.b(c) + {n}, [d for d in e])\n" for n in range(2000)
    )

    assert not nesting_problem(returning("{" + table + "}"), False)
    assert not nesting_problem(f"def f():\n{lines}", False)


@pytest.mark.parametrize(
    "text", ["'('", '"["', "'''[\n'''", '"""]"""', "r'\\''", "'\\'['", "x"]
)
def test_comprehension_is_seen_whatever_text_is_around_it(text):
    items = ",".join(["a"] * MAX_BLOCKS)
    inside = f"def f():\n with {text}, {items}, [x for x in y]: pass\n"
    without = f"def f():\n with {items}:\n  for b in {text}: pass\n"

    assert "blocks" in nesting_problem(inside, False)
    assert not nesting_problem(without, False)


def test_line_that_is_too_long_to_be_read_is_refused():
    assert "characters" in nesting_problem(returning("x+" * 9000 + "x"), False)
    assert not nesting_problem(returning(repr("x" * 200_000)), False)


def test_bounds_are_those_that_the_text_tells():
    summed = returning("(x" + "\n+x" * MAX_DEPTH + ")")
    assert "operators" in nesting_problem(summed, False)
    assert "brackets" in nesting_problem(
        DEEP["lists"](MAX_BRACKETS + 1) + " x()\n" * MAX_DEPTH, False
    )
    assert "indents" in nesting_problem(
        DEEP["indents"](MAX_INDENTS + 1) + "\n" + " x=1\n" * MAX_DEPTH, False
    )


def test_number_with_many_digits_is_refused():
    assert "digits" in nesting_problem(returning("1" * 5000), False)


@pytest.mark.parametrize(
    "fields",
    [
        {"kind": 9},
        {"kind": -1},
        {"text": "def f(): '\0'"},
        {"text": "def f(): '\ud800'"},
        {"text": "def f(): pass #" + "x" * (1 << 20)},
        {"name": "f(): pass\nimport os\ndef g"},
        {"name": ""},
        {"name": "class"},
        {"qualified_name": "a\ud800"},
        {"qualified_name": "a" * 100_000},
        {"class_name": "C: pass\nimport os\nclass D"},
        {"class_name": "None"},
        {"free_names": ("a)",)},
        {"free_names": ("__debug__",)},
        {"free_names": ("a",) * 10_001},
        {"imports": ("os\nimport sys",)},
        {"imports": ("a.b",)},
        {"futures": ("braces",)},
        {"futures": ("a" * 5000,)},
        {"flags": 16},
        {"flags": -1},
        {"optimization": 3},
        {"optimization": -1},
        {"decorator_lines": -1},
        {"decorator_lines": 1 << 30},
        {"column": -1},
        {"column": 1 << 30},
    ],
    ids=lambda fields: f"{fields}"[:40].encode("ascii", "replace").decode(),
)
def test_fields_that_no_unit_has_are_refused(fields):
    with pytest.raises(UnitError):
        compile_unit(PLAIN._replace(**fields), "f", 1)


@pytest.mark.parametrize("line", [0, -1, 1 << 31])
def test_lines_that_no_file_has_are_refused(line):
    with pytest.raises(UnitError, match="begins at line"):
        compile_unit(PLAIN, "f", line)


def test_text_that_leaves_its_place_gives_no_other_code():
    text = "lambda: 0)\ndef f(): pass\n(lambda: 1"
    escaping = PLAIN._replace(kind=LAMBDA, text=text, name="<lambda>")

    assert compile_unit(escaping, "f", 1).co_name == "<lambda>"
