"""CPython's own tests of pickle, run with waybill: each class of test.pickletester.

BigmemPickleTests is left out: it needs gigabytes. Tests that cannot be about waybill
are rows in exclusions.tsv, each with its reason.
"""

import collections
import copyreg
import pickle
import sys
import unittest

import pickle_face
import pytest
import waybill
from exclusions import claims_of, exclusions, is_meant, with_exclusions

pickletester = pytest.importorskip(
    "test.pickletester",
    reason="CPython's own tests are missing (Debian: libpython3.X-testsuite)",
)

needs_classes = unittest.skipUnless(
    pickle_face.IS_COMPLETE, "waybill has no Pickler and Unpickler"
)
Pickler = pickle_face.ByClasses.pickler or object
Unpickler = pickle_face.ByClasses.unpickler or object


class NoTests:
    """Before 3.13 the tests of errors are part of AbstractPickleTests."""


ErrorTests = getattr(pickletester, "AbstractPicklingErrorTests", NoTests)


class _Unpickle(pickletester.AbstractUnpickleTests):
    bad_stack_errors = (pickle.UnpicklingError,)
    truncated_errors = (pickle.UnpicklingError, EOFError)


@with_exclusions
class TestFunctions(
    pickle_face.InMemory,
    pickle_face.DescriptorsTravel,
    pickletester.AbstractPickleTests,
    _Unpickle,
    unittest.TestCase,
):
    test_find_class = test_custom_find_class = None  # No class to ask.
    test_framed_write_sizes_with_delayed_writer = None


@with_exclusions
@needs_classes
class TestClasses(
    pickle_face.ByClasses,
    pickle_face.DescriptorsTravel,
    pickletester.AbstractPickleTests,
    unittest.TestCase,
):
    pass


@with_exclusions
@needs_classes
class TestUnpickler(pickle_face.ByClasses, _Unpickle, unittest.TestCase):
    pass


@with_exclusions
@needs_classes
class TestErrors(pickle_face.ByClasses, ErrorTests, unittest.TestCase):
    pass


@with_exclusions
@needs_classes
class TestModule(pickletester.AbstractPickleModuleTests, unittest.TestCase):
    dumps = staticmethod(pickle_face.dumps)
    loads = staticmethod(pickle_face.loads)
    dump = staticmethod(waybill.dump)
    load = staticmethod(waybill.load)
    Pickler = Pickler
    Unpickler = Unpickler


@with_exclusions
@needs_classes
class TestPersistentIds(
    pickle_face.ByPersistentIds,
    pickletester.AbstractPersistentPicklerTests,
    unittest.TestCase,
):
    pass


@with_exclusions
@needs_classes
class TestIdentityAsPersistentId(
    pickle_face.ByPersistentIds,
    pickletester.AbstractIdentityPersistentPicklerTests,
    unittest.TestCase,
):
    pass


@with_exclusions
@needs_classes
class TestPicklerAndUnpicklerObjects(
    pickletester.AbstractPicklerUnpicklerObjectTests, unittest.TestCase
):
    pickler_class = Pickler
    unpickler_class = Unpickler


@with_exclusions
@needs_classes
class TestDispatchTable(pickletester.AbstractDispatchTableTests, unittest.TestCase):
    pickler_class = Pickler

    def get_dispatch_table(self):
        return copyreg.dispatch_table.copy()


@with_exclusions
@needs_classes
class TestDispatchTableOfMaps(
    pickletester.AbstractDispatchTableTests, unittest.TestCase
):
    pickler_class = Pickler

    def get_dispatch_table(self):
        return collections.ChainMap({}, copyreg.dispatch_table)


@with_exclusions
@needs_classes
class TestReducerOverride(pickletester.AbstractHookTests, unittest.TestCase):
    class pickler_class(pickletester.AbstractCustomPicklerClass, Pickler):
        pass


def _test_cases():
    cases = [c for c in globals().values() if isinstance(c, type)]
    return [c for c in cases if issubclass(c, unittest.TestCase)]


def test_every_exclusion_is_of_a_test_that_exists():
    bases = {base for case in _test_cases() for base in case.__mro__}
    tests = {test for base in bases for _, test in claims_of(base)}

    sure = [e for e in exclusions() if e.is_sure_in(sys.version_info[:2])]
    assert [e.test for e in sure if not any(is_meant(e, t) for t in tests)] == []


def test_every_class_of_tests_is_run():
    left_out = {"BigmemPickleTests", "AbstractCustomPicklerClass"}
    named = {n: c for n, c in vars(pickletester).items() if isinstance(c, type)}
    there = {n for n, c in named.items() if n.endswith("Tests") and any(claims_of(c))}

    run = {base.__name__ for case in _test_cases() for base in case.__mro__}

    assert there - run - left_out == set()
