"""Of a module by value arrives what code asks of it, where its bytecode tells."""

import textwrap

import fresh_process
import pytest
import waybill
from fresh_process import FreshProcessError

FILES = {
    "pm_pack/__init__.py": """
        from . import deep, heavy
        NAME = "pack"
        """,
    "pm_pack/heavy.py": """
        import threading
        from .other import later
        BLOB = "x" * 100_000
        STEPS = (step for step in ())
        FACTOR = 2
        TABLE = {}
        def double(x): return FACTOR * x
        def triple(x): return 3 * x
        def put(x):
            TABLE[x] = x
            return sorted(TABLE)
        def __getattr__(name): return name.upper()
        """,
    "pm_pack/other.py": """
        def later(x): return x
        """,
    "pm_pack/deep/__init__.py": "",
    "pm_pack/deep/inner.py": """
        VALUE = 7
        OTHER = "y" * 100_000
        """,
    "pm_pack/locals.py": """
        import threading
        class Stack(threading.local):
            def __init__(self, first, *, second=0):
                self.items = [first, second]
        plain = threading.local()
        plain.seen = 1
        stack = Stack(1, second=2)
        stack.items.append(3)
        class Guarded:
            lock = threading.Lock()
            again = threading.RLock()
        def use():
            return hasattr(plain, "seen"), stack.items, type(stack).__name__
        """,
    "pm_pack/hints.py": """
        from __future__ import annotations
        import decimal
        from typing import Any
        from . import heavy
        from .hinted import Heavy, Light
        def plain(x: Heavy, y: Any = None) -> heavy.Unknown: return x
        def imported(x: decimal.Decimal, y: Any) -> Any: return x
        class Own:
            def same(self) -> Own: return self
        """,
    "pm_pack/hinted.py": """
        class Heavy:
            BLOB = "x" * 100_000
        class Light: pass
        """,
    "pm_pack/lazy/__init__.py": """
        import sys
        HOMES = {"Heavy": ".heavy", "glow": ".light"}
        def moved(name):
            own = sys.modules[__name__].__dict__
            if name in own: return own[name]
            raise AttributeError(name)
        def __getattr__(name):
            if name not in HOMES: return moved(name)
            from importlib import import_module
            return getattr(import_module(HOMES[name], __name__), name)
        """,
    "pm_pack/lazy/heavy.py": """
        class Heavy: BLOB = "x" * 100_000
        """,
    "pm_pack/lazy/light.py": """
        from .heavy import Heavy
        def glow(): return 7
        """,
    "pm_pack/pair/__init__.py": """
        def __getattr__(name):
            from . import inner
            return getattr(inner, name)
        """,
    "pm_pack/pair/inner.py": """
        A, B, C = 1, 2, 3
        """,
    "pm_pack/uses_pair.py": """
        import pm_pack.pair.inner
        from . import pair
        from .pair import inner
        def by_chain(): return pair.A, pair.B
        def by_from():
            from .pair import A, B
            return A, B
        def beside_an_import():
            from .pair.inner import C
            return pair.A, pair.B, C
        def beside_the_submodule(): return pair.A, inner.B, pair.C
        def in_functions_inside(): return (lambda: pair.A)(), (lambda: pair.B)()
        """,
    "pm_pack/uses_lazy.py": """
        def use():
            from .lazy import glow
            return glow()
        """,
    "pm_pack/holder.py": """
        from . import heavy, hinted
        VALUE = 1
        def itself():
            from . import holder
            return holder
        """,
    "pm_pack/work.py": """
        import pm_pack
        import pm_pack.deep.inner
        from . import heavy
        def by_from(x):
            from .heavy import double
            return double(x)
        def by_import(x):
            import pm_pack.heavy
            return pm_pack.heavy.triple(x)
        def by_import_as(x):
            import pm_pack.heavy as name
            return name.triple(x)
        def by_global(x): return heavy.double(x)
        def by_chain(): return pm_pack.deep.inner.VALUE
        def by_getattr(x): return getattr(heavy, "double")(x)
        def by_hook(): return heavy.computed
        def whole(): return sorted(n for n in vars(heavy) if n.isupper())
        def escapes(): return len(str(heavy)) > 0, heavy
        def never_used():
            from .heavy import double, triple
            return 5
        def put(x): return heavy.put(x)
        def both(x):
            from .heavy import double
            import pm_pack.heavy
            return double(x) + pm_pack.heavy.triple(x)
        """,
}

IMPORTS = """
import pm_pack, pm_pack.work as work, pm_pack.locals
import pm_pack.hints, pm_pack.holder, pm_pack.uses_lazy, pm_pack.uses_pair
import pm_pack.lazy.light
"""
PACKAGE = "pm_pack"


@pytest.mark.parametrize(
    "name, call, answer",
    [
        ("work.by_from", "value(2)", 4),
        ("work.by_import", "value(2)", 6),
        ("work.by_import_as", "value(2)", 6),
        ("work.by_global", "value(2)", 4),
        ("work.by_getattr", "value(2)", 4),
        ("work.both", "value(2)", 10),
        ("work.by_chain", "value()", 7),
        ("pm_pack.uses_lazy.use", "value()", 7),
        # Classes that only text annotations name stay behind.
        ("pm_pack.hints.plain", "value(3)", 3),
    ],
)
def test_function_brings_what_it_asks_of_a_module_and_nothing_else(
    made, name, call, answer
):
    data = made(name)

    assert len(data) < (1_000 if "hints" in name else 10_000)
    assert fresh_process.load(data, call) == answer


def test_name_that_a_module_computes_brings_what_computes_it(made):
    assert fresh_process.load(made("work.by_hook"), "value()") == "COMPUTED"


def test_names_that_an_import_statement_takes_are_there_although_unused(made):
    assert fresh_process.load(made("work.never_used"), "value()") == 5


def test_module_whose_dict_is_asked_for_comes_whole_and_says_what_cannot(made):
    with pytest.raises(
        FreshProcessError, match=r"heavy'\].STEPS|\.STEPS \(generator\)"
    ):
        made("work.whole")


def test_module_that_escapes_comes_whole(made):
    with pytest.raises(FreshProcessError, match="cannot pickle 'generator' object"):
        made("work.escapes")


def test_modules_that_a_whole_module_imports_come_in_parts(made):
    data = made("pm_pack.holder.itself")
    program = (
        "[m := value(), m.VALUE, sorted(n for n in vars(m.hinted) if n[0] != '_')][1:]"
    )

    assert len(data) < 10_000
    assert fresh_process.load(data, program) == [1, []]


def test_text_annotations_mean_what_the_receiver_has(made):
    program = (
        "{k: v.__name__ for k, v in __import__('typing').get_type_hints(value).items()}"
    )
    hints = {"x": "Decimal", "y": "Any", "return": "Any"}

    assert fresh_process.load(made("pm_pack.hints.imported"), program) == hints


def test_text_annotations_mean_what_the_payload_brings(made):
    program = "__import__('typing').get_type_hints(value.same)['return'] is value"

    assert fresh_process.load(made("pm_pack.hints.Own"), program) is True


def test_functions_of_one_payload_add_up_to_one_module(made):
    program = """
        import sys
        value[0](1), value[1](1)
        first = sys.modules["pm_pack.heavy"]
        answer = value[0](2), value[1](2), sorted(n for n in vars(first) if n[0] != "_")
    """
    data = made("[work.by_from, work.by_import]")

    found = fresh_process.execute(
        "value = waybill.loads(data)\n" + textwrap.dedent(program), data
    )

    assert found == (4, 6, ["FACTOR", "double", "triple"])


def test_module_as_a_value_beside_a_part_of_it_is_whole(made):
    program = (
        "from pm_pack.deep import inner\n"
        "answer = waybill.dumps([work.by_chain, inner], by_value=[pm_pack])"
    )
    expression = "value[0](), len(value[1].OTHER), value[1].VALUE"

    assert fresh_process.load(made(program), expression) == (7, 100_000, 7)


def test_later_payload_leaves_what_earlier_functions_import(made):
    first, second = made("work.by_from"), made("work.by_import")
    program = (
        f"first = waybill.loads(data[:{len(first)}])\n"
        f"second = waybill.loads(data[{len(first)}:])\n"
        "answer = first(2), second(2), first(3)"
    )

    assert fresh_process.execute(program, first + second) == (4, 6, 6)


def test_payload_that_fails_leaves_no_module_behind(made):
    program = (
        "class Fails:\n"
        "    def __reduce__(self): return int, ('no number',)\n"
        "answer = waybill.dumps([work.by_import, Fails()], by_value=[pm_pack])"
    )
    check = (
        "import importlib\n"
        "try: waybill.loads(data)\n"
        "except ValueError: pass\n"
        "try: importlib.import_module('pm_pack.heavy')\n"
        "except ModuleNotFoundError: answer = 'missing'\n"
        "else: answer = 'there'"
    )

    assert fresh_process.execute(check, made(program)) == "missing"


def test_payload_that_fails_takes_nothing_from_the_module_of_another(made):
    program = """
        class Step:  # Its receiver calls sys.breakpointhook.
            def __init__(self, name): self.name = name
            def __reduce__(self): return breakpoint, (self.name,)
        class Fails:
            def __reduce__(self): return int, ("no number",)
        answer = waybill.dumps([
            waybill.dumps(value, by_value=[pm_pack])
            for value in (
                (work.by_from, Step("first"), work.by_import),
                (work.by_import, Step("second"), Fails()),
            )
        ])
    """
    check = """
        import sys, threading
        is_between, goes_on = threading.Event(), threading.Event()
        first, second = waybill.loads(data)
        def load_second():
            try: waybill.loads(second)
            except ValueError: errors.append("no number")
        def at(name):
            if name == "first":
                thread.start()
                is_between.wait(30)
            else:
                is_between.set()
                goes_on.wait(30)
        errors, sys.breakpointhook = [], at
        thread = threading.Thread(target=load_second)
        by_from, _, by_import = waybill.loads(first)
        goes_on.set()
        thread.join()
        answer = errors, by_from(2), by_import(2)
    """

    found = fresh_process.execute(
        textwrap.dedent(check), made(textwrap.dedent(program))
    )

    assert found == (["no number"], 4, 6)


def test_thread_locals_of_modules_by_value_begin_anew(made):
    data = made("pm_pack.locals.use")

    assert fresh_process.load(data, "value()") == (False, [1, 2], "Stack")


def test_lock_of_a_class_of_a_module_by_value_begins_anew(made):
    data = made("pm_pack.locals.Guarded")
    program = "[k.acquire(False) for k in (value.lock, value.again, value.again)]"

    assert fresh_process.load(data, program) == [True, True, True]


def test_lock_of_a_class_that_somebody_holds_is_refused(made):
    with pytest.raises(FreshProcessError, match=r"Guarded\.lock \(_thread\.lock\)"):
        made("pm_pack.locals.Guarded.lock.acquire() and pm_pack.locals.Guarded")


def test_equal_payloads_have_equal_bytes(made):
    assert made("[work.both, work.by_chain]") == made("[work.both, work.by_chain]")


def test_payload_names_no_module_of_waybill(made):
    imports = waybill.inspect(made("work.both"))["imports"]

    assert not [i for i in imports if i["module"].startswith("waybill")]


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("by_chain", (1, 2)),
        ("by_from", (1, 2)),
        ("beside_an_import", (1, 2, 3)),
        ("beside_the_submodule", (1, 2, 3)),
        ("in_functions_inside", (1, 2)),
    ],
)
def test_names_that_a_package_takes_from_one_submodule_arrive(made, name, answer):
    data = made(f"pm_pack.uses_pair.{name}")

    assert fresh_process.load(data, "value()") == answer


def test_functions_that_take_names_from_one_submodule_arrive_together(made):
    data = made("[pm_pack.uses_pair.by_chain, pm_pack.uses_pair.beside_an_import]")

    assert fresh_process.load(data, "[f() for f in value]") == [(1, 2), (1, 2, 3)]
