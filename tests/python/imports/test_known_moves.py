"""Moves of libraries that loads() knows, for what is not here."""

import asyncio
import enum
import importlib.resources
import inspect
import math
import os.path
import re
import sys
import threading
import warnings
import zipfile

import fresh_process
import pytest
import waybill
from fresh_process import FreshProcessError
from policy_payloads import payload_of_global
from waybill._environment import hints, known_moves, renames
from waybill.environment import Renames
from waybill.security import Policy


def write(folder, **modules):
    """Modules and packages by name, with `__` for dots."""
    for name, text in modules.items():
        path = folder.joinpath(*name.split("__"))
        path.parent.mkdir(parents=True, exist_ok=True)
        for parent in path.parents:
            if parent == folder:
                break
            (parent / "__init__.py").touch()
        path.with_suffix(".py").write_text(text)
    return folder


def loaded_among(folder, data, expression="value.__module__", options="renames=told"):
    """With these modules before all others."""
    return fresh_process.execute(
        f"""
sys.path.insert(0, {str(folder)!r})
told = waybill.environment.Renames()
value = waybill.loads(data, {options})
answer = {expression}, told.applied
""",
        data,
    )


MADE = "def made(): return __name__\nclass Index: pass\nclass Tree: pass\n"


@pytest.mark.parametrize(
    ("sent", "here"),
    [
        ("numpy.core.multiarray", "numpy._core.multiarray"),
        ("numpy._core.multiarray", "numpy.core.multiarray"),
        ("numpy.lib.function_base", "numpy.lib._function_base_impl"),
        ("sklearn.tree.tree", "sklearn.tree._classes"),
        ("sklearn.neighbors._dist_metrics", "sklearn.metrics._dist_metrics"),
        ("sklearn.externals.joblib.memory", "joblib.memory"),
        ("scipy.sparse.csr", "scipy.sparse._csr"),
        ("pandas.core.indexes.numeric", "pandas.core.indexes.base"),
    ],
)
def test_module_that_was_moved_is_found(tmp_path, sent, here):
    write(tmp_path, **{here.replace(".", "__"): MADE})

    answer, applied = loaded_among(tmp_path, payload_of_global(sent, "made"))

    assert answer == here
    assert applied == {sent: here}


def test_names_that_were_moved_are_found(tmp_path):
    write(tmp_path, pandas__core__indexes__base=MADE)
    data = payload_of_global("pandas.core.indexes.numeric", "Int64Index")

    answer, applied = loaded_among(tmp_path, data, "value.__qualname__")

    assert answer == "Index"
    assert applied == {
        "pandas.core.indexes.numeric": "pandas.core.indexes.base",
        "pandas.core.indexes.numeric:Int64Index": "pandas.core.indexes.base:Index",
    }


def test_name_that_a_module_lost_is_found(tmp_path):
    write(tmp_path, numpy="def prod(): pass\n")

    answer, applied = loaded_among(
        tmp_path, payload_of_global("numpy", "product"), "value.__name__"
    )

    assert answer == "prod"
    assert applied == {"numpy:product": "numpy:prod"}


@pytest.mark.parametrize(
    ("sent", "here"),
    [
        ("_asyncio:all_tasks", asyncio.all_tasks),
        ("_asyncio:current_task", asyncio.current_task),
        ("_py_warnings:catch_warnings", warnings.catch_warnings),
        ("_py_warnings:simplefilter", warnings.simplefilter),
        ("_thread:lock", threading.Lock),
        ("annotationlib:get_annotations", inspect.get_annotations),
        ("enum:EnumDict", enum._EnumDict),
        ("genericpath:islink", os.path.islink),
        ("genericpath:lexists", os.path.lexists),
        ("math.integer:factorial", math.factorial),
        ("math.integer:gcd", math.gcd),
        ("re:PatternError", re.error),
        ("re:prefixmatch", re.match),
        ("zipfile._path:Path", zipfile.Path),
    ],
)
def test_what_another_python_says_a_name_of_the_library_is_finds_it(sent, here):
    assert waybill.loads(payload_of_global(*sent.split(":"))) is here


@pytest.mark.parametrize("module", ["_legacy", "_functional"])
def test_functions_of_importlib_resources_are_found_whatever_module_has_them(module):
    data = payload_of_global(f"importlib.resources.{module}", "read_text")

    assert waybill.loads(data) is importlib.resources.read_text


@pytest.mark.parametrize("name", ["heapify_max", "_heapify_max"])
def test_heaps_of_maxima_are_found_under_both_names(name):
    heap = [1, 3, 2]

    waybill.loads(payload_of_global("_heapq", name))(heap)

    assert heap[0] == 3


def test_moves_are_known_without_an_option(tmp_path):
    write(tmp_path, numpy___core__multiarray=MADE)
    data = payload_of_global("numpy.core.multiarray", "made")

    assert loaded_among(tmp_path, data, options="")[0] == "numpy._core.multiarray"


def test_what_is_here_is_taken_as_it_is(tmp_path):
    write(tmp_path, numpy__core__multiarray=MADE, numpy___core__multiarray=MADE)

    for name in "numpy.core.multiarray", "numpy._core.multiarray":
        answer, applied = loaded_among(tmp_path, payload_of_global(name, "made"))
        assert (answer, applied) == (name, {})


@pytest.mark.parametrize(
    "name, to, found",
    [
        ("numpy.core.multiarray", "own", "own"),
        ("older", "numpy.core.multiarray", "numpy._core.multiarray"),
    ],
    ids=["goes first", "may have moved too"],
)
def test_what_the_caller_says(tmp_path, name, to, found):
    write(tmp_path, numpy___core__multiarray=MADE, own=MADE)
    data = payload_of_global(name, "made")

    answer, _ = loaded_among(tmp_path, data, options=f"renames={{{name!r}: {to!r}}}")

    assert answer == found


def test_known_moves_can_be_left_out(tmp_path):
    write(tmp_path, numpy___core__multiarray=MADE)
    data = payload_of_global("numpy.core.multiarray", "made")

    with pytest.raises(FreshProcessError) as caught:
        loaded_among(
            tmp_path, data, options="renames=waybill.environment.Renames(known=False)"
        )

    assert caught.value.kind == "MissingModuleError"


def test_error_is_that_of_the_name_that_was_sent(tmp_path):
    write(tmp_path, numpy__other=MADE)

    with pytest.raises(FreshProcessError, match=r"here: numpy\.core\.multiarray, "):
        loaded_among(tmp_path, payload_of_global("numpy.core.multiarray", "made"))
    with pytest.raises(FreshProcessError, match="'numpy' has no attribute 'product'"):
        loaded_among(tmp_path, payload_of_global("numpy", "product"))


def test_module_that_fails_for_what_it_needs_itself_has_not_moved(tmp_path):
    write(
        tmp_path, numpy__core__multiarray="import gone", numpy___core__multiarray=MADE
    )

    with pytest.raises(FreshProcessError, match="MissingModuleError"):
        loaded_among(tmp_path, payload_of_global("numpy.core.multiarray", "made"))


def test_what_came_by_a_move_is_looked_for_again(tmp_path):
    """Nothing is kept: the old name may be here by the next time."""
    write(tmp_path, numpy___core__multiarray=MADE)
    data = payload_of_global("numpy.core.multiarray", "made")
    program = f"""
sys.path.insert(0, {str(tmp_path)!r})
answer = [waybill.loads(data).__module__ for _ in range(5)]
import os, types
module = types.ModuleType("numpy.core.multiarray")
exec("def made(): pass", vars(module))
sys.modules["numpy.core"] = types.ModuleType("numpy.core")
sys.modules["numpy.core.multiarray"] = module
answer += [waybill.loads(data).__module__ for _ in range(5)]
"""

    expected = [*["numpy._core.multiarray"] * 5, *["numpy.core.multiarray"] * 5]
    assert fresh_process.execute(program, data) == expected


class TestPolicies:
    def test_new_module_has_to_be_allowed(self, tmp_path):
        write(tmp_path, numpy___core__multiarray=MADE)
        data = payload_of_global("numpy.core.multiarray", "made")
        options = "policy=waybill.security.Policy({!r})".format

        with pytest.raises(FreshProcessError, match="PolicyError.*numpy._core"):
            loaded_among(
                tmp_path, data, options=options("allow call numpy.core.multiarray")
            )

        both = "allow call numpy.core.multiarray\nallow call numpy._core.multiarray"
        assert loaded_among(tmp_path, data, options=options(both))[0]

    def test_new_name_has_to_be_allowed(self, tmp_path):
        write(tmp_path, numpy="def prod(): pass\n")
        data = payload_of_global("numpy", "product")

        with pytest.raises(FreshProcessError, match="PolicyError.*numpy:prod"):
            loaded_among(
                tmp_path,
                data,
                options="policy=waybill.security.Policy('allow lookup numpy:product')",
            )


def test_missing_passes_over_what_is_found_elsewhere(tmp_path):
    write(tmp_path, numpy___core__multiarray=MADE)
    data = payload_of_global("numpy.core.multiarray", "made")

    program = f"""
sys.path.insert(0, {str(tmp_path)!r})
answer = [str(each) for each in waybill.environment.missing(data)]
"""
    assert fresh_process.execute(program, data) == []


def test_removed_module_is_named_with_the_version_and_what_to_use():
    removed = next(
        name
        for name, (version, _) in known_moves.REMOVED.items()
        if ":" not in name and name != "distutils"
    )
    data = payload_of_global(removed, "any")
    program = f"""
sys.modules[{removed!r}] = None
try: waybill.loads(data)
except waybill.MissingModuleError as error: answer = str(error)
"""

    told = fresh_process.execute(program, data)

    version, instead = known_moves.REMOVED[removed]
    assert told.endswith(f"; {removed} was removed in Python {version}: {instead}")


def test_removed_name_is_named_too():
    data = payload_of_global("unittest", "makeSuite")
    program = """
import unittest
vars(unittest).pop("makeSuite", None)
try: waybill.loads(data)
except AttributeError as error: answer = str(error)
"""

    assert fresh_process.execute(program, data).endswith(
        "; unittest:makeSuite was removed in Python 3.13: use unittest.TestLoader"
    )


def test_missing_names_what_was_removed():
    data = payload_of_global("asyncore", "loop")
    program = """
sys.modules["asyncore"] = None
answer = [each.reason for each in waybill.environment.missing(data)]
"""

    assert fresh_process.execute(program, data) == [
        "no module named 'asyncore'; asyncore was removed in Python 3.12: use "
        "asyncio, or install pyasyncore"
    ]


def test_module_of_a_newer_python_is_told():
    ours = "%d.%d" % sys.version_info[:2]
    assert hints.of_python("concurrent.interpreters.any") == (
        f"concurrent.interpreters is new in Python 3.14, and this is {ours}"
    )


def test_removals_are_those_of_this_python():
    """Each module is gone from its version on and not before."""
    program = """
import importlib.util, warnings
warnings.simplefilter("ignore")
answer = {}
for name in NAMES:
    try: answer[name] = importlib.util.find_spec(name) is not None
    except ImportError: answer[name] = False
"""
    names = [name for name in known_moves.REMOVED if ":" not in name]
    # What only some systems have, and what setuptools puts back.
    names = [n for n in names if n not in ("msilib", "nis", "distutils", "tkinter.tix")]
    found = fresh_process.execute(program.replace("NAMES", repr(names)))

    for name in names:
        version = tuple(map(int, known_moves.REMOVED[name][0].split(".")))
        assert found[name] == (sys.version_info[:2] < version), name


def test_rules_of_the_table_are_rules():
    assert Renames(known_moves.MOVES)._rules == known_moves.MOVES
    assert len(known_moves.MOVES) > 250


def test_module_that_is_gone_has_a_rule_beside_those_of_its_names():
    """Or else nobody would get as far as to its names."""
    gone = {"pandas.core.indexes.numeric", "scipy.sparse._arrays", "annotationlib"}
    gone |= {
        "pandas.core.arrays.sparse.dtype",
        "numpy.exceptions",
        "sklearn.utils._bunch",
    }

    assert all(renames.moved_module(name) for name in gone)


def test_paths_of_python_313_arrive_elsewhere():
    data = payload_of_global("pathlib._local", "PurePosixPath")
    expected = "pathlib._local" if sys.version_info[:2] == (3, 13) else "pathlib"

    value = waybill.loads(data)

    assert value.__module__ == expected
    assert value.__name__ == "PurePosixPath"


def test_policy_of_data_asks_nobody():
    with pytest.raises(waybill.PolicyError):
        waybill.loads(payload_of_global("numpy.core.x", "y"), policy=Policy())
