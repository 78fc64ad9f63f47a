"""Object graphs from bytes, for fuzz_round_trip.

Each byte is a step that adds an object to a pool, made of objects in the pool, or
connects objects of the pool. Any bytes are a recipe; one that ends early continues with
zeros.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Hashable, Iterator
from types import CellType, FunctionType
from typing import Any

#: Enough for any shape, and few enough that tuples in keys do not nest too deeply.
MAX_STEPS = 100

# Names that a template reads are globals, cells and defaults that recipes fill.
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
    scope: dict[str, Any] = {"__name__": "recipe"}
    exec(compile(TEMPLATES, "recipe.py", "exec"), scope)
    return [scope["plain"], *scope["closing"](), scope["nesting"], scope["later"]]


FUNCTIONS = templates()
SINGLES = (None, True, False, ..., NotImplemented)
REALS = (0.0, -0.0, float("inf"), -float("inf"), float("nan"), 1.5, 5e-324, 1e308)


class Recipe:
    """The bytes of a recipe, read from the front, and the objects made so far."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0
        self.pool: list[Any] = [[], {}]
        self.scopes: list[dict[str, Any]] = [{"__name__": "recipe"}]
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
        """A hashable object; no function, whose order in sets is not fixed."""
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


def text(recipe: Recipe) -> str:
    data = recipe.take(2 * (recipe.byte() % 40))
    return data.decode("utf-16-le", "surrogatepass" if recipe.byte() % 2 else "replace")


def a_range(recipe: Recipe) -> range:
    step = recipe.signed(1) or 1
    return range(recipe.signed(4), recipe.signed(9), step)


def function(recipe: Recipe) -> FunctionType:
    template = FUNCTIONS[recipe.byte() % len(FUNCTIONS)]
    flags = recipe.byte()
    if flags & 1:
        recipe.scopes.append({"__name__": "recipe"})
    scope = recipe.scopes[-1]
    if flags & 2:
        scope["alpha"] = recipe.pick()
    if flags & 4:
        scope["beta"] = recipe.pick()
    free = template.__code__.co_freevars
    if flags & 8:
        recipe.cells += [CellType(recipe.pick()) for _ in free]
    cells = tuple(recipe.cells[-1 - i % len(recipe.cells)] for i in range(len(free)))
    result = FunctionType(
        template.__code__, scope, template.__name__, None, cells or None
    )
    result.__kwdefaults__ = {"c": recipe.pick()} if flags & 16 else None
    result.__defaults__ = (recipe.pick(), recipe.pick()) if flags & 32 else None
    if flags & 64:
        result.__dict__["note"] = recipe.pick()
        result.__name__ = "renamed"
    if flags & 128:
        result.__annotations__ = {"a": recipe.pick()}
    return result


def tie_list(recipe: Recipe) -> Any:
    found = next(recipe.newest(list))
    found.append(recipe.pick())
    return found


def tie_dict(recipe: Recipe) -> Any:
    found = next(recipe.newest(dict))
    found[recipe.key()] = recipe.pick()
    return found


def tie_cell(recipe: Recipe) -> None:
    recipe.cells[-1].cell_contents = recipe.pick()


#: The steps, by the value of a byte modulo their number.
STEPS: tuple[Callable[[Recipe], Any], ...] = (
    lambda recipe: recipe.signed(1),
    lambda recipe: recipe.signed(8),
    lambda recipe: recipe.signed(recipe.byte() % 40),
    lambda recipe: struct.unpack("<d", recipe.take(8))[0],
    lambda recipe: REALS[recipe.byte() % len(REALS)],
    lambda recipe: complex(*struct.unpack("<dd", recipe.take(16))),
    text,
    lambda recipe: text(recipe) * 70,
    lambda recipe: recipe.take(recipe.byte()),
    lambda recipe: SINGLES[recipe.byte() % len(SINGLES)],
    lambda recipe: recipe.picks(),
    lambda recipe: tuple(recipe.picks()),
    lambda recipe: {recipe.key(): recipe.pick() for _ in range(recipe.byte() % 6)},
    lambda recipe: {recipe.key() for _ in range(recipe.byte() % 8)},
    lambda recipe: frozenset(recipe.key() for _ in range(recipe.byte() % 8)),
    lambda recipe: bytearray(recipe.take(recipe.byte() % 16)),
    # Made of plain objects: a slice in a cycle cannot be sent.
    lambda recipe: slice(recipe.key(), recipe.key(), recipe.key()),
    a_range,
    function,
    lambda recipe: recipe.picks() * 20,
    tie_list,
    tie_dict,
    tie_cell,
)


def build_graph(data: bytes) -> Any:
    """Builds the graph of a recipe."""
    recipe = Recipe(data)
    for _ in range(MAX_STEPS):
        if recipe.at >= len(data):
            break
        recipe.pool.append(STEPS[recipe.byte() % len(STEPS)](recipe))
    return recipe.pool
