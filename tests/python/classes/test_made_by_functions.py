"""What a class or function has may be made by a function that names it."""

import fresh_process
import pytest

START = """
import sys, waybill
"""
END = """
with open(sys.argv[1], "wb") as file: waybill.dump(task, file)
"""
PROGRAMS = {
    "an attribute": """
class Preset:
    def __init__(self, n): self.n = n
    def __reduce__(self): return make, (self.n,)
def make(n): return Preset(n)
Preset.default = Preset(7)
Preset.table = {"high": [Preset(9)]}
def task(): return Preset.default.n, Preset.table["high"][0].n, type(make(1)) is Preset
""",
    "by a function that another one calls": """
class Preset:
    def __init__(self, n): self.n = n
    def __reduce__(self): return make, (self.n,)
def make(n): return inner(n)
def inner(n): return Preset(n)
Preset.default = Preset(7)
def task(): return Preset.default.n, type(make(1)) is Preset
""",
    "of a class that another class names": """
class Other:
    def __reduce__(self): return make_other, ()
class Preset:
    def __init__(self, n): self.n = n
    def __reduce__(self): return make, (self.n,)
def make(n): return Preset(n)
def make_other(): return Preset(3).other or Other()
Preset.other = None
Preset.first = Preset(7)
Other.presets = [Preset(1)]
Preset.later = Other()
def task(): return Preset.first.n, Other.presets[0].n, type(Preset.later) is Other
""",
    "a keyword default of a function that is asked for": """
class Mark:
    def __reduce__(self): return make_mark, ()
def make_mark():
    assert callable(asked)
    return Mark()
def asked(*, mark=Mark()): return type(mark) is Mark
def task(): return asked()
""",
    "by a function with defaults": """
class Preset:
    def __init__(self, n, *, m): self.n = n, m
    def __reduce__(self): return make, ()
def make(n=7, *, m=8): return Preset(n, m=m)
Preset.default = Preset(7, m=8)
def task(): return Preset.default.n, type(make()) is Preset
""",
    "by a function with a closure": """
class Preset:
    def __init__(self, n): self.n = n
    def __reduce__(self): return make, ()
def maker(n):
    def make(): return Preset(n)
    return make
make = maker(7)
Preset.default = Preset(7)
def task(): return Preset.default.n, type(make()) is Preset
""",
    "of a class in a function": """
def classes():
    class Preset:
        def __init__(self, n): self.n = n
        def __reduce__(self): return make, (self.n,)
    def make(n): return Preset(n)
    Preset.default = Preset(7)
    return Preset, make
Local, make_local = classes()
def task(): return Local.default.n, type(make_local(1)) is Local
""",
    "of a class in a class": """
class Outer:
    class Preset:
        def __init__(self, n): self.n = n
        def __reduce__(self): return make, (self.n,)
        list_name = lambda self: [type(self).__name__]
def make(n): return Outer.Preset(n)
Outer.Preset.default = Outer.Preset(7)
Outer.other = Outer.Preset(8)
def task(): return Outer.Preset.default.n, Outer.other.n, type(make(1)) is Outer.Preset
""",
    "of a class that the function removes from its globals": """
class Preset:
    def __reduce__(self): return make, ()
def make():
    global Preset
    made, Preset = Preset, None
    try: return made()
    finally: del Preset
Preset.default = Preset.__new__(Preset)
def task(): return type(Preset.default) is Preset
""",
    "a hint alone": """
class Preset:
    def __reduce__(self): return make, ()
def make() -> "Preset":
    import typing
    return typing.get_type_hints(make)["return"]()
Preset.default = Preset()
def task(): return type(Preset.default) is Preset
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_arrives_although_its_maker_names_it(name, tmp_path):
    path = tmp_path / "task"
    at_home = fresh_process.run_script(
        START + PROGRAMS[name] + END + "\nprint(task())", path
    )

    program = (
        START + "for _ in range(3): print(waybill.load(open(sys.argv[1], 'rb'))())"
    )
    assert fresh_process.run_script(program, path) == at_home * 3
