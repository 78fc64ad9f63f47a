"""What pydantic builds beside models: adapters of types, functions that validate.

Also what texts in annotations name, which a receiver cannot look up.
Tests python_ext/waybill/_kinds/pydantic_models.py.
"""

import fresh_process
import pytest
from main_script import demand_keys_of_any_process, send

pytest.importorskip("pydantic", minversion="2.10")

BUILT = """
import functools, typing, pydantic, typing_extensions
from typing import Annotated, Optional
from pydantic import BaseModel, Field, RootModel, TypeAdapter, validate_call
from pydantic.dataclasses import dataclass
def make():
    class Item(BaseModel):
        name: str = "x"
        _seen: int = pydantic.PrivateAttr(default=3)
    class Names(RootModel[list[Item]]): pass
    @dataclass(frozen=True, config=pydantic.ConfigDict(extra="allow"))
    class Point:
        x: int = Field(3, gt=1)
        next: Optional["Point"] = None
    class Entry(typing_extensions.TypedDict): count: int
    items, points = TypeAdapter(list[Item]), TypeAdapter(Point)
    entries, large = TypeAdapter(Entry), TypeAdapter(Annotated[int, Field(gt=3)])
    @validate_call
    def check(n: int, item: Item) -> str: return item.name * n
    @validate_call(validate_return=True)
    def count(*items: Item) -> Annotated[int, Field(gt=1)]: return len(items)
    class Service:
        @validate_call
        def ask(self, n: int) -> int: return n
    Made = pydantic.create_model("Made", __base__=Item, z=(int, 3), item=(Item, Item()))
    def task(): return items.validate_python([{"name": "a"}])[0].name
    def calls(): return check("2", {"name": "b"})
    twice = functools.partial(check, 2)
    return (items, points, entries, large, check, count, Service, Service().ask, Made,
            Names, Names([{}]), task, calls, twice, RootModel[list[Item]])
made = make()
def use():
    made[0].validate_python([{}]), made[0].json_schema(), made[0].dump_json([])
    made[1].validate_python({}), made[2].validate_python({"count": 1})
    made[4](1, {}), made[5]({}, {}), made[7]("1"), made[8](z=3), made[9]([{}])
    made[11](), made[12]()
"""


def test_keys_are_those_of_any_process_before_and_after_use():
    demand_keys_of_any_process(BUILT, "import decimal, json, pydantic")


@pytest.mark.parametrize(
    ("number", "expression", "answer"),
    [
        (0, "value.validate_json('[{}]')[0].name, value.dump_json([])", ("x", b"[]")),
        (0, "value.json_schema()['type'], value.pydantic_complete", ("array", True)),
        (1, "value.validate_python({'next': {'x': '4'}}).next.x", 4),
        (2, "value.validate_python({'count': '1'})", {"count": 1}),
        (3, "value.validate_python('7')", 7),
        (4, "value('2', {'name': 'q'}), value.__name__", ("qq", "check")),
        (5, "value({}, {})", 2),
        (6, "value().ask('3')", 3),
        (7, "value('3')", 3),
        (8, "value(z='4').z, value().item.name, value()._seen", (4, "x", 3)),
        (9, "value([{}]).root[0].name", "x"),
        (11, "value()", "a"),
        (12, "value()", "bb"),
        (13, "value({'name': 'c'})", "cc"),
        (14, "value([{}]).root[0].name", "x"),
    ],
)
def test_it_does_where_it_arrives_what_it_does_at_home(number, expression, answer):
    assert send(f"{BUILT}\nvalue = made[{number}]", expression) == answer


def test_what_arrived_is_sent_on_with_its_key():
    program = f"""
import subprocess, sys, waybill
{BUILT}
worker = '''
import sys, waybill
values = waybill.loads(bytes.fromhex(sys.argv[1]))
keys = [waybill.fingerprint(value) for value in values]
values[0].validate_python([{{}}]), values[1](1, {{}})
print(keys, [waybill.fingerprint(value) for value in values])
'''
sent = [made[0], made[4]]
keys = [waybill.fingerprint(value) for value in sent]
answer = subprocess.run(
    [sys.executable, "-c", worker, waybill.dumps(sent).hex()],
    capture_output=True, text=True)
print(answer.stdout == f"{{keys}} {{keys}}\\n" or answer)
"""

    assert fresh_process.run_script(program) == "True\n"


TEXTS = """
from __future__ import annotations
import dataclasses, threading, typing, pydantic, typing_extensions
from pydantic import BaseModel, TypeAdapter, validate_call
lock = threading.Lock()
class Item(BaseModel):
    name: str = "x"
@dataclasses.dataclass
class Point:
    item: Item
class Entry(typing_extensions.TypedDict): item: Item
class Pair(typing.NamedTuple):
    item: Item
@pydantic.dataclasses.dataclass
class Line:
    point: typing.Optional[Point] = None
class WithPoint(BaseModel): it: Point
class WithEntry(BaseModel): it: Entry
class WithPair(BaseModel): it: Pair
class Outer(BaseModel): it: WithPoint
@validate_call
def check(n: int, items: list[Item]) -> str: return items[0].name * n
@validate_call
def check_point(point: Point) -> str: return point.item.name
def make():
    lock = threading.Lock()
    class Local(BaseModel): count: int = 3
    class Holder(BaseModel): local: Local
    @validate_call
    def count(local: Local) -> int: return local.count
    return Holder, count, TypeAdapter("list[Local]")
"""


@pytest.mark.parametrize(
    ("sent", "expression", "answer"),
    [
        ("WithPoint", "value(it={'item': {}}).it.item.name", "x"),
        ("WithEntry", "value(it={'item': {}}).it['item'].name", "x"),
        ("WithPair", "value(it=[{}]).it.item.name", "x"),
        ("Outer", "value(it={'it': {'item': {}}}).it.it.item.name", "x"),
        ("Line", "value(point={'item': {}}).point.item.name", "x"),
        ("check", "value('2', [{}])", "xx"),
        ("check_point", "value({'item': {}})", "x"),
        ("make()[0]", "value(local={}).local.count", 3),
        ("make()[1]", "value({})", 3),
        ("make()[2]", "value.validate_python([{}])[0].count", 3),
        ("TypeAdapter(Point)", "value.validate_python({'item': {}}).item.name", "x"),
        ("TypeAdapter('list[Item]')", "value.validate_python([{}])[0].name", "x"),
    ],
)
def test_what_texts_in_annotations_name_is_known_there(sent, expression, answer):
    assert send(f"{TEXTS}\nvalue = {sent}", expression) == answer
