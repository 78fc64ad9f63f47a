"""What a script defines goes to all other versions of Python, and expressions that use
it give there what they give in the script; then it goes on from there."""

import itertools
import json
import sys
from pathlib import Path

import pytest
from fresh_process import run_script
from other_interpreters import interpreters

HERE = Path(__file__).parent
#: Scripts, and the first version that has their syntax.
SCRIPTS = {
    "tricky_script": (3, 11),
    "tricky_script_typing": (3, 11),
    "tricky_script_312": (3, 12),
    "tricky_script_314": (3, 14),
}
#: Runs the script as __main__, and sends what it has defined.
SENDER = """
import base64, json, os, sys, tempfile, types
import waybill

def is_imported(value):
    home = sys.modules.get(getattr(value, "__module__", None) or "")
    found = vars(home).get(getattr(value, "__name__", "")) if home else None
    return type(value) is types.ModuleType or (found is value and home is not main)

with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "script.py")
    with open(path, "w") as file:
        file.write(sys.argv[1])
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    exec(compile(sys.argv[1], path, "exec", 0, True), vars(main))
    told = {e: repr(eval(e, vars(main))) for e in main.EXPRESSIONS}
    given = ("__builtins__", "__name__", "__doc__", "__loader__", "__package__")
    sent = {
        name: value
        for name, value in vars(main).items()
        if name not in (*given, "__spec__") and not is_imported(value)
    }
    data = waybill.dumps(sent, source=True)
print(json.dumps([base64.b64encode(data).decode(), told]))
"""
RECEIVER = """
import base64, dataclasses, json, sys
import waybill

data, told = json.load(sys.stdin)
scope = waybill.loads(base64.b64decode(data))
waybill.dumps(scope, source=True)
scope["dataclasses"] = dataclasses
differ = {}
for expression, expected in told.items():
    try:
        given = repr(eval(expression, scope))
    except Exception as error:
        given = repr(error)
    if given != expected:
        differ[expression] = [given, expected]
print(json.dumps(differ))
"""


def text_of(script):
    return (HERE / f"{script}.py").read_text(encoding="utf-8")


def has_syntax_of(script, version):
    return tuple(map(int, version.split("."))) >= SCRIPTS[script]


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_means_the_same_in_another_process_of_this_python(script):
    if sys.version_info < SCRIPTS[script]:
        pytest.skip("its syntax is newer than this Python")
    sent = run_script(SENDER, text_of(script))

    assert run_script(RECEIVER, given=sent) == "{}\n"


@pytest.fixture(scope="module")
def sent():
    return {
        (script, version): run_script(SENDER, text_of(script), command=command)
        for version, command in interpreters().items()
        for script in SCRIPTS
        if has_syntax_of(script, version)
    }


@pytest.mark.cross
@pytest.mark.parametrize(
    "script, sender, receiver",
    [
        (script, *pair)
        for script in SCRIPTS
        for pair in itertools.permutations(sorted(interpreters()), 2)
        if all(has_syntax_of(script, version) for version in pair)
    ],
)
def test_a_script_means_the_same_on_every_other_python(sent, script, sender, receiver):
    given, command = sent[script, sender], interpreters()[receiver]

    assert json.loads(run_script(RECEIVER, command=command, given=given)) == {}
