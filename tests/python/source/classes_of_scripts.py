"""Classes of many kinds, whose source ids are the same on all versions of Python."""

import abc
import collections
import dataclasses
import enum
import functools
import typing


@dataclasses.dataclass
class DC:
    x: int
    y: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class FS:
    x: int = 3

    def m(self):
        return self.x


@dataclasses.dataclass(kw_only=True)
class Sub(DC):
    z: "str" = "a"

    def __post_init__(self):
        pass


class NT(typing.NamedTuple):
    a: int
    b: str = "x"

    def m(self):
        return self.a


N2 = collections.namedtuple("N2", "a b", defaults=(1,))


class Sub2(N2):
    def f(self):
        return self.a


class Color(enum.Enum):
    RED = 1

    def f(self):
        return self.name


class Plain:
    x: int = 1

    def f(self):
        return self.x


class Pro(typing.Protocol):
    def f(self) -> int: ...


class TD(typing.TypedDict):
    a: int


T = typing.TypeVar("T")


class G(typing.Generic[T]):
    def f(self):
        return 1


@dataclasses.dataclass(order=True, unsafe_hash=True)
class Many:
    """Own doc."""

    a: int
    b: typing.ClassVar[int] = 3
    c: dataclasses.InitVar[int] = 4
    d: dict = dataclasses.field(
        default_factory=lambda: {}, repr=False, metadata={"k": 1}
    )

    def __post_init__(self, c):
        self.e = c

    def __repr__(self):
        return "x"


@dataclasses.dataclass(eq=False)
class NoEq:
    a: int = 0

    def __eq__(self, o):
        return True


class E(Exception):
    def __init__(self, a):
        super().__init__(a)


@typing.runtime_checkable
class RPro(typing.Protocol):
    x: int

    def f(self) -> int: ...


class Impl(Pro):
    def f(self):
        return 1


class TD2(typing.TypedDict, total=False):
    """doc"""

    b: str


class Flag(enum.Flag):
    A = enum.auto()
    B = enum.auto()


class IE(enum.IntEnum):
    A = 1


class AB(abc.ABC):
    @abc.abstractmethod
    def f(self): ...
    @property
    def p(self):
        return 1

    @functools.cached_property
    def q(self):
        return 2

    @staticmethod
    def s():
        pass

    @classmethod
    def k(cls):
        pass


class Slots:
    __slots__ = ("a",)

    def __init__(self):
        self.a = 1


class Meta(type):
    def z(cls):
        return 1


class WM(metaclass=Meta):
    def f(self):
        return __class__


class Desc:
    def __set_name__(self, o, n):
        self.n = n

    def __get__(self, i, o):
        return self.n


class HasDesc:
    d = Desc()

    async def co(self):
        return 1

    def g(self):
        class In:
            pass

        return In


class A1:
    @property
    def p(self):
        return 1


class A2:
    @functools.cached_property
    def q(self):
        return 2


class A3(abc.ABC):
    @abc.abstractmethod
    def f(self): ...
