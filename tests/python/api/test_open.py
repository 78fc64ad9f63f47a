"""waybill.open(): parts of a file, described and loaded one by one."""

import collections
import datetime
import functools
import importlib
import os
import random
import sys
import types

import pytest
import waybill
from part_files import LARGE, opened
from waybill import _core

numpy = pytest.importorskip("numpy")


# ---- What is told -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("array", "item"),
    [
        (LARGE, "float64"),
        (numpy.asfortranarray(LARGE), "float64"),
        (LARGE[::2, ::3], "float64"),
        (LARGE.reshape(40, 50, 20).transpose(2, 0, 1), "float64"),
        (LARGE.reshape(40, 50, 20).transpose(1, 0, 2)[:, 5:], "float64"),
        (LARGE.astype("f4"), "float32"),
        (numpy.arange(3, dtype="i2"), "int16"),
        (numpy.arange(70_000, dtype="u1"), "uint8"),
        (numpy.arange(3, dtype=">i4"), ">i4"),
        (numpy.zeros((2, 0, 3)), "float64"),
        (numpy.array(7.5), "float64"),
        (numpy.zeros(2, "c8"), "complex64"),
        (numpy.array([True]), "bool"),
        (numpy.array(["ab", "c"]), "<U2"),
        (numpy.array([b"abc"]), "S3"),
        (numpy.zeros(2, [("x", "f8"), ("y", "i4")]), "V12"),
        (numpy.zeros(3, "M8[s]"), "datetime64"),
        (numpy.array([1, None, "x"], dtype=object), "object"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_arrays_are_described_without_being_built(array, item, tmp_path):
    with opened({"a": array}, tmp_path) as file:
        part = file["a"]

        expected = ("numpy.ndarray", item, array.shape)
        assert (part.type, part.dtype, part.shape) == expected
        assert item in repr(part)
        loaded = part.load()
        assert loaded.dtype == array.dtype
        assert (loaded == array).all()
        assert len(part) == (len(array) if array.shape else 0)


def test_parts_tell_type_size_and_text(tmp_path):
    value = {
        "n": 7,
        "text": "a" * 100,
        "none": None,
        "list": [1, [2]],
        "tuple": (1,),
        "set": {1, 2, 3},
        "date": datetime.date(2026, 1, 2),
        "counter": collections.Counter(a=2),
        "raw": b"x" * 100_000,
        "f": lambda: 1,
    }
    with opened(value, tmp_path) as file:
        told = {part.path: (part.type, len(part)) for part in file.parts()}

        assert file.type == "dict" and len(file) == len(value)
        assert told["['n']"] == ("int", 0)
        assert told["['list']"] == ("list", 2)
        assert told["['tuple']"] == ("tuple", 1)
        assert told["['set']"] == ("set", 3)
        assert told["['date']"] == ("datetime.date", 0)
        assert told["['counter']"][0] == "collections.Counter"
        assert told["['raw']"] == ("bytes", 0)
        assert told["['f']"] == ("function", 0)
        assert file["n"].text == "7"
        assert len(file["text"].text) < 70
        assert 100_000 < file["raw"].nbytes < 100_100
        assert file.nbytes < os.path.getsize(tmp_path / "file")
        assert file.keys() == list(value)


def test_nothing_is_imported_or_built_to_tell(tmp_path, monkeypatch):
    (tmp_path / "not_there_later.py").write_text("def make(): raise ValueError")
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("not_there_later")

    class Thing:
        def __reduce__(self):
            return module.make, ()

    waybill.save({"thing": Thing(), "data": [1, 2]}, tmp_path / "file")
    del sys.modules["not_there_later"]
    (tmp_path / "not_there_later.py").unlink()
    importlib.invalidate_caches()

    with waybill.open(tmp_path / "file") as file:
        expected = ["not_there_later.make", "list", "int", "int"]
        assert [part.type for part in file.walk()] == expected
        assert file["data"].load() == [1, 2]
        with pytest.raises(waybill.MissingModuleError):
            file["thing"].load()


def pages_of(path):
    """Bytes of a file that this process has mapped and looked at."""
    with open("/proc/self/smaps") as maps:
        lines = maps.read().splitlines()
    resident = 0
    is_file = False
    for line in lines:
        if "-" in line.split(" ")[0] and line[0] in "0123456789abcdef":
            is_file = line.endswith(str(path))
        elif is_file and line.startswith("Rss:"):
            resident += int(line.split()[1]) * 1024
    return resident


@pytest.mark.skipif(not os.path.exists("/proc/self/smaps"), reason="no /proc")
def test_of_an_array_no_more_is_read_than_is_used(tmp_path):
    value = {"first": numpy.ones(5_000_000), "second": numpy.ones(5_000_000)}
    with opened(value, tmp_path) as file:
        for part in file.walk():
            repr(part)
        assert file["second"][1000:1010].sum() == 10
        assert pages_of(tmp_path / "file") < 4 << 20
        file["first"].load()  # Compares the digest.
        assert 40_000_000 < pages_of(tmp_path / "file") < 60_000_000


# ---- The way there ------------------------------------------------------------------

KEYS = [
    "a",
    "it's",
    "both \" and '",
    "",
    "\n",
    5,
    -5,
    2.5,
    None,
    True,
    b"raw",
    (1, "x"),
]
KEYS += [frozenset({1}), datetime.date(2026, 1, 2), "\udc80", 2**70]
KEYS += [functools.reduce(lambda inner, _: (inner,), range(60), 1)]


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_keys_of_all_kinds_lead_to_their_parts(key, tmp_path):
    value = {"other": 0, key: ["here"], "more": 1}
    with opened(value, tmp_path) as file:
        assert file.keys() == list(value)
        assert file[key].load() == ["here"]
        assert key in file
        path = file[key].path
        assert file.find(path).load() == ["here"]


def test_keys_that_equal_nothing_have_paths_of_their_own(tmp_path):
    value = {float("nan"): 1, float("nan"): 2, "x": 3}
    with opened(value, tmp_path) as file:
        paths = [part.path for part in file.parts()]
        assert paths == [".values()[0]", ".values()[1]", "['x']"]
        assert [file.find(path).load() for path in paths] == [1, 2, 3]


def test_items_and_attributes_lead_to_their_parts(tmp_path):
    value = types.SimpleNamespace(rows=[10, (20, 30)], name="x")
    with opened(value, tmp_path) as file:
        assert file["name"].load() == "x"
        assert file["rows"][0].load() == 10
        assert file["rows"][-1].path == ".rows[1]"
        assert file["rows"][-1][-2].load() == 20
        assert file.find(".rows[1][1]").load() == 30
        assert "rows" in file and "other" not in file
        for wrong in (2, -3):
            with pytest.raises(IndexError):
                file["rows"][wrong]
        with pytest.raises(KeyError):
            file["nothing"]


def test_keys_that_are_equal_numbers_are_one(tmp_path):
    with opened({1: "one", 2.0: "two"}, tmp_path) as file:
        assert file[True].load() == "one"
        assert file[2].load() == "two"


def test_a_part_is_not_iterated_by_numbers(tmp_path):
    with opened({"a": 1}, tmp_path) as file, pytest.raises(TypeError):
        iter(file)


def test_an_item_goes_before_an_attribute_of_that_name(tmp_path):
    class Both(collections.OrderedDict):
        pass

    value = Both(x=1)
    value.x = 2
    value.y = 3
    with opened(value, tmp_path) as file:
        assert file["x"].load() == 1
        assert file.find(".x").load() == 2
        assert file["y"].load() == 3


def test_names_that_look_like_paths_lead_to_their_parts(tmp_path):
    value = types.SimpleNamespace(a=types.SimpleNamespace(b="inner"), x=[4])
    names = ["a.b", "x[0]", "", "['k']", "it's", 'say "b"', "values()", "\n", "\\"]
    for number, name in enumerate(names):
        setattr(value, name, number)
    with opened(value, tmp_path) as file:
        for part in file.parts():
            assert file.find(part.path).text == part.text, part.path
        for number, name in enumerate(names):
            assert file[name].load() == number
        assert file.find(".a.b").load() == "inner"


def test_numbers_beyond_all_places_are_no_places(tmp_path):
    with opened({"list": [1], 2**70: "v"}, tmp_path) as file:
        assert file[2**70].load() == "v" and 2**71 not in file
        for beyond in (2**70, -(2**70)):
            with pytest.raises(IndexError):
                file["list"][beyond]


def test_keys_that_are_shared_take_no_memory_for_each(tmp_path):
    class Key(tuple):
        pass

    key = Key(("x" * 100_000, 1))
    with opened([{key: n} for n in range(20_000)], tmp_path) as file:
        assert sum(1 for _ in file.walk()) == 40_000


@pytest.mark.once
def test_deep_parts_have_paths_when_they_are_asked_for(tmp_path):
    value = functools.reduce(lambda inner, _: [inner], range(20_000), "end")
    with opened(value, tmp_path) as file:
        *_, last = file.walk()

        assert last.path == "[0]" * 20_000
        assert last.text == "'end'"


@pytest.mark.parametrize("keys", ["text", "numbers"])
def test_all_keys_of_a_large_dict_are_found_soon(keys, tmp_path):
    key_of = str if keys == "text" else int
    value = {key_of(number): [number] for number in range(20_000)}
    with opened(value, tmp_path) as file:
        # Going through all of them for each would be 200 million steps.
        assert sum(int(file[key][-1].text) for key in file.keys()) == sum(range(20_000))


def asks_of(file, part):
    """What can be asked about the steps from a part, each as a function of a file."""
    offset = part._offset
    names = [key for key, _ in _core.part_keys(file._opened.handle, offset)]
    names = [name for name in names if isinstance(name, (str, int))]
    asks = [(_core.part_steps,), (_core.part_keys,), (_core.has_keys,)]
    asks += [(_core.find_step, name) for name in [*names, "nothing", 5, 2**60]]
    asks += [(_core.step_text, number) for number in range(len(names))]
    for function, *rest in asks:
        yield lambda file, function=function, rest=rest: function(
            file._opened.handle, offset, *rest
        )


def test_steps_are_the_same_whatever_was_asked_before(tmp_path):
    value = {}
    for n in range(9):  # More lists of steps than are kept, of each kind.
        value[f"dict {n}"] = {n: 0, "b": [n], "a": {}}
        value[f"list {n}"] = [*range(n), "x"]
        value[f"object {n}"] = types.SimpleNamespace(b=n, a=[n], **{f"c{n}": 1})
    rng = random.Random(1)
    with opened(value, tmp_path) as file:
        asks = [ask for part in [file, *file.parts()] for ask in asks_of(file, part)]
        alone = {}
        for ask in asks:
            with waybill.open(file.name) as fresh:
                alone[ask] = ask(fresh)
        assert len(asks) > 200 and len(set(map(repr, alone.values()))) > 50

        rounds = [asks, asks[::-1]] + [rng.sample(asks, len(asks)) for _ in range(9)]
        for order in rounds:
            for ask in order:
                assert ask(file) == alone[ask]


def test_parts_lead_on_when_the_steps_to_them_were_let_go_of(tmp_path):
    value = [{"inner": [n, {"x": n}]} for n in range(30)]
    with opened(value, tmp_path) as file:
        parts = [file[n]["inner"] for n in range(30)]
        for n, part in enumerate(parts):
            assert part.path == f"[{n}]['inner']"
            assert part[1]["x"].path == f"[{n}]['inner'][1]['x']"
            assert part[1]["x"].load() == n
            expected = [f"[{-n % 30}]['inner'][0]", f"[{-n % 30}]['inner'][1]"]
            assert [each.path for each in parts[-n].parts()] == expected


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("x", "not a path: x"),
        ("['a'", "not a path: ['a'"),
        ("['a']..", "not a path"),
        ("['a'][", "not a path"),
        ("['a'][]", "not a path"),
        ("['b']", "nothing is at ['b']; the payload is a dict of 1 parts"),
        ("['a'][2]", "nothing is at ['a'][2]; ['a'] is a list of 2 parts"),
        ("['a'].b", "nothing is at ['a'].b"),
        ("['a'][0][0]", "['a'][0] is a int of 0 parts"),
    ],
)
def test_a_path_that_leads_nowhere_is_told(path, told, tmp_path):
    with opened({"a": [1, 2]}, tmp_path) as file:
        with pytest.raises(LookupError, match="(?s).*") as caught:
            file.find(path)
        assert told in str(caught.value)
