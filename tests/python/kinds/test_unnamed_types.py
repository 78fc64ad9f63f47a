"""Types of builtin views, iterators and records arrive as those that are there."""

import sys  # noqa: F401: of the expressions

import fresh_process
import pytest
import waybill
from waybill._kinds import unnamed_types

FROM_ELSEWHERE = """
type({}.keys()) type({}.values()) type({}.items()) type(iter({}))
type(iter({}.values())) type(iter({}.items())) type(iter([])) type(reversed([]))
type(iter(())) type(iter(set())) type(iter(b'')) type(iter(bytearray()))
type(iter(range(1))) type(iter(range(1<<70))) type(iter(zip()))
""".split()
MADE_HERE = """
type(reversed({})) type(reversed({}.values())) type(reversed({}.items()))
type(__import__('collections').OrderedDict().values())
type(iter(__import__('collections').OrderedDict()))
type(iter(int,1)) type(iter('')) type(iter('\\u1234')) type(iter(memoryview(b'')))
type(iter(list[int])) type(iter(__import__('array').array('b')))
type(__import__('contextvars').Context().items())
type(__import__('functools').cmp_to_key(int))
type(sys.flags) type(sys.version_info)
""".split()


@pytest.mark.parametrize("expression", FROM_ELSEWHERE + MADE_HERE)
def test_a_type_without_a_name_of_its_own_arrives(expression):
    payload = waybill.dumps(eval(expression))

    assert fresh_process.load(payload, f"value is {expression}")


@pytest.mark.parametrize("expression", FROM_ELSEWHERE)
def test_a_type_that_the_standard_library_names_needs_nothing_of_waybill(expression):
    needed = [record.module for record in waybill.imports(eval(expression))]

    assert not any(module.startswith("waybill") for module in needed)


def test_each_type_that_has_a_name_here_goes_by_it():
    types = {n: v for n, v in vars(unnamed_types).items() if type(v) is type}
    types.pop("OrderedDict"), types.pop("deque")
    assert len(types) > 30

    for value in types.values():
        assert waybill.loads(waybill.dumps(value)) is value


def test_a_type_of_c_that_has_no_name_anywhere_is_refused():
    poll = pytest.importorskip("select").poll

    with pytest.raises(waybill.EncodeError, match="no module has it under a name"):
        waybill.dumps(type(poll()))


def test_functions_and_registers_may_refer_to_such_types():
    views = {type({}.values()): "v", type(iter([])): "i"}
    payload = waybill.dumps(lambda value: views.get(type(value)))

    expression = "[value(v) for v in ({}.values(), iter([]), 1)]"
    assert fresh_process.load(payload, expression) == ["v", "i", None]
