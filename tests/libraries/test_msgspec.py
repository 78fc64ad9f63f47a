"""Structs of msgspec travel, by value and by reference, with their instances."""

import fresh_process
import pytest
from main_script import send

pytest.importorskip("msgspec")

SHOP = """
import enum, typing
import msgspec
class Colour(enum.Enum):
    RED = "red"
class Item(msgspec.Struct, frozen=True, rename="camel", tag="item"):
    unit_price: float
    tags: set[str] = msgspec.field(default_factory=set)
    colour: Colour = Colour.RED
    def gross(self): return self.unit_price * 2
class Special(Item, kw_only=True, tag=False):
    "With a note."
    note: str
    count: int = 1
class Order(msgspec.Struct, dict=True, order=True, omit_defaults=True):
    items: list[Item]
    parent: "typing.Optional[Order]" = None
    limit: typing.ClassVar[int] = 3
    def __post_init__(self): self.total = sum(item.gross() for item in self.items)
order = Order([Item(1.5), Item(2.0, {"new"})])
special = Special(4.0, note="n")
"""


@pytest.mark.parametrize(
    ("sent", "expression", "answer"),
    [
        ("Item", "value(1.0).gross()", 2.0),
        ("Item", "value(1.0).tags", set()),
        ("Item", "value(1.0).colour.value", "red"),
        (
            "Item",
            "[f.encode_name for f in __import__('msgspec').structs.fields(value)]",
            None,
        ),
        ("Item", "__import__('msgspec').json.encode(value(1.0, {'a'})).decode()", None),
        ("Item", "hash(value(1.0, ())) == hash(value(1.0, ()))", True),
        ("Special", "(value(1.0, note='x').count, value.__doc__)", (1, "With a note.")),
        ("Special", "(value.__struct_fields__, value.__match_args__)", None),
        ("special", "(value.note, value.unit_price)", ("n", 4.0)),
        ("order", "(value.total, len(value.items), value.limit)", (7.0, 2, 3)),
        ("order", "__import__('msgspec').json.encode(value).decode()", None),
        (
            "Item",
            "__import__('msgspec').json.decode("
            'b\'{"type":"item","unitPrice":2}\', type=value).gross()',
            4.0,
        ),
        ("lambda: Item(2.0).gross()", "value()", 4.0),
    ],
)
def test_a_struct_does_where_it_arrives_what_it_does_at_home(sent, expression, answer):
    script = f"{SHOP}\nvalue = {sent}"
    at_home = fresh_process.run_script(f"{script}\nprint(repr({expression}))")

    arrived = send(script, expression)

    assert f"{arrived!r}\n" == at_home
    assert answer is None or arrived == answer


def test_a_struct_of_a_module_travels_by_reference(tmp_path):
    (tmp_path / "shelf.py").write_text(
        "import msgspec\nclass Book(msgspec.Struct): title: str\n"
    )
    program = """
import sys, waybill
sys.path.append(sys.argv[1])
import shelf
data = waybill.dumps([shelf.Book("a")])
print(waybill.loads(data), len(data) < 200)
"""

    output = fresh_process.run_script(program, tmp_path)

    assert output == "[Book(title='a')] True\n"


def test_a_struct_has_one_key_wherever_it_is():
    program = f"""
import subprocess, sys, waybill
{SHOP}
worker = '''
import sys, waybill
print(waybill.fingerprint(waybill.loads(bytes.fromhex(sys.argv[1]))))
'''
for value in (Item, Special, Order, special):
    sent = waybill.dumps(value).hex()
    key = subprocess.run([sys.executable, "-c", worker, sent], capture_output=True)
    print(key.stdout.decode().strip() == str(waybill.fingerprint(value)) or key)
"""

    assert fresh_process.run_script(program) == "True\n" * 4
