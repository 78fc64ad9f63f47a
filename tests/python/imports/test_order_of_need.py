"""What code needs that runs while a payload is built is there before."""

import subprocess
import sys
import textwrap

import fresh_process
import pytest
import waybill
from sources import define, write_files

FILES = {
    "on_pack/__init__.py": "",
    "on_pack/b.py": """
        OFFSET = 10
        def f(x): return x + OFFSET
        """,
    "on_pack/a.py": """
        class Item:
            def __init__(self, x):
                from .b import f
                self.x = f(x)
                self.raw = x
            def __reduce__(self): return Item, (self.raw,)
        ITEM = Item(1)
        def get(): return ITEM.x
        """,
}


@pytest.fixture
def package(tmp_path):
    write_files(tmp_path, FILES)
    program = """
import on_pack.a, on_pack.b
answer = waybill.dumps(on_pack.a.get, by_value=[on_pack])
"""
    return fresh_process.execute(program, path=[tmp_path])


def test_import_that_runs_while_a_payload_is_built_finds_its_modules(package):
    assert fresh_process.load(package, "value()") == 11


def test_import_that_runs_while_a_second_payload_is_built_finds_its_modules(package):
    program = (
        "first, second = waybill.loads(data), waybill.loads(data)\n"
        "answer = first(), second(), first()"
    )

    assert fresh_process.execute(program, package) == (11, 11, 11)


SCOPES = {
    "setstate reads a global that an outer function names": """
        set_it = object.__setattr__
        class K:
            def __getstate__(self): return {"x": self.x}
            def __setstate__(self, state):
                for key in state: set_it(self, key, state[key])
        default = K()
        default.x = 5
        class Holder:
            kept = default
            def get(self): return self.kept.x
        def value():
            return set_it is not None and default.x + Holder().get()
    """,
    "reducer calls a helper of a helper": """
        REGISTRY = {"five": 5}
        def look(name): return REGISTRY[name]
        def make(name): return Made(look(name))
        class Made:
            def __init__(self, x): self.x = x
            def __reduce__(self): return make, ("five",)
        made = Made(5)
        def value():
            return made.x + len(REGISTRY) + make("five").x - look("five") + 4
    """,
    "class attribute whose class has an own state": """
        marker = ["m"]
        class Param:
            def __setstate__(self, state): self.state = (state, marker[0])
            def __getstate__(self): return self.state[0]
            def __init__(self): self.state = (10, "m")
        class Command:
            default = Param()
        def value():
            return Command.default.state[0] + len(marker) - len(marker[0])
    """,
}


@pytest.mark.parametrize("source", SCOPES.values(), ids=SCOPES)
def test_globals_are_filled_before_code_that_reads_them_runs(source):
    function = define(source).value

    assert fresh_process.send(function, "value()") == 10


def test_error_of_code_that_runs_while_loading_says_where():
    scope = define(
        """
        class Broken:
            def __reduce__(self): return broken, (1,)
        def broken(x): raise KeyError("no such thing")
        table = {"first": [Broken()]}
        def value(): return table
        """
    )
    with pytest.raises(KeyError) as caught:
        waybill.loads(waybill.dumps(scope.value))

    path = "obj.__globals__['table']['first'][0]"
    assert path in caught.value.__notes__[0]


def test_error_of_an_argument_says_which_it_is():
    scope = define(
        """
        class Broken:
            def __reduce__(self): return broken, ()
        def broken(): raise KeyError("no such thing")
        class Around:
            def __init__(self, *held): self.held = held
            def __reduce__(self): return Around, (1, {Broken()})
        """
    )
    with pytest.raises(KeyError) as caught:
        waybill.loads(waybill.dumps([scope.Around()]))

    assert "obj[0]<argument 1><element 0>" in caught.value.__notes__[0]


def test_error_of_a_key_says_which_it_is():
    scope = define(
        """
        class Key:
            is_broken = False
            def __hash__(self):
                if self.is_broken: raise KeyError("no such thing")
                return 1
        """
    )
    data = waybill.dumps([{"x": {scope.Key(): 1}}])
    scope.Key.is_broken = True
    with pytest.raises(KeyError) as caught:
        waybill.loads(data)

    assert "obj[0]['x'][<Key>]" in caught.value.__notes__[0]


def test_instance_whose_class_wants_arguments_is_made_without_them():
    scope = define(
        """
        class Point:
            __slots__ = ("x", "y")
            def __new__(cls, x, y):
                self = object.__new__(cls)
                self.x, self.y = x, y
                return self
        point = Point(3, 4)
        """
    )

    assert fresh_process.send(scope.point, "value.x, value.y") == (3, 4)


def test_equal_functions_have_equal_bytes_however_globals_are_used():
    source = """
        import json
        class K: pass
        item = K()
        item.x = 1
        def helper(): return json, item
        def value(): return item, helper, K, 5
    """

    first, second = (waybill.fingerprint(define(source).value) for _ in range(2))

    assert first == second


#: Each is met in a method of its class, before that has all its methods.
MET_EARLY = {
    "its class makes it with arguments, by a method that comes later": """
        class Poly:
            __slots__ = ("rep",)
            def first(self): return SEVEN.rep
            def __new__(cls, rep): return cls.new(rep)
            def __getnewargs__(self): return (self.rep,)
            @classmethod
            def new(cls, rep):
                self = object.__new__(cls)
                self.rep = rep
                return self
        SEVEN = Poly(7)
        def value(): return Poly(3).rep + SEVEN.first()
    """,
    "__new__ itself holds it, and that of a base wants arguments": """
        class Base:
            def __new__(cls, x, y): return object.__new__(cls)
        class Only(Base): pass
        only = object.__new__(Only)
        only.x = 10
        Only.__new__ = lambda cls: only
        def value(): return Only().x if Only() is Only() else 0
    """,
    "__new__ itself holds it, and the class says that it has no state": """
        class Base:
            def __new__(cls, x, y): return object.__new__(cls)
        class Only(Base):
            def __getstate__(self): return None
        def make_only(only):
            only.x = 10
            Only.__new__ = lambda cls: only
        make_only(object.__new__(Only))
        def value(): return Only().x if Only() is Only() else 0
    """,
}


@pytest.mark.parametrize("source", MET_EARLY.values(), ids=MET_EARLY)
def test_instance_met_before_its_class_can_make_it_arrives(source):
    function = define(source).value

    assert fresh_process.send(function, "value()") == 10


def sent_from_module_by_value(source, folder):
    """A payload of the function `value` of a module with this source, made twice."""
    (folder / "on_single.py").write_text(textwrap.dedent(source))
    program = """
        import sys
        sys.path.insert(0, sys.argv[1])
        import waybill, on_single
        data = [waybill.dumps(on_single.value, by_value=[on_single]) for _ in range(2)]
        assert data[0] == data[1]
        sys.stdout.buffer.write(data[0])
    """
    command = [sys.executable, "-I", "-c", textwrap.dedent(program), str(folder)]
    return subprocess.run(command, capture_output=True, check=True).stdout


CALLED_EARLY = """
        class Poly:
            def first(self): return SEVEN.rep
            def __init__(self, rep): self.rep = self.checked(rep)
            def __reduce__(self): return Poly, (self.rep,)
            @staticmethod
            def checked(rep): return int(rep)
        SEVEN = Poly(7)
        def value(): return Poly(3).rep + SEVEN.first()
    """


#: What a constructor names that runs while a class is built which it names too.
NAMED_BY_CONSTRUCTORS = {
    "cache of a function": """
        import functools
        class Item:
            def __init__(self, x): self.x = checked(x)
            def __reduce__(self): return Item, (self.x,)
            def other(self): return Holder.item.x
        @functools.lru_cache
        def checked(x): return int(x)
        class Holder: item = Item(5)
        def value(): return Item(5).x + Holder.item.other()
    """,
    "thread-local": """
        import threading
        class Item:
            def __init__(self, x): self.x = x * settings.factor
            def __reduce__(self): return Item, (5,)
            def other(self): return Holder.item.x
        class Settings(threading.local): factor = 1
        settings = Settings()
        class Holder: item = Item(5)
        def value(): return Item(5).x + Holder.item.other()
    """,
}


@pytest.mark.parametrize(
    "source", NAMED_BY_CONSTRUCTORS.values(), ids=NAMED_BY_CONSTRUCTORS
)
def test_what_a_constructor_names_comes_before_classes_that_hold_instances(
    source, tmp_path
):
    data = sent_from_module_by_value(source, tmp_path)

    assert fresh_process.load(data, "value()") == 10


def test_methods_of_a_class_by_value_come_before_what_they_name(tmp_path):
    data = sent_from_module_by_value(CALLED_EARLY, tmp_path)

    assert fresh_process.load(data, "value()") == 10
