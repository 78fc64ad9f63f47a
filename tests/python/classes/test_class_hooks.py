"""Classes whose bases, metaclasses or attributes have a say in how they are made.

What they did at the sender travels as attributes, and need not be done again.
"""

import sys

import fresh_process
import pytest
import waybill
from sources import define, imported

SOURCES = {
    "__init_subclass__ that wants an attribute": (
        """
        class Base:
            def __init_subclass__(cls, **kw):
                super().__init_subclass__(**kw)
                if not hasattr(cls, 'name'): raise TypeError('no name')
        class C(Base): name = 'c'
        """,
        "value.name == 'c'",
    ),
    "__init_subclass__ that wants a method": (
        """
        class Base:
            def run(self): raise NotImplementedError
            def __init_subclass__(cls):
                if cls.run is Base.run: raise TypeError('no run')
        class C(Base):
            def run(self): return 1
        """,
        "value().run() == 1",
    ),
    "metaclass with a property that the class hides": (
        """
        class Meta(type):
            @property
            def nargs(cls): return cls.__dict__.get('nargs', 'none'), cls.count()
        class C(metaclass=Meta):
            nargs = None
            @classmethod
            def count(cls): return 1
        """,
        "value.nargs == (None, 1)",
    ),
    "metaclass that wants keywords": (
        """
        class Meta(type):
            def __new__(m, name, bases, ns, *, tag, **kw):
                c = super().__new__(m, name, bases, ns, **kw)
                c.tag = tag
                return c
            def __init__(c, name, bases, ns, *, tag, **kw):
                super().__init__(name, bases, ns)
        class C(metaclass=Meta, tag='t'): pass
        """,
        "value.tag == 't' and type(value).__name__ == 'Meta'",
    ),
    "metaclass of a metaclass that wants keywords": (
        """
        import abc
        class Meta(abc.ABCMeta):
            def __init__(c, name, bases, ns, tag): super().__init__(name, bases, ns)
            def __new__(m, name, bases, ns, tag):
                return super().__new__(m, name, bases, ns)
        class C(metaclass=Meta, tag='t'):
            @abc.abstractmethod
            def f(self): pass
        """,
        "value.__abstractmethods__ == {'f'} and issubclass(int, value.register(int) "
        "and value)",
    ),
    "metaclass that refuses attributes": (
        """
        class Meta(type):
            def __setattr__(c, name, value): raise TypeError('constant')
        class C(metaclass=Meta):
            MAX = 5
            def f(self): return self.MAX
        """,
        "value.MAX == 5 and value().f() == 5",
    ),
    "metaclass that refuses attributes, and a base that wants a keyword": (
        """
        class Meta(type):
            def __setattr__(c, name, value): raise TypeError('constant')
        class Base(metaclass=Meta):
            def __init_subclass__(cls, *, tag): type.__setattr__(cls, 'tag', tag)
        class C(Base, tag='t'): pass
        """,
        "value.tag == 't' and value.__base__.__name__ == 'Base'",
    ),
    "metaclass that counts attributes": (
        """
        class Meta(type):
            count = 0
            def __setattr__(c, name, value):
                type.__setattr__(Meta, 'count', Meta.count + 1)
                super().__setattr__(name, value)
        class C(metaclass=Meta): x = 1
        C.y = 2
        """,
        "(value.x, value.y, value.count) == (1, 2, 1)",
    ),
    "property __name__": (
        """
        class C:
            def __init__(self, f): self.f = f
            @property
            def __name__(self): return self.f.__name__ + '_wrapped'
        """,
        "value(len).__name__ == 'len_wrapped' and value.__name__ == 'C'",
    ),
    "text __name__": (
        "class C: __name__ = 'D'",
        "(value.__name__, value().__name__) == ('C', 'D')",
    ),
    "property __class__": (
        """
        class C:
            __slots__ = ('o',)
            def __init__(self, o): self.o = o
            @property
            def __class__(self): return type(self.o)
            def __reduce_ex__(self, p): return C, (self.o,)
        """,
        "isinstance(value(5), int) and type(value(5)) is value",
    ),
    "property __dict__": (
        """
        class C:
            def __init__(self, d): object.__setattr__(self, '_d', d)
            __dict__ = property(lambda self: {'shown': self._d})
        """,
        "vars(value(1)) == {'shown': 1}",
    ),
    "__init_subclass__ of a generic class": (
        """
        from typing import Generic, TypeVar
        T = TypeVar('T')
        class C(Generic[T]):
            made = []
            def __init_subclass__(cls, **kw):
                super().__init_subclass__(**kw)
                C.made.append(cls.__name__)
        """,
        "type('D', (value,), {}).made == ['D'] and value[int].__origin__ is value",
    ),
    "__init_subclass__ of a generic base, which wants keywords": (
        """
        from typing import Generic, TypeVar
        T = TypeVar('T')
        class Base(Generic[T]):
            made = []
            @classmethod
            def __init_subclass__(cls, *, tag, **kw):
                super().__init_subclass__(**kw)
                cls.made.append((cls.__name__, tag))
        class C(Base[int], tag=1): pass
        """,
        "value.made == [('C', 1)]"
        " and value.__orig_bases__[0].__args__ == (int,)"
        # On 3.15 a shield is there until it is collected.
        " and (sys.version_info < (3, 15) or __import__('gc').collect() >= 0)"
        " and {c.__name__ for c in value.__mro__[2].__subclasses__()}"
        "     .isdisjoint({'_Shield'})",
    ),
    "__init_subclass__ and __subclasshook__ of a protocol": (
        """
        from typing import Protocol, TypeVar, runtime_checkable
        T = TypeVar('T')
        @runtime_checkable
        class P(Protocol[T]):
            made = []
            def __init_subclass__(cls, **kw):
                super().__init_subclass__(**kw)
                P.made.append(cls.__name__)
            def read(self): ...
            @classmethod
            def __subclasshook__(cls, other): return NotImplemented
        class C(P[int]):
            def read(self): return 3
        """,
        "value().read() == 3 and value.made == ['C']"
        " and value.__mro__[1]._is_protocol and not value._is_protocol",
    ),
    "__class_getitem__ of a generic class": (
        """
        from typing import Generic, TypeVar
        T = TypeVar('T')
        class Base(Generic[T]):
            def __class_getitem__(cls, key):
                return Later, super().__class_getitem__(key)
        class Later: pass
        alias = Base[int][1]
        class C(alias): pass
        """,
        "value.__orig_bases__[0].__args__ == (int,)"
        " and value.__mro__[1][str][0].__name__ == 'Later'",
    ),
    "wrappers of what has no __module__": (
        """
        from typing import Generic, TypeVar
        T = TypeVar('T')
        class C(Generic[T]):
            a, b = classmethod(3), staticmethod(4)
        """,
        "(vars(value)['a'].__func__, value.b) == (3, 4)",
    ),
    "no __module__": (
        "exec('C = type(\"C\", (), dict(x=[1]))', scope := {}); C = scope['C']",
        "value.x == [1]",
    ),
    "property __name__ that needs the class": (
        """
        class C:
            @property
            def __name__(self): return C.__qualname__ + str(C is type(self))
        """,
        "value().__name__ == 'CTrue'",
    ),
}


@pytest.mark.parametrize("name", SOURCES)
def test_a_class_arrives_whatever_has_a_say_in_making_it(name):
    source, holds = SOURCES[name]

    assert fresh_process.send(define(source).C, holds)


@pytest.mark.parametrize("error", ["MemoryError", "RecursionError"])
def test_a_hook_that_ran_out_of_memory_or_stack_is_not_passed_over(error, tmp_path):
    hook = f"""
class Base:
    def __init_subclass__(cls):
        if sys.flags.isolated: raise {error}
"""
    (tmp_path / "hooked_base.py").write_text("import sys" + hook)
    with imported("hooked_base", sys=sys) as module:
        exec(hook, vars(module))
        payload = waybill.dumps(define("class C(Base): pass", Base=module.Base).C)

    with pytest.raises(fresh_process.FreshProcessError) as caught:
        fresh_process.load(payload, "value.__name__", path=[tmp_path])

    assert caught.value.kind == error


def test_property_whose_class_is_made_in_another_way_arrives():
    scope = define(
        """
        class lazy(property):
            def __init__(self, fget, name=None, doc=None):
                super().__init__(fget, doc=doc)
                self.name = name or fget.__name__
        class Value:
            @lazy
            def answer(self): return 42
        """
    )

    program = "value().answer, vars(value)['answer'].name"

    assert fresh_process.send(scope.Value, program) == (42, "answer")


def test_bases_that_are_aliases_of_typing_stay_what_they_are():
    scope = define(
        """
        import typing
        class Jar(typing.MutableMapping[str, str]):
            def __getitem__(self, key): return key
            def __setitem__(self, key, value): pass
            def __delitem__(self, key): pass
            def __iter__(self): return iter(())
            def __len__(self): return 0
        """
    )

    program = "[base.__name__ for base in value.__bases__], value()['x']"

    expected = (["MutableMapping", "Generic"], "x")
    assert fresh_process.send(scope.Jar, program) == expected
