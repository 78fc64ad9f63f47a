"""Classes whose methods are hard to cut out, with calls and what these give.

The module names ``super`` at its top level: since 3.12 that changes how its calls are
compiled. Read by units_of_modules.py.
"""

from __future__ import annotations

import abc
import dataclasses
import enum
import functools
import operator
import typing

plain_super = super


class Base:
    def __init__(self, value=1):
        self.value = value
        self.__hidden = value + 1

    def __mangled(self, __argument=5):
        __local = __argument
        return __local + self.__hidden

    def mangled(self):
        return self.__mangled()

    def method(self):
        return "base"

    @property
    def doubled(self):
        return self.value * 2

    @doubled.setter
    def doubled(self, value):
        self.value = value // 2

    @classmethod
    def make(cls, *args): return cls(*args)

    @staticmethod
    def helper(a, b=lambda: __class__.__name__): return a


class Derived(Base):
    def method(self):
        return super().method() + "+" + super(Derived, self).method()

    def in_comprehension(self):
        return [super(Derived, self).method() for _ in range(1)], __class__.__name__

    def in_nested(self):
        def inner():
            return __class__.__name__, self._Base__hidden

        return inner()

    def named_like_class(self):
        def Derived(): return "local"
        return Derived()

    name = lambda self: (lambda: __class__.__name__)()
    both = lambda self: 1, lambda self: self.__class__.__name__


class Outer:
    class Middle:
        class __Inner:
            def where(self): return __class__.__qualname__, self.__where()

            def __where(self): return "private"

        def make(self):
            return self.__Inner()

    if True:
        def conditional(self):
            return "here"

    for _i in range(2):
        exec("pass")

        def looped(self, i=_i): return i

    def looks_up_itself():
        return looks_up_itself()


def looks_up_itself():
    return "global"


def local_classes(bonus):
    class First:
        other = None

        def value(self): return bonus

        def twin(self): return Second()

    class Second(First):
        def value(self): return super().value() + bonus + len(First.__name__)

    return First().value(), First().twin().value()


class Meta(type):
    def __call__(cls, *args):
        made = super().__call__(*args)
        made.by = __class__.__name__
        return made


class Made(metaclass=Meta):
    __slots__ = ("by", "__secret")

    def keep(self):
        self.__secret = 3
        return self.__secret, self.by


@dataclasses.dataclass(order=True)
class Point:
    x: int
    y: int = dataclasses.field(default_factory=lambda: 7)
    z: int = dataclasses.field(default=0, kw_only=True)

    def total(self): return self.x + self.y + self.z


class Colour(enum.Enum):
    RED = 1
    BLUE = 2

    @property
    def lower(self):
        return self.name.lower()

    def __str__(self): return f"<{self.lower}>"


class Pair(typing.NamedTuple):
    left: int
    right: int = 3

    def swapped(self): return Pair(self.right, self.left)


class Shape(abc.ABC):
    @abc.abstractmethod
    def area(self): ...

    def twice(self): return 2 * self.area()


class Square(Shape):
    side = 3

    def area(self):
        return self.side ** 2

    @functools.cached_property
    def cached(self):
        return self.area()

    @functools.singledispatchmethod
    def kind(self, value): return "any"

    @kind.register
    def _(self, value: int): return "int"

    def __getattr__(self, name):
        if name.startswith("__"): raise AttributeError(name)
        return name

    def __matmul__(self, other): return operator.add(1, other)


_ = Square


CASES = [
    ("Base().mangled(), Base.make(4).doubled", (7, 8)),
    ("Derived().method()", "base+base"),
    ("Derived().in_comprehension()", (["base"], "Derived")),
    ("Derived().in_nested(), Derived().named_like_class()", (("Derived", 2), "local")),
    ("Derived().name(), Derived.both[1](3)", ("Derived", "int")),
    ("Base.helper(1)", 1),
    ("Outer.Middle().make().where()", ("Outer.Middle.__Inner", "private")),
    ("Outer().conditional(), Outer().looped()", ("here", 1)),
    ("Outer.looks_up_itself()", "global"),
    ("local_classes(2)", (2, 9)),
    ("Made().keep()", (3, "Meta")),
    ("Point(1).total(), Point(1) < Point(2), Point(1, z=3).z", (8, True, 3)),
    ("Colour.RED.lower, str(Colour.BLUE)", ("red", "<blue>")),
    ("tuple(Pair(1).swapped())", (3, 1)),
    ("Square().twice(), Square().cached, Square().kind(1)", (18, 9, "int")),
    ("Square().anything, Square() @ 2", ("anything", 3)),
]
