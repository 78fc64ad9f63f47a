"""What pydantic and attrs derive from a class statement has no say in keys and ids.

Tests python_ext/waybill/_kinds/derived.py and pydantic_models.py.
"""

import fresh_process
import pytest
from main_script import demand_keys_of_any_process, send

PYDANTIC = """
import typing, pydantic
from pydantic.dataclasses import dataclass
def make():
    class Item(pydantic.BaseModel):
        name: str = "x"
        tags: set[str] = {"a", "b", "c"}
        @pydantic.field_validator("name")
        def _upper(cls, value): return value.upper()
        @pydantic.field_serializer("tags")
        def _sorted(self, value): return sorted(value)
        @pydantic.computed_field
        @property
        def twice(self) -> str: return self.name * 2
    class Order(pydantic.BaseModel):
        items: list[Item] = []
    @dataclass
    class Point:
        x: int
        @pydantic.field_validator("x")
        def _more(cls, value): return value + 1
    Kind = typing.TypeVar("Kind")
    class Box(pydantic.BaseModel, typing.Generic[Kind]): value: Kind
    def task(): return Order(items=[{"name": "a"}]).items[0].twice
    return Item, Order, Point, Box, Box[int], Item(), Order(items=[Item()]), Point(1), task
class Tree(pydantic.BaseModel):
    children: "list[Tree]" = []
made = make()
def use():
    item = made[0](name="b")
    item.name = "c"
    item.model_dump(), made[0].model_json_schema(), repr(item), made[-1](), made[2](3)
    made[0].__signature__
"""
ATTRS = """
import attr
def make():
    @attr.s(auto_attribs=True, frozen=True)
    class Point:
        x: int
        y: str = "a"
    @attr.define(unsafe_hash=True, cache_hash=True)
    class Cached: x: int
    @attr.frozen
    class Derived(Cached): z: int = 1
    return Point, Cached, Derived, Point(1), Cached(1), Derived(1), lambda: hash(Point(1))
made = make()
def use(): hash(made[3]), hash(made[4]), made[-1]()
"""
SCRIPTS = {"pydantic": PYDANTIC, "attr": ATTRS}


@pytest.mark.parametrize("library", SCRIPTS)
def test_keys_are_those_of_any_process_before_and_after_use(library):
    pytest.importorskip(library)

    demand_keys_of_any_process(SCRIPTS[library], "import decimal, json")


@pytest.mark.parametrize(
    ("sent", "expression", "answer"),
    [
        ("made[0]", "value(name='b').twice", "BB"),
        (
            "made[0]",
            "value().model_dump_json(include={'tags'})",
            '{"tags":["a","b","c"]}',
        ),
        ("made[1]", "str(__import__('inspect').signature(value))", None),
        (
            "made[0]",
            "sorted(value.model_json_schema()['properties'])",
            ["name", "tags"],
        ),
        ("made[1]", "value(items=[{'name': 'q'}]).items[0].name", "Q"),
        ("made[2]", "value(3).x", 4),
        ("made[4]", "value(value='7').value", 7),
        ("made[4]", "value.__pydantic_complete__", True),
        ("made[6]", "value.model_copy(deep=True) == value", True),
        ("made[-1]", "value()", "AA"),
        ("Tree", "value(children=[{'children': []}]).children[0].children", []),
        ("made[0].model_validate", "value({'name': 'v'}).name", "V"),
        (
            "made[0]",
            "__import__('pydantic').TypeAdapter(list[value]).validate_python([{}])[0].name",
            "x",
        ),
    ],
)
def test_a_model_does_where_it_arrives_what_it_does_at_home(sent, expression, answer):
    pytest.importorskip("pydantic")
    at_home = fresh_process.run_script(
        f"{PYDANTIC}\nvalue = {sent}\nprint(repr({expression}))"
    )

    arrived = send(f"{PYDANTIC}\nvalue = {sent}", expression)

    assert f"{arrived!r}\n" == at_home
    assert answer is None or arrived == answer


def test_a_model_that_arrived_is_sent_on_with_its_key():
    pytest.importorskip("pydantic", minversion="2.12")
    program = f"""
import subprocess, sys, waybill
{PYDANTIC}
worker = '''
import sys, waybill
cls = waybill.loads(bytes.fromhex(sys.argv[1]))
keys = [waybill.fingerprint(cls)]
cls(name="b").model_dump()
print(keys + [waybill.fingerprint(cls)])
'''
data = waybill.dumps(made[0])
answer = subprocess.run(
    [sys.executable, "-c", worker, data.hex()], capture_output=True, text=True)
print(answer.stdout == f"{{[waybill.fingerprint(made[0])] * 2}}\\n" or answer)
"""

    assert fresh_process.run_script(program) == "True\n"


def test_a_field_that_home_adds_is_validated_by_a_worker_that_knows_the_model():
    pytest.importorskip("pydantic")
    program = """
import pydantic, subprocess, sys, waybill
class Item(pydantic.BaseModel):
    name: str = "x"
first = waybill.dumps(Item)
Item.__pydantic_fields__["count"] = pydantic.fields.FieldInfo(annotation=int, default=1)
Item.model_rebuild(force=True)
worker = '''
import sys, waybill
cls, *_ = [waybill.loads(bytes.fromhex(text)) for text in sys.argv[1:]]
print(cls(count="2").count)
'''
sent = [first.hex(), waybill.dumps(Item).hex()]
answer = subprocess.run(
    [sys.executable, "-c", worker, *sent], capture_output=True, text=True)
print(answer.stdout or answer)
"""

    assert fresh_process.run_script(program) == "2\n\n"


def test_hashes_of_attrs_agree_with_equality_where_they_arrive():
    pytest.importorskip("attr")

    answer = send(
        f"{ATTRS}\nvalue = made[0], {{made[3]: 'found'}}, made[4]",
        "(value[1][value[0](1)], hash(value[2]) == hash(type(value[2])(1)))",
    )

    assert answer == ("found", True)
