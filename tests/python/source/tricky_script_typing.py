"""What a script takes from typing, with expressions that use it.

Sent to all versions of Python by test_scripts_cross.py.
"""

import sys
from dataclasses import dataclass
from typing import (
    Annotated,
    Callable,
    Concatenate,
    Generic,
    Literal,
    NamedTuple,
    NewType,
    Optional,
    ParamSpec,
    Protocol,
    Self,
    TypedDict,
    TypeVar,
    TypeVarTuple,
    Unpack,
    runtime_checkable,
)

P = ParamSpec("P")
R = TypeVar("R", covariant=True)
U = TypeVar("U")
Ts = TypeVarTuple("Ts")
UserId = NewType("UserId", int)
#: What checkers of types read is not there on all versions.
NEWER = sys.version_info >= (3, 13)
Some = TypeVar("Some", **({"default": int} if NEWER else {}))
Rest = ParamSpec("Rest", **({"default": [int, str]} if NEWER else {}))
All = TypeVarTuple("All", **({"default": Unpack[tuple[int]]} if NEWER else {}))


def passes(*args: P.args, **kwargs: P.kwargs):
    return args, kwargs


def wraps(function: Callable[Concatenate[int, P], R]) -> Callable[P, R]:
    def inner(*args: P.args, **kwargs: P.kwargs) -> R:
        return function(1, *args, **kwargs)

    return inner


def unpacks(*args: *Ts) -> tuple[Unpack[Ts]]:
    return args


def marked(user: Annotated[UserId, "id"], kind: Literal["a", 2] = 2) -> Optional["Self"]:
    return user, kind


def defaults(some: Some, *args: Rest.args, **kwargs: Rest.kwargs) -> tuple[Unpack[All]]:
    return some, args


class Box(Generic[Some]):
    def get(self) -> Some:
        return 1


add = wraps(lambda a, b: a + b)


class Calls(Generic[P, R]):
    def __init__(self, function: Callable[P, R]):
        self.function = function

    def call(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.function(*args, **kwargs)


class Shape(Generic[Unpack[Ts]]):
    sizes: tuple[Unpack[Ts]]


class Pair(NamedTuple, Generic[U]):
    """Two of a kind."""

    first: U
    second: U = None

    def both(self):
        return [self.first, self.second]


class Point(NamedTuple):
    x: int
    y: "int" = 0


class Movie(TypedDict, Generic[U]):
    name: str
    rating: U


class Sequel(Movie[int], total=False):
    before: str


class Source(Protocol[R]):
    def get(self) -> R: ...


@runtime_checkable
class Closing(Protocol):
    name: str

    def close(self) -> None: ...


@runtime_checkable
class Opening(Protocol):
    def open(self) -> None: ...


class Both(Opening, Closing, Protocol):
    pass


class Explicit(Source[int]):
    def get(self):
        return 3


class Door:
    name = "door"

    def open(self):
        pass

    def close(self):
        pass


class Window:
    def open(self):
        pass


@dataclass
class Node(Generic[U]):
    value: U
    after: "Optional[Node[U]]" = None


class Hooked(Generic[U]):
    made = []

    def __init_subclass__(cls, /, **kwargs):
        super().__init_subclass__(**kwargs)
        cls.made.append(cls.__name__)


class Derived(Hooked[int]):
    pass


EXPRESSIONS = [
    "passes(1, a=2), passes.__annotations__['args'].__origin__ is P",
    "passes.__annotations__['args'] == P.args, passes.__annotations__['kwargs']",
    "passes.__annotations__['args'] is passes.__annotations__['kwargs']",
    "defaults(1, 2), Box().get(), Box[str].__args__, All.__name__, Rest.__name__",
    "add(2), wraps.__annotations__['return'].__args__[0] is P",
    "wraps.__annotations__['function'].__args__[0].__args__",
    "unpacks(1, 2), unpacks.__annotations__['return'].__args__[0].__args__[0] is Ts",
    "marked(1), marked.__annotations__['user'].__metadata__, UserId(3)",
    "marked.__annotations__['user'].__origin__ is UserId, UserId.__supertype__",
    "marked.__annotations__['kind'].__args__",
    "Calls(len).call('ab'), Calls[[int, str], int].__args__, Calls[..., int](len).call('')",
    "Calls.call.__annotations__['args'].__origin__ is P, Calls.__parameters__",
    "Shape[int, str].__args__, Shape.__parameters__[0] is Ts",
    "Pair(1), Pair(1).both(), Pair[int], Pair[int](3), Pair.__parameters__",
    "Pair(1)._replace(second=2), Pair._field_defaults, Pair.__doc__, Pair._fields",
    "Pair.__orig_bases__[1], Pair[int].__origin__ is Pair",
    "Point(1), Point._make([3, 4]), Point(1) == (1, 0), Point.__annotations__['x']",
    "Movie(name='a', rating=3), Movie[int].__args__, Movie.__parameters__",
    "Sequel(name='a'), sorted(Sequel.__optional_keys__), Sequel.__total__",
    "sorted(Movie.__required_keys__), Movie.__annotations__",
    "Source[int].__args__, Explicit().get(), Explicit.__mro__[1] is Source",
    "isinstance(Door(), Closing), isinstance(Window(), Closing), Closing.__name__",
    "isinstance(Door(), Opening), isinstance(Window(), Opening), isinstance(1, Opening)",
    "issubclass(Door, Opening), issubclass(int, Opening)",
    "Node(1), Node(1, Node(2)), Node[int].__args__, Node[int](4) == Node(4)",
    "Hooked.made, Derived.__orig_bases__[0].__args__, Derived.__parameters__",
]
