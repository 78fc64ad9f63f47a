"""Classes whose bases, metaclasses or attributes have a say in how they are made.

What they did at the sender travels as attributes, and need not be done again.
"""

import fresh_process
import pytest
from sources import define

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
def test_a_hook_that_ran_out_of_memory_or_stack_is_not_passed_over(error):
    source = f"""
    import sys
    class Base:
        def __init_subclass__(cls):
            if sys.flags.isolated: raise {error}
    class C(Base): pass
    """

    with pytest.raises(fresh_process.FreshProcessError) as caught:
        fresh_process.send(define(source).C, "value.__name__")

    assert caught.value.kind == error
