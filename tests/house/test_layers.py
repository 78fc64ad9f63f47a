"""The include law of docs/architecture.md: a layer sees only layers below it."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

# What each layer may include besides itself and the standard library.
LAW = {
    "base": {"tl/", "xxhash.h"},
    "wire": {"base", "tl/", "msgpack"},
    "bytecode": {"base", "tl/"},
    "envelope": {
        *("bytecode", "wire", "base"),
        *("tl/", "msgpack", "fmt/", "nlohmann/", "sodium.h"),
    },
    "python": {
        *("bytecode", "envelope", "wire", "base"),
        *("tl/", "msgpack", "Python.h", "opcode.h"),
    },
    "embedding": {
        *("python", "bytecode", "envelope", "wire", "base"),
        *("tl/", "Python.h"),
    },
    "cli": {"waybill/", "CLI/", "fmt/", "nlohmann/"},
}
# The extension: public headers, the pipelines, the state that hangs on the module, what
# converts arguments, and the border where errors become exceptions.
# Of the C++ ABI, for threads that Python ends, and for those that come in.
MODULE_MAY_INCLUDE = {"waybill/", "Python.h", "unwind.h", "cxxabi.h"}
MODULE_MAY_INCLUDE |= {
    f"python/{name}.h"
    for name in (
        *("object", "terms", "keys", "state"),
        *("ref", "py_error", "text", "methods", "modules"),
    )
}
MODULE_MAY_INCLUDE |= {"border.h", "documentation.h", "thread_start.h"}
MODULE_MAY_INCLUDE |= {
    f"{name}_methods.h" for name in ("admission", "class", "key", "stream")
}

# Public headers that do not belong to the layer envelope.
LAYER_OF_PUBLIC_HEADER = {
    "bytes.h": "base",
    "error.h": "base",
    "limits.h": "base",
    "bytecode.h": "bytecode",
    "chain.h": "bytecode",
    "call.h": "embedding",
    "gil.h": "embedding",
    "interpreter.h": "embedding",
    "object.h": "embedding",
}

# Words that only these files may use.
CONFINED = {
    r"PY_VERSION_HEX": {"src/python/runtime/compat.h", "python_ext/module.cpp"},
    r"Py_(X?DECREF|CLEAR|XSETREF|SETREF)": {"src/python/runtime/ref.h"},
    # Both take seconds of the compiler in each file that calls them.
    r"fmt::": {f"src/text/format_text.{end}" for end in ("h", "cpp")}
    | {f"src/cli/{name}.cpp" for name in ("completion", "man")},
    r"<CLI/": {f"src/cli/{name}.cpp" for name in ("main", "options", "definitions")},
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


def layer_of(include):
    """The layer that a header of this project belongs to; None for foreign ones."""
    folder, _, name = include.partition("/")
    if folder == "waybill":
        return LAYER_OF_PUBLIC_HEADER.get(name, "envelope")
    return folder if folder in LAW else None


def is_standard(include):
    """Of C++, or of POSIX."""
    return (
        re.fullmatch(r"[a-z_0-9]+|unistd\.h|fcntl\.h|sys/\w+\.h", include) is not None
    )


def allowed(include, layer):
    if is_standard(include) or layer_of(include) == layer:
        return True
    if layer == "cli":  # Through public headers only.
        return include.startswith(tuple(LAW["cli"]))
    below = layer_of(include)
    if below is not None:
        return below in LAW[layer]
    return include.startswith(tuple(word for word in LAW[layer] if word not in LAW))


@pytest.mark.parametrize("layer", LAW)
def test_layer_includes_only_what_lies_below(layer):
    broken = [
        f"{path.relative_to(ROOT)} includes {include}"
        for path in sources(f"src/{layer}")
        for include in includes(path)
        if not allowed(include, layer)
    ]

    assert not broken, "\n".join(broken)


def test_public_headers_keep_the_law_of_their_layer():
    broken = [
        f"{path.relative_to(ROOT)} includes {include}"
        for path in sources("include/waybill")
        if path.name != "waybill.h"
        for include in includes(path)
        if not allowed(include, layer_of(f"waybill/{path.name}"))
    ]

    assert not broken, "\n".join(broken)


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
    # Numbers the files of what this process sends.
    may_hash = {"src/format/manifest.cpp"}

    used = {
        path.relative_to(ROOT).as_posix()
        for path in sources("src/base", "src/wire", "src/bytecode", "src/envelope")
        if "std::unordered_" in code_of(path)
    }

    assert used == may_hash


@pytest.mark.parametrize("word", CONFINED)
def test_word_is_used_only_where_it_belongs(word):
    used = {
        path.relative_to(ROOT).as_posix()
        for path in sources("src", "include", "python_ext")
        if re.search(rf"\b{word}\b", code_of(path))
    }

    assert used <= CONFINED[word]
