"""Classes with code where most have none: it runs while containers are open, and finds
no holes in them."""

import fresh_process
import pytest
import waybill
from resealing import resealed
from sources import define
from test_unverified_data import outcome, verified_first

LOOK = """
import gc
def look():
    seen.append(1)
    for each in gc.get_objects():
        if type(each) in (list, tuple):
            for item in each: type(item)
seen = []
class Other:
    __slots__ = ()
    def __del__(self): look()
class Descriptor:
    def __get__(self, instance, owner):
        if instance is None: look()
        return lambda protocol: object.__reduce_ex__(instance, protocol)
class Names:
    def __iter__(self):
        look()
        return iter(["m"])
class Key(str):
    def __hash__(self): return str.__hash__(self)
    def __eq__(self, other):
        look()
        return str.__eq__(self, other)
class C:
    def __init__(self): self.x = 1
"""

STRANGE_CLASSES = {
    "__del__": "C.__del__ = lambda self: look()",
    "no dict, and __del__": "C = Other",
    "a descriptor in place of a method": "C.__reduce_ex__ = Descriptor()",
    "an abstract class": "C.__abstractmethods__ = Names()",
    "a key with code": "C.__dict__; "
    "gc.get_referents(C.__dict__)[0][Key('__setstate__')] = 1; C.y = 1",
}


@pytest.mark.parametrize("change", STRANGE_CLASSES)
def test_code_of_a_class_that_is_another_here_finds_no_holes(change, tmp_path):
    """A class that came by name."""
    (tmp_path / "strange_here.py").write_text(LOOK, encoding="utf-8")
    script = f"""
import sys, gc
sys.path.insert(0, {str(tmp_path)!r})
import waybill, strange_here as module
data = [waybill.dumps([module.C, [0, module.C(), 3, 4], (5, [module.C()], 6)])]
data.append(waybill.dumps([module.C, {{"k": [1, module.C(), 2]}}]))
exec({STRANGE_CLASSES[change]!r}, vars(module))
for _ in range(3):
    for each in data:
        try: waybill.loads(each)
        except (AttributeError, TypeError): pass
        gc.collect()
"""
    fresh_process.run_script(script)


def test_instances_that_are_dropped_while_a_dict_is_built_find_no_holes():
    scope = define(LOOK + "C.__del__ = lambda self: look()\n")
    data = waybill.dumps([scope.C, [0, {"one": scope.C(), "two": 1}, 3, 4]])
    end = waybill.inspect(data)["sections"]["debug_info"]["offset"]
    spoiled = resealed(data.replace(b"\xa3two", b"\xa3one"), end + 1)

    assert outcome(waybill.loads, spoiled) == outcome(verified_first, spoiled)
    assert outcome(waybill.loads, spoiled)[0] == "error"


@pytest.mark.parametrize("what", ["pairs", "items"])
def test_code_that_empties_the_list_it_is_filled_from_ends_it(what):
    scope = define(
        """
        import gc
        def hunt():
            for each in gc.get_objects():
                if type(each) is list and len(each) > 3 and each[0] == "k0":
                    each.clear()
        class D(dict):
            def __setitem__(self, key, value):
                hunt()
                dict.__setitem__(self, key, value)
        class L:
            def __init__(self): self.got = []
            def __len__(self): return len(self.got)
            def append(self, item):
                hunt()
                self.got.append(item)
            def __reduce__(self): return L, (), None, iter([f"k{n}" for n in range(50)])
        """
    )
    value = scope.D() if what == "pairs" else scope.L()
    if what == "pairs":
        for n in range(50):
            dict.__setitem__(value, f"k{n}", f"v{n}")

    arrived = waybill.loads(waybill.dumps([value]))

    assert len(arrived[0]) == 1


def test_attributes_that_wait_for_a_tuple_come_to_the_instance():
    scope = define("class A: pass")
    inner, instance = [], scope.A()
    around = (inner, instance)
    inner.append(around)
    vars(instance)[(1, (2,))] = 3
    instance.after = 5
    data = waybill.dumps(around)

    for load in (waybill.loads, verified_first):
        assert vars(load(data)[1]) == {(1, (2,)): 3, "after": 5}
