"""Functions that arrived code makes have units of their own, found in the text of what
is around them."""

import gc

import fresh_process
from waybill._source import by_code
from waybill._source.compiling import compile_unit
from waybill._source.proving import prove, prove_nested


def outer(a):
    def inner(b, *, c=lambda d: d + 1):
        """Text."""
        return a + b + sum([c(i) for i in range(b)])

    class Local:
        def method(self, x):
            return self.__private, x, __class__

        def __private(self):
            return a

    return inner, Local, lambda: lambda: a


def arrived():
    unit = prove(outer.__code__)
    line = outer.__code__.co_firstlineno
    code = compile_unit(unit, "elsewhere.py", line)
    by_code.record_source(unit, code, line)
    return code


def codes_in(code):
    found = []
    for constant in code.co_consts:
        if type(constant) is type(code):
            found += [constant, *codes_in(constant)]
    return found


def functions_in(code):
    comprehensions = "<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"
    return [
        c
        for c in codes_in(code)
        if c.co_flags & 3 == 3 and c.co_name not in comprehensions
    ]


def test_each_function_in_arrived_code_has_a_unit_that_compiles_to_it():
    code = arrived()
    inner = functions_in(code)

    assert {c.co_name for c in inner} >= {"inner", "method", "<lambda>"}
    for function in inner:
        unit = prove_nested(function)
        made = compile_unit(unit, function.co_filename, function.co_firstlineno)
        assert made == function
        assert made.co_qualname == function.co_qualname


def test_other_code_is_none_of_its():
    assert prove_nested(outer.__code__) is None
    assert prove_nested(codes_in(outer.__code__)[0]) is None


def test_what_is_noted_dies_with_the_code():
    code = arrived()
    noted = {id(c) for c in codes_in(code)}
    assert noted <= by_code.ENCLOSING.keys()

    del code
    gc.collect()

    assert not noted & by_code.ENCLOSING.keys()


def test_whoever_runs_the_bytecode_loads_nothing_of_what_compiles(tmp_path):
    script = tmp_path / "sends.py"
    script.write_text(
        "import sys, waybill\n"
        "def outer(n):\n"
        "    def inner(x): return n + x\n"
        "    return inner\n"
        "print(waybill.dumps([outer, outer(1)], source=True).hex())\n",
        "utf-8",
    )
    told = fresh_process.run_script(
        "import runpy, sys; runpy.run_path(sys.argv[1], run_name='__main__')", script
    )
    answers = fresh_process.run_script(
        "import sys, waybill\n"
        "outer, inner = waybill.loads(bytes.fromhex(sys.argv[1]))\n"
        "print(inner(2), outer(3)(4))\n"
        "print(*sorted(m for m in sys.modules if m.startswith('waybill._source.')))\n"
        "print(b'return n + x' in waybill.dumps(outer(1)))\n",
        told.strip(),
    )
    expected = ["3 7", "waybill._source.by_code waybill._source.shown", "True"]
    assert answers.splitlines() == expected
