"""waybill.open(): what the parts of a file load as."""

import collections
import datetime
import gc
import mmap
import random
import types

import fresh_process
import pytest
import waybill
from part_files import LARGE, opened
from refusals import refused_as
from waybill.security import KeyRing, Limits, SigningKey

numpy = pytest.importorskip("numpy")


def object_at(obj, path):
    """What is at a path of dicts, lists, tuples and instances."""
    return eval("obj" + path, {"obj": obj})


# ---- What is loaded -----------------------------------------------------------------


def random_graph(seed):
    """Lists, tuples, dicts, sets and objects of the standard library, which share and
    hold each other."""
    rand = random.Random(seed)
    made = []

    def value(depth):
        if made and rand.random() < 0.3:
            return rand.choice(made)
        kind = rand.randrange(9 if depth < 4 else 3)
        if kind < 3:
            leaf = rand.choice([None, 1.5, 2**70, "text", b"bytes", "x" * 40])
            return leaf
        size = rand.randrange(4)
        if kind == 3:
            result = []
            made.append(result)
            result += [value(depth + 1) for _ in range(size)]
        elif kind == 4:
            result = tuple(value(depth + 1) for _ in range(size))
            made.append(result)
        elif kind == 5:
            result = {}
            made.append(result)
            for number in range(size):
                result[f"k{number}"] = value(depth + 1)
        elif kind == 6:
            result = {1, 2.5, f"{rand.random()}"}
            made.append(result)
        elif kind == 7:
            result = types.SimpleNamespace()
            made.append(result)
            for number in range(size):
                setattr(result, f"a{number}", value(depth + 1))
        else:
            result = collections.OrderedDict(
                (f"o{number}", value(depth + 1)) for number in range(size)
            )
            made.append(result)
        return result

    return {f"r{number}": value(0) for number in range(6)}


@pytest.mark.parametrize("seed", range(150))
def test_each_part_is_what_its_sender_would_have_sent_alone(seed, tmp_path):
    graph = random_graph(seed)
    with opened(graph, tmp_path) as file:
        for part in file.walk():
            alone = object_at(graph, part.path)
            assert waybill.dumps(part.load()) == waybill.dumps(alone), part.path


def test_what_a_part_shares_is_shared_inside_of_it_alone(tmp_path):
    shared = [1]
    value = {"a": shared, "b": {"c": shared, "d": (shared, shared)}}
    with opened(value, tmp_path) as file:
        part = file["b"].load()

        assert part["c"] is part["d"][0] is part["d"][1]
        assert file["a"].load() is not part["c"]


def test_a_part_in_a_cycle_holds_what_is_around_it(tmp_path):
    root = {"name": "root"}
    root["child"] = {"parent": root, "items": [root]}
    with opened(root, tmp_path) as file:
        child = file["child"].load()

        assert child["parent"]["child"] is child
        assert child["items"][0]["name"] == "root"
        assert [part.path for part in file.walk()] == [
            "['name']",
            "['child']",
            "['child']['parent']",
            "['child']['items']",
            "['child']['items'][0]",
        ]


def test_functions_and_instances_of_classes_by_value_are_loaded(tmp_path):
    scope = {"__name__": "__main__"}
    exec(
        "class Model:\n"
        "    def __init__(self, w): self.w = w\n"
        "    def total(self): return scale * self.w.sum()\n"
        "scale = 2.0\n"
        "def f(x): return scale + g(x)\n"
        "def g(x): return x * scale\n",
        scope,
    )
    value = {
        "f": scope["f"],
        "g": scope["g"],
        "models": [scope["Model"](LARGE), scope["Model"](LARGE + 1)],
    }
    with opened(value, tmp_path) as file:
        assert file["g"].load()(3) == 6.0
        assert file["f"].load()(3) == 8.0
        second = file["models"][1]
        assert second.type == "Model" and second["w"].shape == LARGE.shape
        assert second.load().total() == 2 * (LARGE + 1).sum()
        assert second["w"].load()[0, 0] == 1.0


def test_loading_all_is_loads(tmp_path):
    value = {"a": LARGE, "b": [1, (2,)]}
    with opened(value, tmp_path) as file:
        loaded = file.load()

    assert (loaded["a"] == LARGE).all() and loaded["b"] == [1, (2,)]


def test_a_payload_that_is_a_leaf_is_a_part(tmp_path):
    with opened("text", tmp_path) as file:
        expected = ("str", "'text'", "text", 0)
        assert (file.type, file.text, file.load(), len(file)) == expected


# ---- Arrays -------------------------------------------------------------------------


def test_arrays_are_views_of_the_file_that_outlive_it(tmp_path):
    with opened({"a": LARGE}, tmp_path) as file:
        array = file["a"].load()
    del file
    gc.collect()

    assert not array.flags.writeable
    assert (array == LARGE).all()
    base = array
    while isinstance(base, numpy.ndarray):
        base = base.base
    assert isinstance(base.obj, mmap.mmap)


def test_a_copy_of_the_mapping_can_be_written_to(tmp_path):
    path = tmp_path / "file"
    waybill.save({"a": LARGE}, path)
    before = path.read_bytes()

    with waybill.open(path, mmap="copy") as file:
        array = file["a"].load()
        array[0, 0] = -1

    assert array[0, 0] == -1
    assert path.read_bytes() == before


def test_what_is_written_to_one_copy_is_in_no_other(tmp_path):
    with opened({"a": LARGE, "b": LARGE + 1}, tmp_path, mmap="copy") as file:
        file["a"][:10][:] = -1
        first = file["b"].load()
        first[:] = 5

        assert (file["a"].load() == LARGE).all()
        assert (file["b"].load() == LARGE + 1).all()
        assert (file.load()["b"] == LARGE + 1).all()
        assert (first == 5).all()


def test_slices_are_those_of_the_array(tmp_path):
    with opened([LARGE, numpy.arange(5)], tmp_path) as file:
        assert (file[0][3:5, ::7] == LARGE[3:5, ::7]).all()
        assert file[0][-1, -1] == LARGE[-1, -1]
        assert file[1][2] == 2
        with pytest.raises(TypeError, match="load"):
            2 in file[1]  # noqa: B015


def test_compressed_arrays_are_decompressed_and_always_checked(tmp_path):
    path = tmp_path / "file"
    waybill.save({"a": LARGE, "b": LARGE + 1}, path, compress="zstd")
    data = bytearray(path.read_bytes())
    row = waybill.inspect(bytes(data))["buffers"][1]
    data[row["offset"] + 5] ^= 1
    path.write_bytes(data)

    with waybill.open(path, check="never") as file:
        assert file["a"].nbytes < LARGE.nbytes / 2
        assert file["a"].shape == LARGE.shape
        assert (file["a"][5:7] == LARGE[5:7]).all()
        for use in (file["b"].load, lambda: file["b"][0]):
            with pytest.raises(waybill.DecodeError, match="digest_mismatch"):
                use()


def altered_file(tmp_path, **options):
    """A file of which one byte of the second array was changed."""
    path = tmp_path / "altered"
    waybill.save({"a": LARGE, "b": LARGE + 1, "n": 1}, path, **options)
    data = bytearray(path.read_bytes())
    last = waybill.inspect(bytes(data))["buffers"][1]
    data[last["offset"] + last["length"] - 1] ^= 1
    path.write_bytes(data)
    return path


def test_an_altered_buffer_is_found_when_its_part_is_loaded(tmp_path):
    path = altered_file(tmp_path)
    with waybill.open(path) as file:
        assert (file["a"].load() == LARGE).all()
        assert (file["b"][:10] == LARGE[:10] + 1).all()  # Reads no more than that.
        for _ in range(2):
            with refused_as("digest_mismatch", match="stored buffer"):
                file["b"].load()
        assert file["n"].load() == 1


def test_checks_can_be_made_at_once_or_not_at_all(tmp_path):
    path = altered_file(tmp_path)
    with pytest.raises(waybill.DecodeError, match="digest_mismatch"):
        waybill.open(path, check="now")
    with waybill.open(path, check="never") as file:
        assert file["b"].load().shape == LARGE.shape
    with pytest.raises(ValueError, match="check must be"):
        waybill.open(path, check="soon")
    with pytest.raises(ValueError, match="mmap must be"):
        waybill.open(path, mmap=False)


# ---- Trust --------------------------------------------------------------------------


def test_who_demands_a_signature_gets_no_byte_that_it_does_not_cover(tmp_path):
    key = SigningKey.generate()
    path = altered_file(tmp_path, key=key)
    with waybill.open(path, keys=KeyRing(key)) as file:
        assert (file["a"][:1] == LARGE[:1]).all()
        with pytest.raises(waybill.DecodeError, match="digest_mismatch"):
            file["b"][:1]
    with pytest.raises(waybill.SignatureError):
        waybill.open(path, keys=KeyRing(SigningKey.generate()))
    data = bytearray(path.read_bytes())
    data[20] ^= 1
    path.write_bytes(data)
    with pytest.raises(waybill.SignatureError):
        waybill.open(path, keys=KeyRing(key))


def test_a_policy_decides_about_the_part_that_is_loaded(tmp_path):
    value = {"data": [1, {"x": 2}], "f": lambda: 1, "date": datetime.date(2026, 1, 1)}
    with opened(value, tmp_path, policy=waybill.DATA_ONLY) as file:
        assert file["data"].load() == [1, {"x": 2}]
        for name in ("f", "date"):
            with pytest.raises(waybill.PolicyError):
                file[name].load()


def test_what_the_process_demands_of_signatures_holds_for_slices(tmp_path):
    key = SigningKey.generate()
    path = altered_file(tmp_path, key=key)
    script = """
import sys, waybill
from waybill.security import KeyRing
early = waybill.open(sys.argv[1])
waybill.restrict(keys=KeyRing(sys.argv[2]))
for file in early, waybill.open(sys.argv[1]):
    assert len(file["a"][:5]) == 5
    try:
        file["b"][:5]
    except waybill.DecodeError as error:
        print(error.code)
"""
    told = fresh_process.run_script(script, path, key.public_text)
    assert told == "digest_mismatch\n" * 2


@pytest.mark.parametrize("compress", [None, "zstd"])
def test_the_bytes_of_a_part_are_counted_as_those_of_a_payload(compress, tmp_path):
    path = tmp_path / "file"
    waybill.save({"a": LARGE, "n": 1}, path, compress=compress)
    with waybill.open(path, limits=Limits(max_bytes=LARGE.nbytes)) as file:
        assert file["n"].load() == 1
        for use in (file["a"].load, lambda: file["a"][0], file.load):
            with pytest.raises(waybill.DecodeError, match="max_bytes"):
                use()
    with waybill.open(path, limits=Limits(max_bytes=LARGE.nbytes + 1000)) as file:
        assert (file["a"].load() == LARGE).all()


def test_a_key_that_is_refused_hides_no_other(tmp_path):
    value = {datetime.date(2026, 1, 2): 1, "s": 2, 1.5: 3}
    with opened(value, tmp_path, policy=waybill.DATA_ONLY) as file:
        assert file["s"].load() == 2 and file[1.5].load() == 3
        assert datetime.date(2026, 1, 2) not in file
        with pytest.raises(waybill.PolicyError):
            file.keys()


def test_limits_hold_for_the_file_and_for_each_part(tmp_path):
    path = tmp_path / "file"
    waybill.save({"a": LARGE, "b": "x" * 1000}, path)
    head = waybill.inspect(path.read_bytes())["buffers"][0]["offset"]
    for name, most in (("max_bytes", head - 64), ("max_values", 10), ("max_depth", 1)):
        with pytest.raises(waybill.DecodeError, match=name):
            waybill.open(path, limits=Limits(**{name: most}))
    with waybill.open(path, limits=Limits(max_bytes=head)) as file:
        assert file["b"].load() == "x" * 1000
    with (
        waybill.open(path, limits=Limits(max_memory=200_000)) as file,
        pytest.raises(waybill.DecodeError, match="max_memory"),
    ):
        file["a"].load()


def test_what_the_process_forbids_later_holds_for_open_files(tmp_path):
    script = """
import sys, waybill
from waybill.security import KeyRing, SigningKey
file = waybill.open(sys.argv[1])
assert file["n"].load() == 1
waybill.restrict(keys=KeyRing(SigningKey.generate()))
try:
    file["n"].load()
except waybill.SignatureError:
    print("refused")
"""
    waybill.save({"n": 1}, tmp_path / "file")
    assert fresh_process.run_script(script, tmp_path / "file") == "refused\n"


# ---- Files that are none ------------------------------------------------------------


def test_a_closed_file_gives_nothing_more(tmp_path):
    with opened({"a": [1]}, tmp_path) as file:
        part = file["a"]
    for action in (part.load, lambda: part.type, file.keys, lambda: file["a"]):
        with pytest.raises(ValueError, match="closed"):
            action()
    assert "closed" in repr(file)


def test_what_is_no_payload_is_refused_with_an_offset(tmp_path):
    path = tmp_path / "file"
    whole = waybill.dumps({"a": LARGE, "b": 1})
    for data in (b"", b"x", b"\x99" * 20, whole[:-1], whole[:200], whole + b"x"):
        path.write_bytes(data)
        with pytest.raises(waybill.DecodeError):
            waybill.open(path)
    with pytest.raises(TypeError, match="buffers"):
        waybill.open(path, buffers=[])
    with open(path, "rb") as file, pytest.raises(TypeError):
        waybill.open(file.fileno())
    assert file.closed
    with pytest.raises(FileNotFoundError):
        waybill.open(tmp_path / "nothing")


def test_each_altered_byte_of_the_head_is_refused_or_changes_nothing(tmp_path):
    path = tmp_path / "file"
    value = {
        "a": numpy.arange(9000.0),
        "b": [1, ("x", 2.5)],
        "o": datetime.date(2026, 1, 2),
    }
    waybill.save(value, path)
    data = path.read_bytes()
    for at in range(waybill.inspect(data)["buffers"][0]["offset"]):
        altered = bytearray(data)
        altered[at] ^= 0x55
        path.write_bytes(altered)
        with pytest.raises(waybill.DecodeError):
            waybill.open(path)


def test_the_inner_functions_take_only_offsets_inside_of_the_payload(tmp_path):
    file = opened({"a": 1}, tmp_path)
    from waybill import _core

    handle = file._opened.handle
    for offset in (0, 1, 2**40, -1):
        with pytest.raises((ValueError, OverflowError)):
            _core.describe_part(handle, offset)
    with pytest.raises(ValueError, match="capsule|PyCapsule"):
        _core.root_part(object())
