"""Modules by value: the receiver has none of the files."""

import _json
import contextvars
import io
import os
import sys
import textwrap
import types

import culprits
import fresh_process
import pytest
import waybill
from claims_in_text import read_claims
from refusals import path_of_refused
from sources import imported

FILES = {
    "bv_package/__init__.py": "NAME = 'package'\n",
    "bv_package/inner/__init__.py": "",
    "bv_package/inner/deep.py": """
        from ..helper import double
        def lazily(x):
            from .. import helper
            from . import sibling
            return helper.double(sibling.ONE) + x
        class Deep:
            def value(self):
                from ..helper import double
                return double(4)
        """,
    "bv_package/inner/sibling.py": "ONE = 1\n",
    "bv_package/helper.py": """
        FACTOR = 2
        def double(x): return FACTOR * x
        """,
    "bv_package/work.py": """
        import math
        import bv_local
        from bv_package.helper import double
        state = []
        def plain(x): return double(x)
        def relative(x):
            from .helper import double
            return double(x)
        def absolute(x):
            import bv_package.helper
            return bv_package.helper.double(x), bv_package.NAME
        def local(x): return bv_local.triple(x)
        def local_inside(x):
            from bv_local import triple
            return triple(math.floor(x))
        def remember(x):
            state.append(x)
            return state
        """,
    "bv_package/later.py": """
        def f():
            from .never import THERE
            return THERE
        """,
    "bv_package/never.py": "THERE = 5\n",
    "bv_local.py": """
        import bv_local_two
        def triple(x): return bv_local_two.THREE * x
        """,
    "bv_local_two.py": "THREE = 3\n",
    "bv_lonely.py": "def f(): return 'lonely'\n",
}
IMPORTS = """
import bv_lonely, bv_local, bv_package, bv_package.work, bv_package.inner.deep
import bv_package.inner.sibling
from bv_package import work
"""
PACKAGE = "bv_package"


@pytest.fixture
def send(made):
    """From one fresh process with the files to one without."""
    return lambda program, expression: fresh_process.load(made(program), expression)


# ---- What comes along


@pytest.mark.parametrize(
    "sent, expression, expected",
    [
        ("work.plain", "value(3)", 6),
        ("work.relative", "value(3)", 6),
        ("work.absolute", "value(3)", (6, "package")),
        ("work.local", "value(3)", 9),
        ("work.local_inside", "value(3)", 9),
        ("bv_package.inner.deep.lazily", "value(1)", 3),
        ("bv_package.inner.deep.Deep()", "value.value()", 8),
        ("bv_package", "value.NAME, value.helper.double(1)", ("package", 2)),
        (
            "answer = waybill.dumps(bv_lonely.f, by_value=['bv_lonely'])",
            "value()",
            "lonely",
        ),
    ],
    ids=[
        "a function of a package",
        "imports relative to a package",
        "absolute imports",
        "a local module",
        "a local module in a body",
        "imports relative to a parent package",
        "a method of a class",
        "a package itself",
        "a module that is named as text",
    ],
)
def test_what_a_package_holds_finds_its_modules(send, sent, expression, expected):
    assert send(sent, expression) == expected


@pytest.mark.parametrize(
    "sent, expression, expected",
    [
        (
            "work.relative",
            "[value(1), __import__('bv_package.helper').helper.FACTOR][1]",
            2,
        ),
        ("[work.remember, work.remember]", "[value[0](1), value[1](2)][1]", [1, 2]),
        ("[work.remember, work]", "[value[0](1), value[1].state][1]", [1]),
    ],
    ids=["whoever imports it", "functions of one payload", "a function and its module"],
)
def test_module_that_came_along_is_one_for(send, sent, expression, expected):
    assert send(sent, expression) == expected


def test_traceback_names_the_file_of_the_sender(send):
    program = "value.__code__.co_filename.endswith('work.py')"

    assert send("work.plain", program) is True


@pytest.mark.xfail(strict=True, reason="only what the sender has imported is found")
def test_module_that_the_sender_never_imported_comes_along(send):
    program = """
from bv_package.later import f
answer = waybill.dumps(f, by_value=[bv_package])
"""

    assert send(program, "value()") == 5


# ---- What does not


def test_module_that_is_not_named_is_missing(send):
    with pytest.raises(fresh_process.FreshProcessError, match="bv_lonely"):
        send("answer = waybill.dumps(bv_lonely.f)", "value()")


def test_standard_library_is_imported_and_not_sent(send):
    program = "'math' in sys.modules and value(1.5)"

    assert send("work.local_inside", program) == 3


def test_module_that_the_receiver_has_goes_first(made, tmp_path):
    (tmp_path / "bv_lonely.py").write_text("def f(): return 'own'\n")
    sender = "answer = waybill.dumps([bv_lonely.f, bv_lonely], by_value=[bv_lonely])"

    answer = fresh_process.execute(
        "f, module = waybill.loads(data)\nimport bv_lonely\n"
        "answer = f(), module.f(), bv_lonely.f()",
        made(sender),
        path=[tmp_path],
    )

    assert answer == ("lonely", "lonely", "own")


# ---- For all calls


def test_register_and_unregister(send):
    program = """
waybill.register_pickle_by_value(bv_lonely)
answer = waybill.dumps(bv_lonely.f)
assert waybill.list_registry_pickle_by_value() == {"bv_lonely"}
waybill.unregister_pickle_by_value(bv_lonely)
assert waybill.list_registry_pickle_by_value() == set()
assert waybill.loads(waybill.dumps(bv_lonely.f)) is bv_lonely.f
"""

    assert send(program, "value()") == "lonely"


def test_registered_package_means_its_submodules(send):
    program = """
waybill.register_pickle_by_value(bv_package)
answer = waybill.dumps(work.plain)
"""

    assert send(program, "value(3)") == 6


def test_by_value_of_one_call_leaves_no_trace():
    waybill.dumps(culprits.culprit_of, by_value=[culprits])

    assert waybill.list_registry_pickle_by_value() == set()
    same = waybill.loads(waybill.dumps(culprits.culprit_of))
    assert same is culprits.culprit_of


@pytest.mark.parametrize(
    "function", [waybill.register_pickle_by_value, waybill.unregister_pickle_by_value]
)
@pytest.mark.parametrize("module", ["json", types.ModuleType("bv_nowhere")], ids=repr)
def test_what_is_no_imported_module_is_a_value_error(function, module):
    with pytest.raises(ValueError):
        function(module)


@pytest.mark.parametrize("module", ["bv_nowhere", types.ModuleType("bv_no"), 5, None])
def test_by_value_of_what_is_no_imported_module_is_a_value_error(module):
    with pytest.raises(ValueError, match="is not an imported module"):
        waybill.dumps(1, by_value=[module])


@pytest.mark.parametrize("by_value", ["culprits", culprits], ids=repr)
def test_one_module_may_stand_by_itself(by_value):
    alone = waybill.dumps(culprits.culprit_of, by_value=by_value)
    buffer = io.BytesIO()
    waybill.Pickler(buffer, by_value=by_value).dump(culprits.culprit_of)

    assert alone == waybill.dumps(culprits.culprit_of, by_value=[culprits])
    assert alone == buffer.getvalue() != waybill.dumps(culprits.culprit_of)


def test_integrations_take_one_module_by_itself():
    from waybill.integrations import pickle

    waybill.configure(by_value="culprits")
    try:
        data = pickle.payload(culprits.culprit_of)
    finally:
        waybill.configure(by_value=None)

    assert data == waybill.dumps(culprits.culprit_of, by_value=culprits)


@pytest.mark.parametrize("by_value", ["local", ["local"], ("json", "local")])
def test_word_local_is_reserved(by_value, monkeypatch):
    module = types.ModuleType("local")
    monkeypatch.setitem(sys.modules, "local", module)

    with pytest.raises(ValueError, match="reserved word.*give the module itself"):
        waybill.dumps(1, by_value=by_value)

    assert waybill.loads(waybill.dumps(1, by_value=module)) == 1


# ---- What only a name in such a module tells


def made_by_value(source):
    """The payload of `value`, which a module of this source has."""
    with imported("bv_made") as module:
        exec(textwrap.dedent(source), vars(module))
        return waybill.dumps(module.value, by_value=[module])


@pytest.mark.parametrize(
    ("source", "path"),
    [
        (
            """
            import threading
            lock = threading.Lock()
            lock.acquire()
            def value(): return lock
            """,
            "value.__globals__['lock'] (_thread.lock)",
        ),
        (
            """
            class Named:
                __slots__ = ()
                def __reduce__(self): return "NAMED"
            NAMED = Named()
            def value(): return NAMED
            """,
            "value.__globals__['NAMED'] (bv_made.Named)",
        ),
    ],
)
def test_global_of_a_module_by_value_that_cannot_travel_is_named(source, path):
    with pytest.raises(waybill.EncodeError) as caught:
        made_by_value(source)

    assert culprits.culprit_of(caught.value) == path


@pytest.mark.parametrize(
    "made, words, kind",
    [
        (_json.scanstring, "cannot pickle", "builtin_function_or_method"),
        (_json.make_scanner, "travels by value", "type"),
    ],
    ids=["function", "class"],
)
def test_what_is_made_in_c_of_a_module_by_value_is_refused(made, words, kind):
    assert (
        path_of_refused({"it": made}, words, by_value=[_json]) == f"obj['it'] ({kind})"
    )


SENTINEL = """
class Sentinel:
    def __init__(self): self.text = "there"
    def __reduce__(self): return "MISSING"
MISSING = Sentinel()
"""


def test_object_that_names_itself_in_a_module_by_value_travels_as_what_it_is():
    data = made_by_value(
        f"{SENTINEL}\ndef value(x=MISSING): return x is MISSING, x.text"
    )

    assert fresh_process.load(data, "value()") == (True, "there")


def test_such_an_object_is_one_in_all_payloads():
    with imported("bv_made") as module:
        exec(f"{SENTINEL}\ndef value(x): return x is MISSING", vars(module))
        function = waybill.dumps(module.value, by_value=[module])
        sent = [waybill.dumps(module.MISSING, by_value=[module]) for _ in range(2)]
    program = f"value(waybill.loads({sent[0]!r})), value(waybill.loads({sent[1]!r}))"

    assert fresh_process.load(function, program) == (True, True)


def test_context_variable_that_another_module_has_too_is_that_of_the_other():
    with imported("bv_made") as module, imported("bv_other") as other:
        exec("def value(): return VARIABLE", vars(module))
        module.VARIABLE = other.VARIABLE = contextvars.ContextVar("shared")

        arrived = waybill.loads(waybill.dumps(module.value, by_value=[module]))

    assert arrived.__globals__["VARIABLE"] is other.VARIABLE


MADE = """
lock that nobody holds begins anew with its module
    import threading
    lock = threading.Lock()
    again = threading.RLock()
    def value(): return lock.acquire(False), again.acquire(False), again is again
    >>> value()
    True, True, True

text that names itself keeps its content
    class Named(str):
        def __reduce__(self): return "NAMED"
    NAMED = Named("content")
    def value(): return NAMED + "", type(NAMED).__name__
    >>> value()
    "content", "Named"

context variable arrives unset
    import contextvars
    variable = contextvars.ContextVar("variable", default=3)
    variable.set(4)
    def value(): return variable.get(), variable.name
    >>> value()
    3, "variable"

member that is pickled by its global name is that of its class
    import enum
    @enum.global_enum
    class E(enum.IntEnum): A = 1
    E.__reduce_ex__ = enum.pickle_by_global_name
    def value(): return A is E.A
    >>> value()
    True
"""


@pytest.mark.parametrize("source, expression, expected", read_claims(MADE))
def test_global_of_a_module_by_value_arrives(source, expression, expected):
    assert fresh_process.load(made_by_value(source), expression) == expected


def test_bytes_do_not_depend_on_the_process(folder):
    program = f"""
import sys, waybill
sys.path.append(sys.argv[1]){IMPORTS}
print(waybill.dumps([work.relative, work.local], by_value=[bv_package]))
"""

    one, other = (
        fresh_process.run_script(program, folder, env={"PYTHONHASHSEED": seed})
        for seed in "12"
    )

    assert one == other


# ---- Code that runs meanwhile


_ASKING = """
import os, sys
sys.path.insert(0, sys.argv[1])
import waybill, bv_user, bv_used
class File(str):
    # Asked for whether the module is local.
    def startswith(self, *arguments):
        for module in bv_user, bv_used: module.__dict__.pop("taken", None)
        {change}
        self.filler = [bytes(17 + i % 90) for i in range(5000)]
        return str.startswith(self, *arguments)
bv_used.__file__ = File(bv_used.__file__)
waybill.dumps({sent}, by_value=["bv_user"])
print("done")
"""


@pytest.mark.parametrize("sent", ["bv_user", "bv_user.user"])
@pytest.mark.parametrize(
    "change",
    [
        "pass",
        "bv_user.__dict__.update((str(i), i) for i in range(1000))",
        "sys.modules.pop('bv_used', None)",
    ],
)
def test_what_is_asked_about_may_go_meanwhile(tmp_path, change, sent):
    (tmp_path / "bv_used.py").write_text("def taken(): return 1\n")
    (tmp_path / "bv_user.py").write_text(
        "from bv_used import taken\ndef user(): return taken()\n"
    )
    script = _ASKING.format(change=change, sent=sent)

    answer = fresh_process.run_script(
        script, tmp_path, env=os.environ | {"PYTHONMALLOC": "debug"}
    )

    assert answer.strip() == "done"


def test_module_that_comes_along_keeps_its_name_whatever_becomes_of_it(send):
    program = """
class Forgetful:
    def __reduce__(self):
        sys.modules.pop("bv_package.helper", None)
        return int, ()
answer = waybill.dumps([work.relative, Forgetful()], by_value=[bv_package])
"""

    assert send(program, "value[0](3)") == 6
