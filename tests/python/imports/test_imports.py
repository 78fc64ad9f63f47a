"""imports() and loads(): what a function needs, why, and nothing else."""

import functools
import re
import subprocess
import sys
import textwrap

import fresh_process
import pytest
import waybill
from sources import define, imported


def modules_of(obj, time="load"):
    return [record.module for record in waybill.imports(obj) if record.time == time]


def define_in_main(source):
    """A program whose __main__ holds `f`; what it prints is the payload, in hex."""
    program = textwrap.dedent(source) + (
        "\nimport sys, waybill\nprint(waybill.dumps(f).hex())\n"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", program], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return bytes.fromhex(done.stdout)


# ---- cloudpickle's issue 576: five ways to reach a submodule

ISSUE_576 = {
    "import of the submodule": """
        import concurrent.futures
        def f():
            return concurrent.futures.Future.__name__
    """,
    "import as": """
        import concurrent.futures as cf
        def f():
            return cf.Future.__name__
    """,
    "alias in the function": """
        import concurrent.futures
        def f():
            c = concurrent
            return c.futures.Future.__name__
    """,
    "getattr with a constant": """
        import concurrent.futures
        def f():
            return getattr(concurrent, "futures").Future.__name__
    """,
    "nonlocal import of an outer function": """
        def outer():
            import concurrent.futures
            def inner():
                return concurrent.futures.Future.__name__
            return inner
        f = outer()
    """,
}


@pytest.mark.parametrize("case", ISSUE_576)
def test_submodule_is_there_when_the_function_runs(case):
    payload = define_in_main(ISSUE_576[case])

    assert fresh_process.load(payload, "value()") == "Future"


@pytest.mark.parametrize("case", ISSUE_576)
def test_submodule_is_imported_by_loads(case):
    payload = define_in_main(ISSUE_576[case])

    assert fresh_process.load(payload, "value and 'concurrent.futures' in sys.modules")


def test_attribute_chain_that_starts_at_another_object_asks_for_nothing():

    sent = define(
        "import xml.dom.minidom\ndef f(o): return xml.__name__, o.dom.minidom"
    )

    assert modules_of(sent.f) == ["xml"]
    answer = fresh_process.send(sent.f, "[m for m in sys.modules if 'xml.dom' in m]")
    assert answer == []


def test_module_that_is_an_attribute_but_no_submodule_is_not_listed():
    sent = define("import json\ndef f(): return json.codecs.BOM")

    assert "json.codecs" not in modules_of(sent.f)
    assert fresh_process.send(sent.f, "value() is not None")


def test_real_name_of_an_aliased_module_is_listed():
    import os.path

    sent = define("import os.path as p\ndef f(): return p.join('a', 'b')")

    assert modules_of(sent.f) == [os.path.__name__]


def test_module_in_defaults_containers_and_closures_is_listed():
    sent = define("""
    import colorsys, json, marshal, wave
    def make(inside):
        def f(default=json, *, keyword={"a": [marshal]}): return inside, table
        return f
    table = [wave]
    f = make(colorsys)
    """)

    found = modules_of(sent.f)

    assert set(found) == {"colorsys", "json", "marshal", "wave"}


def test_module_of_an_importable_global_is_imported():
    sent = define("from json import dumps\ndef f(): return dumps([1])")

    assert fresh_process.send(sent.f, "value()") == "[1]"


def test_unused_import_is_not_listed():
    sent = define("import json, colorsys\ndef f(): return json")

    assert modules_of(sent.f) == ["json"]


def test_plain_data_needs_no_imports():
    assert waybill.imports([1, {"a": (2, {3})}]) == ()


# ---- Import statements in bodies


def test_import_statement_in_a_body_is_needed_when_called():
    sent = define("def f():\n    import colorsys\n    return colorsys.__name__")

    assert modules_of(sent.f) == []
    assert modules_of(sent.f, "call") == ["colorsys"]


def test_import_statement_in_a_body_is_not_run_by_loads():
    sent = define("def f():\n    import colorsys\n    return colorsys.__name__").f

    answer = fresh_process.send(
        sent, "('colorsys' in sys.modules, value(), 'colorsys' in sys.modules)"
    )

    assert answer == (False, "colorsys", True)


# ---- Records


def test_record_tells_chain_function_file_and_line(tmp_path):
    import xml.dom.minidom

    file = tmp_path / "job.py"
    source = "\n\ndef f():\n  def g():\n\n    return alias.dom.minidom.Node\n  return g"
    scope = {"__name__": "nowhere", "alias": xml}
    exec(compile(source, str(file), "exec"), scope)

    records = {record.module: record for record in waybill.imports(scope["f"])}

    record = records["xml.dom.minidom"]
    assert record.time == "load"
    assert record.chain == "alias.dom.minidom"
    assert record.function == "f.<locals>.g"
    assert (record.file, record.line) == (str(file), 6)


def test_record_of_a_body_import_tells_function_file_and_line(tmp_path):
    file = tmp_path / "job.py"
    scope = {"__name__": "nowhere"}
    exec(compile("\ndef f():\n    import colorsys", str(file), "exec"), scope)

    (record,) = waybill.imports(scope["f"])

    assert (record.module, record.time) == ("colorsys", "call")
    assert (record.function, record.file, record.line) == ("f", str(file), 3)


def test_record_of_a_value_names_no_function():
    import json

    (record,) = waybill.imports([json])

    assert (record.module, record.function, record.line) == ("json", "", 0)


def test_records_are_those_of_the_payload():

    sent = define("import json\ndef f():\n    import wave\n    return json.dumps").f

    listed = waybill.inspect(waybill.dumps(sent))["imports"]

    assert [(r["module"], r["time"]) for r in listed] == [
        (r.module, r.time) for r in waybill.imports(sent)
    ]


def test_what_waybill_brings_itself_is_no_need():
    @functools.lru_cache
    def cached(x):
        return x

    sent = [cached, ValueError("x"), re.compile("a").match]
    report = waybill.inspect(waybill.dumps(sent))

    assert [r.module for r in waybill.imports(sent)] == ["re"]
    assert [r["module"] for r in report["imports"]] == ["re"]
    assert report["own_imports"]
    assert all(r["module"].startswith("waybill._") for r in report["own_imports"])
    assert waybill.environment.missing(waybill.dumps(sent)) == ()


def test_what_code_needs_of_waybill_is_listed():
    sent = define("def f(x): return waybill.dumps(x)", waybill=waybill).f

    assert modules_of(sent) == ["waybill"]
    assert "own_imports" not in waybill.inspect(waybill.dumps(sent))


def test_object_that_cannot_travel_is_no_error_for_imports():
    import threading

    sent = define("import json\ndef f(): return lock, json", lock=threading.Lock()).f

    assert modules_of(sent) == ["json"]


def test_importable_function_needs_its_module_only():
    import textwrap

    assert modules_of(textwrap.dedent) == ["textwrap"]


def test_importable_function_taken_by_value_tells_what_it_uses():
    import textwrap

    found = [
        record.module for record in waybill.imports(textwrap.dedent, by_value=True)
    ]

    assert found == ["re"] or found == []  # 3.14 compiles no patterns on the way.


# ---- Quiet: nothing is imported or asked while dumping


@pytest.fixture
def watched_imports(monkeypatch):
    """Names that an import system was asked for."""
    asked = []

    class Finder:
        @staticmethod
        def find_spec(name, path=None, target=None):
            asked.append(name)

    monkeypatch.setattr(sys, "meta_path", [Finder, *sys.meta_path])
    return asked


def test_dumping_imports_nothing(watched_imports):
    sent = define("""
    import xml, json.decoder
    def f():
        import module_that_is_not_there.at_all
        from . import also_not_there
        return xml.dom.minidom, xml.sax, xml.nothing, json.decoder, json.tool
    """, __package__="nowhere").f  # fmt: skip
    before = dict(sys.modules)

    waybill.dumps(sent)
    waybill.imports(sent)
    waybill.fingerprint(sent)

    assert watched_imports == []
    assert sys.modules == before


def test_dumping_raises_no_import_event():
    script = """
import sys, waybill, xml.dom.minidom
def f(): return xml.dom.minidom, xml.sax, [xml]
waybill.dumps(1)
events = []
sys.addaudithook(lambda name, args: events.append((name, args)))
waybill.dumps(f); waybill.imports(f); waybill.fingerprint(f)
found = [event for event in events if event[0] in ("import", "exec", "open", "compile")]
print(found)
"""

    assert fresh_process.run_script(script).strip() == "[]"


def test_module_getattr_is_never_asked():
    asked = []
    with imported("module_with_getattr", __getattr__=asked.append) as module:
        sent = define("def f(): return m.sub.attribute, m.x", m=module).f

        waybill.dumps(sent)
        waybill.imports(sent)

    assert asked == []


def test_loads_goes_through_the_import_system(watched_imports):
    name = "colorsys"

    data = waybill.dumps(define("import colorsys\ndef f(): return colorsys").f)
    saved = sys.modules.pop(name)
    try:
        waybill.loads(data)

        assert watched_imports == [name]
    finally:
        sys.modules[name] = saved


def test_time_does_not_hang_on_the_number_of_modules():
    """Counts what is touched rather than seconds: sys.modules is never walked."""

    class Modules(dict):
        walks = 0

    def walking(name):
        def walk(self):
            Modules.walks += 1
            return getattr(dict, name)(self)

        return walk

    for name in "__iter__", "keys", "items", "values", "copy":
        setattr(Modules, name, walking(name))
    sent = define("import xml.dom.minidom\ndef f(): return xml.dom.minidom").f
    before = sys.modules
    sys.modules = Modules(before)
    try:
        found = modules_of(sent)
        waybill.dumps(sent)
    finally:
        sys.modules = before

    assert "xml.dom.minidom" in found
    assert Modules.walks == 0
