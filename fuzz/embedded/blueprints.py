"""Object graphs from bytes, for fuzz_round_trip.

Each byte is a step that adds an object to a pool, made of objects in the pool, or
connects objects of the pool. Any bytes are a blueprint; one that ends early continues
with zeros.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Hashable, Iterator
from types import CellType, FunctionType
from typing import Any

#: Enough for any shape, and few enough that tuples in keys do not nest too deeply.
MAX_STEPS = 100

# Names that a template reads are globals, cells and defaults that blueprints fill.
TEMPLATES = '''
def plain(a, b=1, *rest, c=2, **more):
    """Some text."""
    return a, alpha, beta, more

def closing():
    shared = other = None
    def reads():
        return shared, alpha
    def writes(value: int) -> None:
        nonlocal shared
        shared = value, other
    return reads, writes

def nesting():
    return [lambda: (item, beta) for item in range(3)]

async def later():
    yield (1, 2.5, None, ..., "text", -0.0, frozenset({"a"}))
'''


def templates() -> list[FunctionType]:
    scope: dict[str, Any] = {"__name__": "blueprint"}
    exec(compile(TEMPLATES, "blueprint.py", "exec"), scope)
    return [scope["plain"], *scope["closing"](), scope["nesting"], scope["later"]]


FUNCTIONS = templates()
SINGLES = (None, True, False, ..., NotImplemented)
REALS = (0.0, -0.0, float("inf"), -float("inf"), float("nan"), 1.5, 5e-324, 1e308)


class Blueprint:
    """The bytes of a blueprint, read from the front, and the objects made so far."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.pool: list[Any] = [[], {}]
        self.scopes: list[dict[str, Any]] = [{"__name__": "blueprint"}]
        self.cells: list[CellType] = [CellType()]

    def take(self, count: int) -> bytes:
        self.at += count
        return self.data[self.at - count : self.at].ljust(count, b"\0")

    def byte(self) -> int:
        return self.take(1)[0]

    def signed(self, size: int) -> int:
        return int.from_bytes(self.take(size), "little", signed=True)

    def pick(self) -> Any:
        return self.pool[-1 - self.byte() % len(self.pool)]

    def picks(self) -> list[Any]:
        return [self.pick() for _ in range(self.byte() % 8)]

    def key(self) -> Hashable:
        """A hashable object. Functions are excluded: their order in sets is not
        fixed."""
        found: Any = self.pick()
        return found if is_plain(found) else self.signed(1)

    def newest(self, kind: type) -> Iterator[Any]:
        return (found for found in reversed(self.pool) if type(found) is kind)


def is_plain(found: Any) -> bool:
    pending = [found]
    while pending:
        item = pending.pop()
        if type(item) in (tuple, frozenset):
            pending.extend(item)
        elif type(item) not in (bool, int, float, complex, str, bytes, type(None)):
            return False
    return True


def text(blueprint: Blueprint) -> str:
    data = blueprint.take(2 * (blueprint.byte() % 40))
    return data.decode(
        "utf-16-le", "surrogatepass" if blueprint.byte() % 2 else "replace"
    )


def a_range(blueprint: Blueprint) -> range:
    step = blueprint.signed(1) or 1
    return range(blueprint.signed(4), blueprint.signed(9), step)


def function(blueprint: Blueprint) -> FunctionType:
    template = FUNCTIONS[blueprint.byte() % len(FUNCTIONS)]
    flags = blueprint.byte()
    if flags & 1:
        blueprint.scopes.append({"__name__": "blueprint"})
    scope = blueprint.scopes[-1]
    if flags & 2:
        scope["alpha"] = blueprint.pick()
    if flags & 4:
        scope["beta"] = blueprint.pick()
    free = template.__code__.co_freevars
    if flags & 8:
        blueprint.cells += [CellType(blueprint.pick()) for _ in free]
    cells = tuple(
        blueprint.cells[-1 - i % len(blueprint.cells)] for i in range(len(free))
    )
    result = FunctionType(
        template.__code__, scope, template.__name__, None, cells or None
    )
    result.__kwdefaults__ = {"c": blueprint.pick()} if flags & 16 else None
    result.__defaults__ = (blueprint.pick(), blueprint.pick()) if flags & 32 else None
    if flags & 64:
        result.__dict__["note"] = blueprint.pick()
        result.__name__ = "renamed"
    if flags & 128:
        result.__annotations__ = {"a": blueprint.pick()}
    return result


def tie_list(blueprint: Blueprint) -> Any:
    found = next(blueprint.newest(list))
    found.append(blueprint.pick())
    return found


def tie_dict(blueprint: Blueprint) -> Any:
    found = next(blueprint.newest(dict))
    found[blueprint.key()] = blueprint.pick()
    return found


def tie_cell(blueprint: Blueprint) -> None:
    blueprint.cells[-1].cell_contents = blueprint.pick()


#: The steps, by the value of a byte modulo their number.
STEPS: tuple[Callable[[Blueprint], Any], ...] = (
    lambda blueprint: blueprint.signed(1),
    lambda blueprint: blueprint.signed(8),
    lambda blueprint: blueprint.signed(blueprint.byte() % 40),
    lambda blueprint: struct.unpack("<d", blueprint.take(8))[0],
    lambda blueprint: REALS[blueprint.byte() % len(REALS)],
    lambda blueprint: complex(*struct.unpack("<dd", blueprint.take(16))),
    text,
    lambda blueprint: text(blueprint) * 70,
    lambda blueprint: blueprint.take(blueprint.byte()),
    lambda blueprint: SINGLES[blueprint.byte() % len(SINGLES)],
    lambda blueprint: blueprint.picks(),
    lambda blueprint: tuple(blueprint.picks()),
    lambda blueprint: {
        blueprint.key(): blueprint.pick() for _ in range(blueprint.byte() % 6)
    },
    lambda blueprint: {blueprint.key() for _ in range(blueprint.byte() % 8)},
    lambda blueprint: frozenset(blueprint.key() for _ in range(blueprint.byte() % 8)),
    lambda blueprint: bytearray(blueprint.take(blueprint.byte() % 16)),
    # Made of plain objects: a slice in a cycle cannot be sent.
    lambda blueprint: slice(blueprint.key(), blueprint.key(), blueprint.key()),
    a_range,
    function,
    lambda blueprint: blueprint.picks() * 20,
    tie_list,
    tie_dict,
    tie_cell,
)


def build_graph(data: bytes) -> Any:
    """Builds the graph of a blueprint."""
    blueprint = Blueprint(data)
    for _ in range(MAX_STEPS):
        if blueprint.at >= len(data):
            break
        blueprint.pool.append(STEPS[blueprint.byte() % len(STEPS)](blueprint))
    return blueprint.pool
