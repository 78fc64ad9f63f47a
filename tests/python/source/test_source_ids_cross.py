"""Ids of classes by source: one class has one id, whichever Python has it, and
whichever library wrote its methods; another class has another."""

import base64
import dataclasses
import json
import sys
from collections import namedtuple
from pathlib import Path
from typing import NamedTuple

import pytest
from fresh_process import run_script
from other_interpreters import interpreters
from waybill import _core

HERE = Path(__file__).parent
PROGRAM = """
import base64, json, os, sys, tempfile, types
from waybill import _core

ids = {}
for name, data in json.load(sys.stdin).items():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, name)
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
        main = sys.modules["__main__"] = types.ModuleType("__main__")
        with open(path, "rb") as file:
            exec(compile(file.read(), path, "exec", 0, True), vars(main))
        for key, value in vars(main).items():
            is_here = getattr(value, "__module__", None) == "__main__"
            if isinstance(value, type) and is_here and value.__name__ == key:
                told = _core.source_hash(value)
                ids[name + ":" + key] = told and told.hex()
print(json.dumps(ids))
"""


def ids_on(command, names):
    files = {
        name: base64.b64encode((HERE / name).read_bytes()).decode() for name in names
    }
    given = json.dumps(files)
    return json.loads(run_script(PROGRAM, command=command, given=given))


@pytest.mark.cross
def test_all_versions_agree_on_the_ids_of_classes():
    names = ["classes_of_scripts.py", "tricky_script.py"]
    here = ids_on([sys.executable], names)
    assert len(here) > 40 and None not in here.values()
    assert len({*here.values()}) == len(here)
    for version, command in interpreters().items():
        there = ids_on(command, names)
        differ = {name for name in here if here[name] != there.get(name, here[name])}
        assert not differ, version


# ---- What the source decides


def id_of(cls):
    cls.__name__ = cls.__qualname__ = "Same"
    return _core.source_hash(cls)


def test_what_a_dataclass_is_made_of_decides():
    def variants():
        @dataclasses.dataclass
        class One:
            x: int = 1

        yield One

        @dataclasses.dataclass
        class Default:
            x: int = 2

        yield Default

        @dataclasses.dataclass
        class Factory:
            x: int = dataclasses.field(default_factory=int)

        yield Factory

        @dataclasses.dataclass(frozen=True)
        class Frozen:
            x: int = 1

        yield Frozen

        @dataclasses.dataclass
        class Other:
            y: int = 1

        yield Other

        @dataclasses.dataclass
        class Told:
            x: int = dataclasses.field(default=1, repr=False)

        yield Told

        @dataclasses.dataclass
        class Shown:
            x: int = 1

            def __repr__(self):
                return "shown"

        yield Shown

        @dataclasses.dataclass
        class After:
            x: int = 1

            def __post_init__(self):
                pass

        yield After

        @dataclasses.dataclass(eq=False)
        class Equal:
            x: int = 1

        yield Equal

        @dataclasses.dataclass
        class Noted:
            x: int = dataclasses.field(default=1, metadata={"unit": "m"})

        yield Noted

    ids = [id_of(cls) for cls in variants()]
    assert None not in ids
    assert len({*ids}) == len(ids) == 10
    assert ids == [id_of(cls) for cls in variants()]


def test_what_a_named_tuple_is_made_of_decides():
    class One(NamedTuple):
        x: int = 1

    class Default(NamedTuple):
        x: int = 2

    class More(NamedTuple):
        x: int = 1
        y: int = 1

    class Shown(NamedTuple):
        x: int = 1

        def __repr__(self):
            return "shown"

    class Doc(NamedTuple):
        """Own text."""

        x: int = 1

    made = namedtuple("Same", "x"), namedtuple("Same", "x y")
    ids = [id_of(cls) for cls in (One, Default, More, Shown, Doc, *made)]
    assert None not in ids
    assert len({*ids}) == len(ids)
