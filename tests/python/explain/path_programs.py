"""Modules whose `task` reaches MARK, for test_evaluated_paths.py. To each belong the
short path, and whether Python evaluates it. The line that captured it ends with
`# here`."""

PROGRAMS = {
    "attribute that is a keyword": (
        """
        class A: pass
        a = A()
        setattr(a, "class", MARK)
        def task(): return a  # here
        """,
        "a.__dict__['class']",
        True,
    ),
    "attribute whose name is no identifier": (
        """
        class A: pass
        a = A()
        setattr(a, "not one", MARK)
        def task(): return a  # here
        """,
        "a.__dict__['not one']",
        True,
    ),
    "attribute behind a property of its name": (
        """
        class A:
            p = property(lambda self: 1/0, lambda self, value: None)
        a = A()
        vars(a)["p"] = MARK
        def task(): return a  # here
        """,
        "a.__dict__['p']",
        True,
    ),
    "attribute of a class that answers for all": (
        """
        class A:
            def __getattribute__(self, name):
                if name == "lk": raise RuntimeError("not for you")
                return object.__getattribute__(self, name)
        a = A()
        object.__setattr__(a, "lk", MARK)
        def task(): return a  # here
        """,
        "a<state>['lk']",
        False,
    ),
    "function behind a cache": (
        """
        import functools
        @functools.lru_cache
        def f(): return MARK  # here
        def task(): return f()
        """,
        "MARK",
        True,
    ),
    "value of a member of an enumeration": (
        """
        import enum
        class E(enum.Enum):
            A = 1
            B = MARK
        def task(): return E.B  # here
        """,
        "E.B._value_",
        True,
    ),
    "descriptor of a class": (
        """
        class Held:
            def __init__(self, lk): self.lk = lk
            def __get__(self, owner, kind): raise AttributeError("nobody asks")
        class A:
            d = Held(MARK)
            def go(self): return self.d  # here
        def task(): return A().go()
        """,
        "A.__dict__['d'].lk",
        True,
    ),
    "class method": (
        """
        class A:
            lk = MARK
            @classmethod
            def go(cls): return cls.lk  # here
        def task(): return A.go()
        """,
        "A.lk",
        True,
    ),
    "state that is a list": (
        """
        class A:
            def __init__(self, lk): self.x, self.lk = 1, lk
            def __getstate__(self): return [self.x, self.lk]
            def __setstate__(self, state): self.x, self.lk = state
        a = A(MARK)
        def task(): return a.lk  # here
        """,
        "a.lk",
        True,
    ),
    "state that is the object itself": (
        """
        class A:
            def __init__(self, lk): self.lk = lk
            def __getstate__(self): return self.lk
            def __setstate__(self, state): self.lk = state
        a = A(MARK)
        def task(): return a.lk  # here
        """,
        "a.lk",
        True,
    ),
    "list of a state that is nobody's attribute": (
        """
        class A:
            def __init__(self, lk): self.lk = lk
            def __getstate__(self): return [1, {"k": self.lk}]
            def __setstate__(self, state): pass
        a = A(MARK)
        def task(): return a  # here
        """,
        "a<state>[1]['k']",
        False,
    ),
    "frozen dataclass with slots": (
        """
        import dataclasses
        @dataclasses.dataclass(frozen=True, slots=True)
        class D:
            x: int
            lk: object
        d = D(1, MARK)
        def task(): return d.lk  # here
        """,
        "d.lk",
        True,
    ),
    "argument of an exception": (
        """
        error = ValueError("x", MARK)
        def task(): raise error  # here
        """,
        "error.args[1]",
        True,
    ),
    "cause of an exception": (
        """
        error = ValueError("x")
        error.__cause__ = KeyError(MARK)
        def task(): raise error  # here
        """,
        "error.__cause__.args[0]",
        True,
    ),
    "named tuple": (
        """
        import collections
        Point = collections.namedtuple("Point", "x y")
        p = Point(1, [MARK])
        def task(): return p  # here
        """,
        "p[1][0]",
        True,
    ),
    "items of a list": (
        """
        class L(list): pass
        held = L([1, MARK])
        def task(): return held  # here
        """,
        "held[1]",
        True,
    ),
    "items of a dict that has them": (
        """
        import collections
        held = collections.defaultdict(list, k=MARK)
        def task(): return held  # here
        """,
        "held['k']",
        True,
    ),
    "items that a reducer invents": (
        """
        class A(dict):
            def __init__(self, lk=None): self.lk = lk
            def __reduce__(self): return A, (), None, None, iter([("k", self.lk)])
        a = A(MARK)
        def task(): return a  # here
        """,
        "a<item 'k'>",
        False,
    ),
    "items of a class that finds them itself": (
        """
        class A(dict):
            def __getitem__(self, key): raise KeyError(key)
        a = A(k=MARK)
        def task(): return a  # here
        """,
        "a<item 'k'>",
        False,
    ),
    "default in a method": (
        """
        class A:
            def go(self, lk=MARK):  # here
                return lk
        def task(): return A().go()
        """,
        "A.go.__defaults__[0]",
        True,
    ),
    "argument of a partial": (
        """
        import functools
        def f(*args): return args
        p = functools.partial(f, 1, MARK)
        def task(): return p()  # here
        """,
        "p.args[1]",
        True,
    ),
    "text that has a quote": (
        """
        held = {"it's": MARK}
        def task(): return held  # here
        """,
        'held["it\'s"]',
        True,
    ),
}

#: Programs whose objects answer in their own way, which a payload does not tell.
HIDDEN_IN_FILES = {
    "attribute behind a property of its name",
    "attribute of a class that answers for all",
    "value of a member of an enumeration",
    "items that a reducer invents",
    "items of a class that finds them itself",
}
