"""What has a unit, and what has none, and why."""

import linecache
import os
import subprocess
import sys
import types

import pytest
import source_package
from waybill._source.code_equality import has_same_columns, is_same
from waybill._source.compiling import compile_unit
from waybill._source.proving import prove
from waybill._source.units import (
    DEF,
    ITERABLE_COROUTINE,
    LAMBDA,
    NAMES_SUPER,
    NESTED,
    Unit,
)


def load(tmp_path, text, name="module.py"):
    """The module of a file with that text."""
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    module = types.ModuleType("module")
    exec(compile(path.read_bytes(), str(path), "exec", 0, True), vars(module))
    return module


def proven(function):
    """The unit of a function, which compiles to its code."""
    unit = prove(function.__code__)
    assert isinstance(unit, Unit), unit
    code = function.__code__
    made = compile_unit(unit, code.co_filename, code.co_firstlineno)
    assert is_same(made, code)
    return unit


def in_process(program, *options, stdin=None):
    start = f"import sys; sys.path.insert(0, {str(source_package.__file__)!r}[:-18])\n"
    start += "import source_package; from waybill._source.proving import prove\n"
    # As text of -c, or as typed.
    command = [sys.executable, *options, *([] if stdin else ["-c", start + program])]
    done = subprocess.run(
        command,
        input=start + program if stdin else None,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_unit_of_a_def_is_its_text_without_decorators(tmp_path):
    text = "import functools\n@functools.cache\n# Why.\ndef f(a):\n    return a # b\n"

    unit = proven(load(tmp_path, text).f.__wrapped__)

    assert unit.kind == DEF
    assert unit.text == "def f(a):\n    return a # b"
    assert (unit.name, unit.qualified_name, unit.decorator_lines) == ("f", "f", 2)


def test_unit_of_a_lambda_is_its_slice(tmp_path):
    unit = proven(load(tmp_path, 'ä = "ö", lambda x: "ü"\n').ä[1])

    assert (unit.kind, unit.text, unit.column) == (LAMBDA, 'lambda x: "ü"', 11)


@pytest.mark.parametrize("index", [0, 1, 2])
def test_equal_lambdas_on_a_line_are_told_apart_by_columns(tmp_path, index):
    module = load(tmp_path, "f = [lambda: x, lambda : x, lambda  : x]\n")
    code = module.f[index].__code__

    unit = prove(code)
    made = compile_unit(unit, "f", 1)

    assert unit.text == ["lambda: x", "lambda : x", "lambda  : x"][index]
    assert has_same_columns(made, code)


@pytest.mark.parametrize(
    "data",
    [
        b"# coding: latin-1\ndef f(): return '\xe4'\n",
        b"\xef\xbb\xbfdef f(): return '\xc3\xa4'\n",
        b"def f():\r\n    return '''a\r\nb'''\r\n",
        b"def f():\r    return 1\r",
        b"\x0cif 1:\n  \x0c  def f():\n\x0c    return 1\n",
        b"if 1:\n\tdef f():\n\t\tif 1:\n\t\t\treturn 1\n",
        b"if 1:\n def f():\n  return 1",
        b"def f(): return '\\\n'",
        b"def \\\n  f(a=\n1): return a",
    ],
    ids=["cookie", "mark", "crlf", "cr", "form feed", "tabs", "space", "bare", "line"],
)
def test_encodings_line_ends_and_indents_of_files_do_not_matter(tmp_path, data):
    assert proven(load(tmp_path, data).f).kind == DEF


@pytest.mark.parametrize(
    "text, why",
    [
        ("def f(): return 2\n", "the file has changed since"),
        ("\n\ndef f(): return 1\n", "does not have this function at line 1"),
        ("def f(: return 1\n", "module.py does not parse"),
    ],
    ids=["edited", "moved", "spoiled"],
)
def test_changed_file_gives_no_unit_and_says_so(tmp_path, text, why):
    module = load(tmp_path, "def f(): return 1\n")
    assert proven(module.f)

    (tmp_path / "module.py").write_text(text)

    assert why in prove(module.f.__code__)


def test_file_that_is_edited_back_gives_the_unit_again(tmp_path):
    module = load(tmp_path, "def f(): return 1\n")
    (tmp_path / "module.py").write_text("def f(): return 2\n")
    assert isinstance(prove(module.f.__code__), str)

    (tmp_path / "module.py").write_text("def f(): return 1\n")

    assert proven(module.f)


def test_missing_file_is_named(tmp_path):
    module = load(tmp_path, "def f(): return 1\n")
    (tmp_path / "module.py").unlink()

    assert prove(module.f.__code__) == (
        f"its file {tmp_path}/module.py is not on this machine"
    )


def test_code_of_exec_has_no_file():
    scope = {}
    exec(compile("def f(): return 1", "<nowhere>", "exec"), scope)

    assert "made by exec or eval" in prove(scope["f"].__code__)


def test_code_of_a_cell_is_found_in_linecache():
    name, text = "<cell 1>", "def f():\n    return 1\n"
    linecache.cache[name] = len(text), None, text.splitlines(True), name
    scope = {}
    exec(compile(text, name, "exec"), scope)

    assert proven(scope["f"]).text == "def f():\n    return 1"

    del linecache.cache[name]
    assert isinstance(prove(scope["f"].__code__), str)


def test_code_that_was_replaced_is_proven_by_its_own_place(tmp_path):
    module = load(tmp_path, "def f(): return 1\ndef g(): return 2\n")
    module.f.__code__ = module.g.__code__

    assert proven(module.f).name == "g"


@pytest.mark.parametrize(
    "changes",
    [
        {"co_name": "g"},
        {"co_consts": (None, 5)},
        {"co_flags": 0x103},
        {"co_stacksize": 9},
    ],
    ids=str,
)
def test_code_that_was_changed_has_no_unit(tmp_path, changes):
    code = load(tmp_path, "def f(): return [1, 's']\n").f.__code__

    changed = code.replace(**changes)

    assert isinstance(prove(code), Unit)
    if "co_flags" not in changes:
        assert isinstance(prove(changed), str)


def test_constants_of_other_types_and_signs_are_told_apart(tmp_path):
    code = load(tmp_path, "def f(): return 1, 0.0, (True, -0.0)\n").f.__code__
    swapped = [k for k in code.co_consts if type(k) is tuple]

    for constant in swapped:
        other = (
            tuple(map(float, map(str, (1, 0, 1)))) if len(constant) == 3 else (1, 0.0)
        )
        changed = tuple(other if k is constant else k for k in code.co_consts)
        assert not is_same(code.replace(co_consts=changed), code)


def test_awaitable_generator_keeps_its_flag(tmp_path):
    text = "import types\n@types.coroutine\ndef f():\n    yield\n"

    unit = proven(load(tmp_path, text).f)

    assert unit.flags & ITERABLE_COROUTINE


def test_module_that_names_super_is_told(tmp_path):
    text = "class C:\n def f(self): return super().f()\n"

    without = proven(load(tmp_path, text, "a.py").C.f)
    named = proven(load(tmp_path, f"{text}super\n", "b.py").C.f)

    assert not without.flags & NAMES_SUPER
    assert named.flags & NAMES_SUPER


def test_imports_that_a_function_names_are_told(tmp_path):
    text = "import os.path, json as j\ndef f(os): return os.sep, j.dumps\n"

    assert proven(load(tmp_path, text).f).imports == ("j", "os")


def test_function_that_is_nested_has_its_free_names(tmp_path):
    text = "def o(a):\n def f(b):\n  return a + b\n return f\n"

    unit = proven(load(tmp_path, text).o(1))

    assert (unit.free_names, unit.flags) == (("a",), NESTED)


def test_features_are_told_by_name(tmp_path):
    text = "from __future__ import annotations\ndef f(a: int): return a\n"

    assert proven(load(tmp_path, text).f).futures == ("annotations",)


def test_code_that_ran_and_is_traced_is_proven(tmp_path):
    module = load(tmp_path, "def f(n):\n    return sum(i.real for i in range(n))\n")
    for n in range(100):
        module.f(n)
    before = sys.gettrace()
    sys.settrace(lambda *_: None)
    try:
        module.f(3)
        assert proven(module.f)
    finally:
        sys.settrace(before)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="sys.monitoring is new in 3.12")
def test_code_that_is_monitored_is_proven(tmp_path):
    module = load(tmp_path, "def f(n):\n    for i in range(n):\n        n += 1\n")
    events = sys.monitoring.events
    sys.monitoring.use_tool_id(4, "test")
    try:
        everything = events.LINE | events.INSTRUCTION | events.CALL | events.JUMP
        sys.monitoring.set_local_events(4, module.f.__code__, everything)
        module.f(3)
        assert proven(module.f)
    finally:
        sys.monitoring.set_local_events(4, module.f.__code__, 0)
        sys.monitoring.free_tool_id(4)


@pytest.mark.parametrize("option", ["-O", "-OO"])
def test_optimized_code_has_the_level_where_it_matters(tmp_path, option):
    path = tmp_path / "optimized.py"
    path.write_text('def f(a):\n "doc"\n assert a\n return a\ndef g(): return 1\n')
    program = f"""
sys.path.insert(0, {str(tmp_path)!r}); import optimized
print(*(prove(g.__code__).optimization for g in (optimized.f, optimized.g)))
"""

    assert in_process(program, option) == f"{len(option) - 1} 0"


def test_code_of_another_level_than_this_process_is_proven(tmp_path):
    path = tmp_path / "module.py"
    path.write_text("def f(a):\n assert a\n return __debug__\n")
    scope = {}
    exec(compile(path.read_bytes(), str(path), "exec", optimize=1), scope)

    assert proven(scope["f"]).optimization == 1


def test_code_without_columns_is_proven(tmp_path):
    path = tmp_path / "plain.py"
    path.write_text("f = lambda: 1, lambda: 2\ndef g(): return 1\n")
    program = f"""
sys.path.insert(0, {str(tmp_path)!r}); import plain
print(prove(plain.f[1].__code__).text, prove(plain.g.__code__).text)
"""

    assert in_process(program, "-X", "no_debug_ranges") == "lambda: 2 def g(): return 1"


def test_text_after_the_option_c_is_found():
    program = "def f():\n    return 1\nprint(prove(f.__code__).text)"

    assert in_process(program) == "def f():\n    return 1"


def test_what_was_typed_at_a_plain_prompt_has_no_source():
    program = "def f(): return 1\n\nprint(prove(f.__code__))"

    assert "keeps no source" in in_process(program, stdin=True)


def test_code_of_a_class_body_is_refused(tmp_path):
    path = tmp_path / "module.py"
    path.write_text("class C:\n    a = 1\n")
    module = compile(path.read_bytes(), str(path), "exec")

    assert prove(module.co_consts[0]) == "it is not the code of a function"


def test_module_in_the_interpreter_is_proven_by_its_file():
    assert isinstance(prove(os.path.join.__code__), Unit)


def test_unprovable_code_is_compiled_once_while_its_file_stays(tmp_path, monkeypatch):
    from waybill._source import proving

    module = load(tmp_path, "def f(): return 1\n")
    changed = module.f.__code__.replace(co_stacksize=99)
    reason = prove(changed)
    monkeypatch.setattr(proving, "compile_unit", None)

    assert prove(changed) == reason


def test_verdict_of_one_code_is_not_that_of_an_equal_one(tmp_path):
    module = load(tmp_path, "def f(): return 1\n")
    code = module.f.__code__
    refused = code.replace(co_stacksize=99)
    assert refused == code

    assert isinstance(prove(refused), str)
    assert isinstance(prove(code), Unit)


def test_refusals_die_with_their_code(tmp_path):
    from waybill._source import proving

    code = load(tmp_path, "def f(): return 1\n").f.__code__.replace(co_stacksize=99)
    prove(code)
    place = id(code)
    assert place in proving._unproven

    del code

    assert place not in proving._unproven
