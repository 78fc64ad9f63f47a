"""Models of pydantic that are defined in __main__ travel, with their instances."""

import pytest
from claims_in_text import read_claims
from main_script import send

pytest.importorskip("pydantic", minversion="2")

SHOP = """
import datetime, enum
from typing import Annotated, Generic, Literal, Optional, TypeVar, Union
from pydantic import (BaseModel, ConfigDict, Field, PrivateAttr, computed_field,
                      field_serializer, field_validator, model_validator)
class Colour(enum.Enum):
    RED = "red"
class Item(BaseModel):
    model_config = ConfigDict(frozen=True)
    name: str = Field(min_length=1, alias="label")
    price: Annotated[float, Field(gt=0)] = 1.0
    colour: Colour = Colour.RED
    @field_validator("name")
    @classmethod
    def _upper(cls, value): return value.upper()
    @computed_field
    @property
    def gross(self) -> float: return self.price * 2
class Order(BaseModel):
    items: list[Item]
    when: datetime.date
    note: Optional[str] = None
    tags: dict[str, int] = Field(default_factory=dict)
    _seen: int = PrivateAttr(default=0)
    @model_validator(mode="after")
    def _not_empty(self):
        if not self.items: raise ValueError("no items")
        return self
    @field_serializer("when")
    def _year(self, when): return when.year
order = Order(items=[{"label": "x"}], when="2020-02-02", tags={"a": "1"})
order._seen = 3
"""


def test_a_class_validates_what_it_is_given():
    expression = "value(items=[{'label': 'x'}], when='2020-02-02').items[0].name"
    assert send(SHOP + "value = Order", expression) == "X"


@pytest.mark.parametrize(
    "given", ["items=[], when='2020-02-02'", "items=[{'label': ''}], when='2020-02-02'"]
)
def test_a_class_refuses_what_its_validators_refuse(given):
    with pytest.raises(Exception, match="ValidationError"):
        send(SHOP + "value = Order", f"value({given})")


def test_an_instance_arrives_with_all_it_knows():
    expression = """(
        value.items[0].gross, value._seen, value.model_fields_set == {"items", "when", "tags"},
        value.model_dump(mode="json"), value == value.model_copy(deep=True),
    )"""

    dumped = {
        "items": [{"name": "X", "price": 1.0, "colour": "red", "gross": 2.0}],
        "when": 2020,
        "note": None,
        "tags": {"a": 1},
    }
    assert send(SHOP + "value = order", expression) == (2.0, 3, True, dumped, True)


def test_a_schema_is_the_same_there():
    script = SHOP + "value = Order, Order.model_json_schema()"

    assert send(script, "value[0].model_json_schema() == value[1]")


MODELS = """
a nested generic model works
    from typing import Generic, TypeVar
    from pydantic import BaseModel
    T = TypeVar("T")
    class Page(BaseModel, Generic[T]):
        rows: list[T]
    class Row(BaseModel):
        n: int
    class Book(BaseModel):
        pages: list[Page[Row]]
    value = Book, Book(pages=[{"rows": [{"n": "1"}]}]), Page[int](rows=["2"]), Page
    >>> (
    ...     value[0](pages=[{"rows": [{"n": "4"}]}]).pages[0].rows[0].n,
    ...     value[1].pages[0].rows[0].n, value[2].rows, value[3][int](rows=["5"]).rows,
    ... )
    4, 1, [2], [5]

a model that refers to itself works
    from __future__ import annotations
    from pydantic import BaseModel
    class Node(BaseModel):
        n: int
        kids: list[Node] = []
    value = Node
    >>> value(n=1, kids=[{'n': '2'}]).kids[0].n
    2

a model that inherits works
    from pydantic import BaseModel
    class Base(BaseModel):
        a: int
        def total(self): return self.a
    class Derived(Base):
        b: int = 2
        def total(self): return super().total() + self.b
    value = Derived(a=1)
    >>> value.total(), type(value)(a='3').total()
    3, 5

a union by discriminator works
    from typing import Annotated, Literal, Union
    from pydantic import BaseModel, Field, TypeAdapter
    class Cat(BaseModel):
        kind: Literal["cat"]
    class Dog(BaseModel):
        kind: Literal["dog"]
        age: int
    class Home(BaseModel):
        pet: Annotated[Union[Cat, Dog], Field(discriminator="kind")]
    value = Home, lambda: TypeAdapter(list[Home]).validate_json('[{"pet": {"kind": "cat"}}]')
    >>> value[0](pet={'kind': 'dog', 'age': '3'}).pet.age, value[1]()[0].pet.kind
    3, "cat"

a root model and a dataclass work
    from pydantic import RootModel
    from pydantic.dataclasses import dataclass
    class Names(RootModel[list[str]]): pass
    @dataclass
    class Point:
        x: int
    value = Names(["a"]), Point, Point("3")
    >>> value[0].root, value[1]('4').x, value[2].x
    ["a"], 4, 3

a function that validates its arguments works
    from pydantic import BaseModel, validate_call
    class Limits(BaseModel):
        top: int
    @validate_call
    def check(n: int, limits: Limits) -> bool:
        return n < limits.top
    def use(n): return check(n, {"top": "5"})
    value = use
    >>> value('3'), value(7)
    True, False
"""


@pytest.mark.parametrize("script, expression, expected", read_claims(MODELS))
def test_models_work(script, expression, expected):
    assert send(script, expression) == expected
