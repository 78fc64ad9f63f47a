"""Extension modules of a package by value do not travel; what refers to them does."""

import sys

import fresh_process
import pytest
import waybill
from fresh_process import FreshProcessError

#: `fast` stands for an extension: that shows by its file, and by functions made in C.
FILES = {
    "ex_pack/__init__.py": "",
    "ex_pack/fast.py": """
        import _struct
        def made_in_c(x): raise NotImplementedError
        class Frozen(dict):
            def size(self): return len(self)
        EMPTY = Frozen()
        pack = _struct.pack
        pack.__module__ = __name__
        __file__ = "fast.cpython-311-x86_64-linux-gnu.so"
        """,
    "ex_pack/work.py": """
        from typing import TypeVar, Union
        from . import fast
        from .fast import EMPTY, Frozen, pack
        Kind = TypeVar("Kind", bound=Frozen)
        EITHER = Frozen | list
        def of_types(): return Kind.__name__, Kind, EITHER
        class Row(Frozen): pass
        ROW = Row(a=1)
        class Table:
            rows = EMPTY
            kind = Frozen
            lookup = EMPTY.get
            def size(self): return 3
            def all(self): return list(self.rows)
        def plain(): return 5
        def of_class(x): return isinstance(x, Row)
        def of_instance(): return ROW["a"]
        def of_function(): return pack("b", 1)
        def of_module(): return fast.pack("b", 1)
        def of_import():
            from .fast import Frozen
            return Frozen()
        def hinted(x: "Frozen") -> "Row | None": return x
        def all(x):
            return plain() if x else (of_class(x), of_instance(), of_function(), Table)
        """,
}
IMPORTS = "import ex_pack.work as work\n"
PACKAGE = "'ex_pack'"
MISSING = r"No module named 'ex_pack\.fast'"


def test_function_that_reaches_an_extension_by_globals_arrives(made):
    assert fresh_process.load(made("work.all"), "value(1)") == 5


# To show the error, traceback of 3.15 lists the files of the package, which has none.
_LISTS_FILES = pytest.mark.xfail(
    sys.version_info >= (3, 15), reason="traceback of 3.15"
)


@pytest.mark.parametrize(
    "name",
    [
        *("of_instance", "of_function", "of_module"),
        pytest.param("of_import", marks=_LISTS_FILES),
    ],
)
def test_use_of_what_an_extension_made_names_the_missing_module(made, name):
    with pytest.raises(FreshProcessError, match=MISSING):
        fresh_process.load(made(f"work.{name}"), "value()")


def test_check_for_a_class_with_a_base_in_c_names_the_missing_module(made):
    with pytest.raises(FreshProcessError, match=MISSING):
        fresh_process.load(made("work.of_class"), "value(1)")


def test_class_that_holds_what_an_extension_made_arrives(made):
    data = made("work.Table")

    assert fresh_process.load(data, "value().size()") == 3
    assert fresh_process.load(data, "repr(value.kind)") == (
        "<ex_pack.fast.Frozen (missing)>"
    )
    with pytest.raises(FreshProcessError, match=MISSING):
        fresh_process.load(data, "value().all()")


def test_class_with_a_base_in_c_is_refused(made):
    with pytest.raises(FreshProcessError, match=r"Row \(type\): needs a class in C"):
        made("work.Row")


def test_data_made_by_an_extension_is_refused(made):
    with pytest.raises(FreshProcessError, match=r"obj\['row'\].*travels by value"):
        made("{'row': work.ROW}")


def test_text_annotation_that_names_a_class_in_c_does_no_harm(made):
    assert fresh_process.load(made("work.hinted"), "value(4)") == 4


def test_payload_lists_the_missing_module_as_needed_when_called(made):
    imports = waybill.inspect(made("work.of_instance"))["imports"]

    assert [i["time"] for i in imports if i["module"] == "ex_pack.fast"] == ["call"]


def test_missing_extension_is_used_where_it_is_there(made, folder):
    answer = fresh_process.execute(
        "answer = waybill.loads(data)({})", made("work.of_class"), path=[folder]
    )

    assert answer is False


def test_equal_payloads_with_stand_ins_have_equal_bytes(made):
    assert made("work.all") == made("work.all")


def test_class_of_an_extension_bounds_type_variables_and_stands_in_unions(made):
    program = "kind[0], kind[1].__bound__ is kind[2].__args__[0]"

    answer = fresh_process.load(
        made("work.of_types"), f"(kind := value()) and ({program})"
    )

    assert answer == ("Kind", True)
