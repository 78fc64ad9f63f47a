"""The include law of docs/architecture.md: a layer sees only layers below it."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Which layers lie right below each: it may include these, and what lies below them. A
# layer is a folder of src; src/python itself is the serializer, which knows all of it.
BELOW = {
    "base": set(),
    "wire": {"base"},
    "bytecode": {"base"},
    "text": {"base"},
    "format": {"wire", "base"},
    "verify": {"format", "bytecode"},
    "trust": {"verify", "format", "text"},
    "report": {"trust"},
    "diff": {"report"},
    "parts": {"report"},
    "values": {"parts"},
    "explain": {"parts"},
    "python/runtime": {"base"},
    "python/walker": {"python/runtime", "bytecode"},
    "python/guards": {"python/walker"},
    "python/encode": {"python/guards", "python/runtime", "format"},
    "python/decode": {"python/walker", "python/runtime", "format", "trust"},
    "python/cache": {"python/encode", "python/decode"},
    "python": {"python/cache", "explain", "parts"},
    "embedding": {"python", "values"},
    "cli": set(),  # Public headers only.
}

# What each may include of other projects, besides the standard library.
FOREIGN = {
    "base": {"tl/", "xxhash.h", "sodium.h"},
    "wire": {"msgpack"},
    "format": {"zstd.h", "zstd_errors.h"},
    "text": {"fmt/", "nlohmann/"},
    "trust": {"sodium.h"},
    "values": {"sodium.h"},  # For base64.
    "parts": {"tl/"},
    "python/runtime": {"Python.h", "structmember.h"},
    "python/walker": {"Python.h"},
    "python/guards": {"Python.h"},
    "python/encode": {"Python.h"},
    "python/decode": {"Python.h"},
    "python/cache": {"Python.h"},
    "python": {"Python.h"},
    "embedding": {"Python.h"},
    "cli": {"CLI/", "fmt/", "nlohmann/"},
}

# Arrows that point up, and why each does.
EXCEPTIONS = {
    # What each kind of node asks of a policy is a column of the table of shapes.
    ("src/format/shapes.h", "waybill/policy.h"),
    # Needs are written as they turn up, and what is met again has its place by then.
    ("src/python/walker/import_collector.h", "format/manifest_codec.h"),
    ("src/python/walker/import_collector.h", "waybill/manifest.h"),
    # ContentHash and PythonVersion stand in the header of envelopes.
    ("src/python/walker/code_info.h", "waybill/envelope.h"),
    ("src/python/runtime/code_cache.h", "waybill/envelope.h"),
    ("src/python/runtime/state.h", "waybill/envelope.h"),
    # Cuts text between characters.
    ("src/python/runtime/text.cpp", "wire/utf8.h"),
}

# The layer of each public header; waybill.h includes all.
PUBLIC_HEADERS = {
    "base": "bytes error limits",
    "bytecode": "bytecode",
    "format": "buffers envelope manifest stream_length",
    "trust": "gate policy signature",
    "values": "outcome value value_json",
    "report": "report",
    "diff": "diff",
    "parts": "mapped_file parts",
    "explain": "explanation",
    "embedding": "call gil interpreter object",
}

# The extension: public headers, the pipelines, the state that hangs on the module, what
# converts arguments, and the border where errors become exceptions.
# Of the C++ ABI, for threads that Python ends, and for those that come in.
MODULE_MAY_INCLUDE = {"waybill/", "Python.h", "unwind.h", "cxxabi.h"}
MODULE_MAY_INCLUDE |= {
    f"python/{name}.h"
    for name in (
        *("serializer", "prepared_call", "capsules", "cache/methods"),
        *("stored_rows", "opened_file", "device_mapping", "decode/decode_hooks"),
        *("live_explanation", "encode/encode_hooks", "runtime/attribute"),
        *(
            f"runtime/{name}"
            for name in ("modules", "py_error", "ref", "state", "text")
        ),
    )
}
MODULE_MAY_INCLUDE |= {
    "conversions.h",
    "options.h",
    "documentation.h",
    "methods.h",
    "thread_start.h",
}

# Words that only these files may use.
CONFINED = {
    r"PY_VERSION_HEX": {"src/python/runtime/compat.h", "python_ext/module.cpp"},
    r"Py_(X?DECREF|CLEAR|XSETREF|SETREF)": {"src/python/runtime/ref.h"},
    # These take seconds of the compiler in each file that sees them.
    r"fmt::": {f"src/text/format_text.{end}" for end in ("h", "cpp")}
    | {f"src/cli/{name}.cpp" for name in ("completion", "man")},
    r"include <CLI/": {f"src/cli/{name}.cpp" for name in ("main", "options")},
    r"include <nlohmann/": {"src/text/json.cpp", "src/cli/json_text.cpp"},
}


def sources(*folders):
    for folder in folders:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in {".cpp", ".h", ".inc"}:
                yield path


def includes(path):
    return re.findall(
        r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', path.read_text(encoding="utf-8"), re.M
    )


def code_of(path):
    """The text without comments and strings."""
    left_out = r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])'"""
    return re.sub(left_out, "", path.read_text(encoding="utf-8"), flags=re.S)


def layer_of_file(place):
    """The layer of a file below src, by its folder."""
    folder = place.removeprefix("src/").rpartition("/")[0]
    while folder and folder not in BELOW:
        folder = folder.rpartition("/")[0]
    return folder or None


def layer_of(include):
    """The layer that a header of this project belongs to; None for foreign ones."""
    folder, _, name = include.partition("/")
    if folder == "waybill":
        names = {
            name: layer
            for layer, all_ in PUBLIC_HEADERS.items()
            for name in all_.split()
        }
        return names.get(name.removesuffix(".h"))
    return layer_of_file(include) if (ROOT / "src" / include).is_file() else None


def all_below(layer):
    found, open_ = set(), set(BELOW[layer])
    while open_:
        found |= open_
        open_ = set().union(*(BELOW[name] for name in open_)) - found
    return found


def is_standard(include):
    """Of C++, or of POSIX."""
    return (
        re.fullmatch(r"[a-z_0-9]+|unistd\.h|fcntl\.h|sys/\w+\.h", include) is not None
    )


def allowed(include, layer):
    if is_standard(include) or layer_of(include) == layer:
        return True
    if layer == "cli":  # Through public headers only.
        return include.startswith(("waybill/", *FOREIGN["cli"]))
    below = layer_of(include)
    if below is not None:
        return below in all_below(layer)
    return include.startswith(tuple(FOREIGN.get(layer, ())))


def upward(files, layer):
    """(file, include) of each include that the law does not allow."""
    for path in files:
        for include in includes(path):
            if not allowed(include, layer):
                yield path.relative_to(ROOT).as_posix(), include


@pytest.mark.parametrize("layer", BELOW)
def test_layer_includes_only_what_lies_below(layer):
    own = [
        path
        for path in sources(f"src/{layer}")
        if layer_of_file(path.relative_to(ROOT).as_posix()) == layer
    ]

    assert own
    assert set(upward(own, layer)) <= EXCEPTIONS


def test_verify_knows_no_cache():
    files = {path.name: path.read_text() for path in sources("src/verify")}

    assert [name for name, text in files.items() if "cache" in text] == []


def test_exceptions_are_needed():
    for place, include in EXCEPTIONS:
        assert include in includes(ROOT / place)
        assert not allowed(include, layer_of_file(place))


def test_each_source_file_has_a_layer():
    places = [path.relative_to(ROOT).as_posix() for path in sources("src")]

    assert [place for place in places if layer_of_file(place) is None] == []


def test_arrows_lead_down():
    assert [layer for layer in BELOW if layer in all_below(layer)] == []


def test_public_headers_keep_the_law_of_their_layer():
    headers = {
        path.stem: path for path in sources("include/waybill") if path.stem != "waybill"
    }
    layers = {
        name: layer for layer, all_ in PUBLIC_HEADERS.items() for name in all_.split()
    }

    assert set(headers) == set(layers)
    for name, path in headers.items():
        assert list(upward([path], layers[name])) == []


def test_public_headers_need_nothing_foreign_but_expected():
    broken = [
        f"{path.relative_to(ROOT)} includes {include}"
        for path in sources("include/waybill")
        for include in includes(path)
        if not is_standard(include) and not include.startswith(("waybill/", "tl/"))
    ]

    assert not broken, "\n".join(broken)


def test_module_sees_the_public_face_and_the_border():
    broken = [
        f"{path.relative_to(ROOT)} includes {include}"
        for path in sources("python_ext")
        for include in includes(path)
        if not is_standard(include)
        and not include.startswith(tuple(MODULE_MAY_INCLUDE))
    ]

    assert not broken, "\n".join(broken)


def test_python_header_stays_above_the_border():
    used = {
        path.relative_to(ROOT).as_posix()
        for path in sources("src", "include", "tests", "fuzz")
        if "Python.h" in includes(path)
    }

    # Harnesses in fuzz/embedded start a Python; the test below keeps it in there.
    above = ("src/python/", "src/embedding/", "fuzz/embedded/")
    above += ("tests/embedding/", "tests/install/")  # They are programs of users.
    assert not {path for path in used if not path.startswith(above)}


def test_harnesses_of_the_core_see_no_python_in_any_way():
    broken = [
        f"{path.relative_to(ROOT)} includes {include}"
        for path in sources("fuzz")
        if path.parent == ROOT / "fuzz"
        for include in includes(path)
        if include == "Python.h" or include.startswith(("python/", "embedded/"))
    ]

    assert not broken, "\n".join(broken)


def test_layers_that_read_bytes_look_nothing_up_by_hash():
    """Who chooses the keys of a hash table can make all of them collide."""
    used = {
        path.relative_to(ROOT).as_posix()
        for layer in BELOW
        if not layer.startswith("python") and layer not in {"embedding", "cli"}
        for path in sources(f"src/{layer}")
        if "std::unordered_" in code_of(path)
    }

    assert not used


@pytest.mark.parametrize("word", CONFINED)
def test_word_is_used_only_where_it_belongs(word):
    used = {
        path.relative_to(ROOT).as_posix()
        for path in sources("src", "include", "python_ext")
        if re.search(rf"\b{word}\b", code_of(path))
    }

    assert used == CONFINED[word]


@pytest.mark.parametrize("library", ["CLI/", "nlohmann/"])
def test_at_most_four_sources_include_a_library_that_compiles_for_seconds(library):
    used = [
        path
        for path in sources("src", "include", "python_ext", "tests")
        if any(include.startswith(library) for include in includes(path))
    ]

    assert len(used) <= 4
    # A header would bring it into each source that includes that header.
    assert {path.suffix for path in used} == {".cpp"}
