"""What annotations are made of travels by value if no import finds it."""

import sys
import typing

import fresh_process
import pytest
import waybill
from claims_in_text import read_claims
from sources import define, imported

NEW = pytest.mark.skipif(sys.version_info < (3, 12), reason="syntax of 3.12")
NEWER = pytest.mark.skipif(sys.version_info < (3, 13), reason="syntax of 3.13")
LAZY = pytest.mark.skipif(sys.version_info < (3, 14), reason="annotations of 3.14")


def arrive(source, expression):
    source = "import typing\nfrom typing import *\nimport types\n" + source
    return fresh_process.send(define(source).value, expression)


@pytest.mark.parametrize(
    "made, expression, expected",
    [
        ("TypeVar('T')", "value.__name__", "T"),
        ("TypeVar('T', int, str)", "[c.__name__ for c in value.__constraints__]",
         ["int", "str"]),
        ("TypeVar('T', bound='C')", "value.__bound__.__forward_arg__", "C"),
        ("TypeVar('T', covariant=True)", "value.__covariant__", True),
        ("ParamSpec('P')", "value.__name__", "P"),
        ("ParamSpec('P').args", "value.__origin__.__name__", "P"),
        ("ParamSpec('P').kwargs", "type(value).__name__", "ParamSpecKwargs"),
        ("TypeVarTuple('Ts')", "value.__name__", "Ts"),
        ("Unpack[TypeVarTuple('Ts')]", "value.__args__[0].__name__", "Ts"),
        ("NewType('N', int)", "value(3), value.__name__, value.__supertype__(4)",
         (3, "N", 4)),
        ("Union[int, list[str]]", "[str(a) for a in value.__args__]",
         ["<class 'int'>", "list[str]"]),
        ("Optional[int]", "value.__args__[1]()", None),
        ("Literal['a', 1, None]", "value.__args__", ("a", 1, None)),
        ("Annotated[int, 'note', [1]]", "value.__metadata__", ("note", [1])),
        ("Callable[[int, str], bool]", "[a.__name__ for a in value.__args__]",
         ["int", "str", "bool"]),
        ("Callable[..., int]", "value.__args__[0]", ...),
        ("__import__('collections').abc.Callable[[int], str]",
         "[a.__name__ for a in value.__args__]", ["int", "str"]),
        ("Concatenate[int, ParamSpec('P')]", "value.__args__[1].__name__", "P"),
        ("int | str | None", "type(value).__name__ in ('UnionType', 'Union')", True),
        ("types.GenericAlias(list, (int,))", "str(value)", "list[int]"),
        ("dict[str, 'Later']", "value.__args__[1]", "Later"),
        ("List['Later']", "value.__args__[0].__forward_arg__", "Later"),
        ("ForwardRef('Later')", "value.__forward_arg__", "Later"),
        ("ClassVar[int]", "str(value)", "typing.ClassVar[int]"),
        ("Final[int]", "str(value)", "typing.Final[int]"),
        ("Type[int]", "str(value)", "typing.Type[int]"),
        ("Any", "value is __import__('typing').Any", True),
        ("NoReturn", "value is __import__('typing').NoReturn", True),
        ("Generic", "value is __import__('typing').Generic", True),
        ("tuple[int, ...]", "value.__args__[1] is ...", True),
        ("tuple[*tuple[int, ...]]", "str(value)", "tuple[*tuple[int, ...]]"),
    ],
)  # fmt: skip
def test_form_arrives(made, expression, expected):
    assert arrive(f"value = {made}", expression) == expected


TYPED = """
generic typed dict arrives
    T = TypeVar("T")
    class value(TypedDict, Generic[T]):
        items: list[T]
    >>> [value(items=[1]), value[int].__args__[0].__name__, value.__total__,
    ...  [base.__name__ for base in value.__orig_bases__[:1]],
    ...  value.__parameters__[0].__name__]
    [{"items": [1]}, "int", True, ["TypedDict"], "T"]

generic named tuple and its instance arrive
    T = TypeVar("T")
    class Pair(NamedTuple, Generic[T]):
        a: T
        b: int = 3
    value = Pair("x")
    >>> [tuple(value), value.a, value._replace(b=4).b,
    ...  type(value)[int].__args__[0].__name__,
    ...  [base.__name__ for base in type(value).__orig_bases__[:1]]]
    [("x", 3), "x", 4, "int", ["NamedTuple"]]

type variables stay the same within a payload
    T = TypeVar("T", bound="C")
    P = ParamSpec("P")
    N = NewType("N", int)
    class C(Generic[T, P]): pass
    def f(x: T, *args: P.args) -> N: pass
    value = C, f, T, P, N
    >>> (
    ...     value[0].__parameters__ == value[2:4],
    ...     value[1].__annotations__['x'] is value[2],
    ...     value[1].__annotations__['args'].__origin__ is value[3],
    ...     value[1].__annotations__['return'] is value[4],
    ... )
    True, True, True, True

new type of a class by value arrives
    class C: pass
    value = NewType("N", C), C
    >>> value[0].__supertype__ is value[1]
    True

attributes of a new type arrive
    value = NewType('N', int)
    value.note = 'x'
    >>> value.note, value.__module__
    "x", "module_that_is_nowhere"

typed named tuple arrives
    class P(NamedTuple):
        x: int
        y: str = "d"
    value = P(1)
    >>> tuple(value), value.y, type(value)._field_defaults
    (1, "d"), "d", {"y": "d"}

protocol that is checked at run time arrives
    @runtime_checkable
    class P(Protocol):
        def read(self): ...
    value = P
    >>> isinstance(sys.stdin, value), isinstance(1, value)
    True, False
"""


@pytest.mark.parametrize("source, expression, expected", read_claims(TYPED))
def test_typed_object_arrives(source, expression, expected):
    assert arrive(source, expression) == expected


@pytest.mark.parametrize(
    "made", ["NewType('N', int)", "TypeVar('N')", "ParamSpec('N')"]
)
def test_what_a_module_holds_goes_by_reference(made):
    value = define(f"from typing import *\nvalue = {made}").value
    value.__module__ = "module_of_types"

    with imported("module_of_types", N=value):
        arrived = waybill.loads(waybill.dumps(value))

    assert arrived is value


@pytest.mark.parametrize(
    "source",
    [
        "value = TypeVar('T', bound=int)",
        "value = ParamSpec('P')",
        "value = TypeVarTuple('Ts')",
        "value = NewType('N', int)",
        "value = TypeVar('T')\nvalue.__module__ = 'elsewhere'",
        "value = TypeVar('T', bound='C')\nvalue.__module__ = None",
        pytest.param("value = TypeAliasType('A', list[int])", marks=NEW),
        pytest.param("T = TypeVar('T')\ntype value[T] = list[T]", marks=NEW),
        *(
            pytest.param(
                f"def f[T: Later, *Ts, **P](): pass\nvalue = {made}", marks=NEW
            )
            for made in (
                *("f.__type_params__[0]", "f.__type_params__[1]"),
                *("f.__type_params__[2]", "f"),
            )
        ),
    ],
)
def test_module_of_what_typing_makes_is_that_of_the_sender(source):
    value = define(f"from typing import *\n{source}").value
    parameters = "getattr(value, '__type_params__', ())"
    asked = f"value.__module__, [one.__module__ for one in {parameters}]"

    assert fresh_process.send(value, asked) == eval(asked)


@pytest.mark.parametrize(
    "made", ["TypeVar('T', bound=int)", "ParamSpec('P')", "TypeVarTuple('Ts')"]
)
def test_type_variable_that_is_sent_on_has_the_same_bytes(made):
    value = define(f"from typing import *\nvalue = {made}").value
    data = waybill.dumps(value)

    assert fresh_process.load(data, "waybill.dumps(value)") == data


@NEW
def test_what_typing_puts_into_protocols_is_that_of_the_receiver():
    source = """
@runtime_checkable
class P(Protocol):
    def read(self): ...
value = P
"""
    own = "__import__('typing')._proto_hook"

    assert arrive(source, f"vars(value)['__subclasshook__'] is {own}")


def test_what_typing_puts_into_generic_named_tuples_is_that_of_the_receiver():
    source = "class value(NamedTuple, Generic[TypeVar('T')]): x: int"
    method = "vars(value)['__class_getitem__'].__func__"
    own = (
        "_generic_class_getitem"
        if sys.version_info >= (3, 12)
        else "Generic.__class_getitem__.__func__"
    )

    assert arrive(source, f"{method} is __import__('typing').{own}")


@LAZY
def test_an_annotation_that_names_nothing_does_not_bring_all_globals():
    source = """
import dataclasses, sys
system = sys
@dataclasses.dataclass
class Node:
    value: Undefined
value = Node.__dataclass_fields__["value"].type
"""
    told = "value.__forward_arg__, value.__owner__.__name__, value.__globals__"

    assert arrive(source, told) == ("Undefined", "Node", None)


# ---- PEP 695


OF_3_12 = """
alias arrives
    type Value = list[int]
    value = Value
    >>> str(value.__value__), value.__name__
    "list[int]", "Value"

recursive alias arrives
    type Json = dict[str, Json] | int
    value = Json
    >>> value.__value__.__args__[0].__args__[1] is value
    True

generic alias keeps its parameters
    type Pair[T] = tuple[T, T]
    value = Pair
    >>> (
    ...     value.__value__.__args__[0] is value.__type_params__[0],
    ...     str(value[int]).rpartition('.')[2],
    ... )
    True, "Pair[int]"

value of a sent alias is evaluated when it is asked for
    def f(): return Value.__value__
    type Value = list[Later]
    class Later: pass
    value = f
    >>> value().__args__[0].__name__
    "Later"

alias in a function sees its locals
    def outer(x):
        type Value = list[x]
        return Value
    value = outer(int)
    >>> str(value.__value__)
    "list[int]"

generic function keeps its parameters
    def value[T: int, *Ts, **P](x: T) -> T: return x
    >>> (
    ...     value(3), value.__annotations__['x'] is value.__type_params__[0],
    ...     [str(p) for p in value.__type_params__],
    ... )
    3, True, ["T", "Ts", "P"]

generic class keeps its parameters
    class C[T]:
        def f(self, x: T) -> T: return x
    value = C
    >>> (
    ...     value[int]().f(3), value.__type_params__ == value.__parameters__,
    ...     value.f.__annotations__['x'] is value.__type_params__[0],
    ... )
    3, True, True

bound of a parameter is evaluated when it is asked for
    def value[T: Later](x: T): pass
    class Later: pass
    >>> value.__type_params__[0].__bound__.__name__
    "Later"
"""

OF_3_13 = """
default of a parameter arrives
    def value[T = int, *Ts = *tuple[int], **P = [str]](): pass
    >>> [str(p.__default__) for p in value.__type_params__]
    ["<class 'int'>", "*tuple[int]", "[<class 'str'>]"]
"""


@pytest.mark.parametrize(
    "source, expression, expected",
    [*read_claims(OF_3_12, marks=NEW), *read_claims(OF_3_13, marks=NEWER)],
)
def test_parameters_and_aliases_arrive(source, expression, expected):
    assert arrive(source, expression) == expected


@NEW
def test_alias_that_cannot_be_evaluated_yet_arrives_lazy():
    source = "type Value = list[Later]\nvalue = Value"

    with pytest.raises(fresh_process.FreshProcessError, match="Later"):
        arrive(source, "value.__value__")
    assert arrive(source, "value.__name__") == "Value"


@NEW
def test_alias_of_a_module_goes_by_reference():
    with imported("module_of_types") as module:
        scope = {"__name__": "module_of_types"}
        exec("type Value = int", scope)
        module.Value = scope["Value"]
        arrived = waybill.loads(waybill.dumps(module.Value))

    assert arrived is scope["Value"]


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="they keep nothing there")
def test_forward_references_of_one_text_keep_what_they_gave_apart():
    data = waybill.dumps(typing.ForwardRef("int", is_class=True))
    first, second = waybill.loads(data), waybill.loads(data)
    first.__forward_value__, first.__forward_evaluated__ = int, True

    assert first is not second
    assert not second.__forward_evaluated__ and second.__forward_value__ is None
    assert second.__forward_is_class__ and eval(second.__forward_code__) is int
    assert not waybill.loads(data).__forward_evaluated__
