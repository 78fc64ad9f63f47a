"""Type aliases and parameters of a script (PEP 695), with expressions that use them.

Sent to all versions of Python from 3.12 on by test_scripts_cross.py.
"""

import typing
from dataclasses import dataclass


class Leaf:
    pass


type Simple = list[Leaf]
type Json = dict[str, Json] | list[Json] | str | None
type Pair[K, V: Leaf] = tuple[K, V]
type Calls[**P, *Ts] = typing.Callable[P, tuple[*Ts]]
type Later = Missing
type One = int; type Two = list[One]
if True: type Inline = set[Leaf]
type Long[
    T
] = (
    dict[T, Json]
    | list[T]
)
type WithLambda = typing.Annotated[int, lambda x: (x, Leaf)]


class Holder[T]:
    type Own = list[T]
    type Named = Inner
    type __Private = dict[str, Holder]

    class Inner:
        pass

    def of_private(self):
        return self.__Private.__value__


def local(n):
    type Local = typing.Literal[n]
    type Generic[T] = dict[T, Local]
    return Local, Generic


def takes(value: Json, pair: Pair[int, Leaf] = None) -> Simple:
    return value


@dataclass
class Row[T: (int, str)]:
    value: T
    more: Two = None


def bounded[T: Leaf, S: Json](first: T, second: S) -> S:
    return second


LOCAL = local(3)
APPLIED = Pair[int, Leaf]

EXPRESSIONS = [
    "getattr(Simple, '__qualname__', 'Simple'), str(Simple), Holder.__qualname__",
    "[getattr(a, '__qualname__', f'local.<locals>.{a.__name__}') for a in LOCAL]",
    "getattr(Holder.Own, '__qualname__', 'Holder.Own')",
    "Simple.__value__.__args__[0] is Leaf, Simple.__name__, Simple.__module__",
    "Json.__value__.__args__[0].__args__[1] is Json, len(Json.__value__.__args__)",
    "Pair.__type_params__, Pair.__value__, Pair[int, str].__args__",
    "Pair.__type_params__[1].__bound__ is Leaf",
    "Pair.__value__.__args__[0] is Pair.__type_params__[0]",
    "[p.__name__ for p in Calls.__type_params__], len(Calls.__value__.__args__)",
    "Later.__name__",
    "One.__value__, Two.__value__.__args__[0] is One",
    "Inline.__value__.__args__[0] is Leaf, len(Long.__value__.__args__)",
    "Long[int].__args__",
    "WithLambda.__value__.__metadata__[0](1)[0]",
    "WithLambda.__value__.__metadata__[0](1)[1] is Leaf",
    "Holder.Own.__value__, Holder.Named.__value__ is Holder.Inner",
    "Holder().of_private().__args__[1] is Holder",
    "LOCAL[0].__value__, LOCAL[1].__value__.__args__[1] is LOCAL[0]",
    "LOCAL[0].__module__, local(4)[0].__value__",
    "takes(1), takes.__annotations__['value'] is Json",
    "takes.__annotations__['pair'].__origin__ is Pair, APPLIED.__origin__ is Pair",
    "Row(1, [2]), Row.__annotations__['more'] is Two, Row.__type_params__",
    "Row.__type_params__[0].__constraints__, bounded(1, 2), bounded.__type_params__",
    "bounded.__type_params__[1].__bound__ is Json",
]
