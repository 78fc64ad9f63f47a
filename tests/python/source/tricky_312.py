"""Syntax of 3.12 and later: type parameters, and quotes inside of formatted strings.

Read by units_of_modules.py.
"""


def first[T](items: list[T], key=lambda x: x) -> T:
    return items[0]


def names_its_parameter[T: int, *Ts, **P](value):
    def inner(): return T.__name__, Ts.__name__, P.__name__
    return inner()


class Box[T]:
    def __init__(self, value): self.value = value

    def parameter(self): return T.__name__, Box.__name__

    def both[U](self, other: U): return T.__name__, U.__name__, __class__.__name__

    def plain(self): return self.value

    class Inner[V]:
        def all(self): return T.__name__, V.__name__


class WithLambdas[T]:
    both = lambda self, k=lambda: T.__name__: (k(), T.__name__, WithLambdas.__name__)
    private = lambda self: self.__hidden()

    def __hidden(self): return (lambda: T.__name__)()


def around_generic(a):
    class Inner[T]:
        def method(self): return a, T.__name__, Inner.__name__
        value = lambda self: (a, T.__name__)
    return Inner().method(), Inner().value()


class Tabs[T]:
	def parameter(self):
		return T.__name__

	def plain(self): return "plain"


def local_generic(n):
    class Local[T](list[T]):
        def size(self): return n, T.__name__

    type Alias[K] = dict[K, n]
    return Local().size(), Alias.__name__


def quotes(d):
    return f"{d["a"]} {f"{f"{1 + 1}"}"} {'\n'.join(["x"])}"


def nested_comprehensions(rows):
    return [[(lambda: cell)() for cell in row] for row in rows]


class InClass:
    values = [(lambda: i)() for i in range(3)]
    scale = 2

    def total(self): return sum(self.values) * self.scale


CASES = [
    ("first([3, 4])", 3),
    ("names_its_parameter(1)", ("T", "Ts", "P")),
    ("Box(1).parameter(), Box(2).both(3)", (("T", "Box"), ("T", "U", "Box"))),
    ("Box(1).plain(), Box.Inner().all()", (1, ("T", "V"))),
    ("WithLambdas().both()", ("T", "T", "WithLambdas")),
    ("WithLambdas().private()", "T"),
    ("around_generic(1)", ((1, "T", "Inner"), (1, "T"))),
    ("Tabs().parameter(), Tabs().plain()", ("T", "plain")),
    ("local_generic(4)", ((4, "T"), "Alias")),
    ("quotes({'a': 5})", "5 2 x"),
    ("nested_comprehensions([[1], [2, 3]])", [[1], [2, 3]]),
    ("InClass().total()", 6),
]
