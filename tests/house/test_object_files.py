"""What object files call keeps the include law: a public header may belong to a lower
layer than who defines what it declares."""

import re
import shutil
import subprocess

import pytest
from test_layers import EXCEPTIONS, ROOT, all_below, layer_of, layer_of_file

OBJECTS = ROOT / "build" / "CMakeFiles"


def symbols(path):
    """(kind, name) of each symbol of this project, as nm tells them."""
    listed = subprocess.run(
        ["nm", "-C", path], capture_output=True, text=True, check=True
    ).stdout
    return [
        found
        for found in re.findall(r"^ *(?:[0-9a-f]+ )? *(\w) (.*)$", listed, re.M)
        if found[1].startswith("waybill::")
    ]


def object_files():
    """(source file, its object file), of the libraries."""
    for target in ("waybill_core", "waybill_objects"):
        folder = OBJECTS / f"{target}.dir"
        for path in folder.rglob("*.cpp.o"):
            place = path.relative_to(folder).as_posix().removesuffix(".o")
            if (ROOT / place).is_file():  # It may be of a source that is gone.
                yield place, path


def layers_for(place):
    """What a file may call: of what its layer may include, or it includes besides."""
    layer = layer_of_file(place)
    found = {layer} | all_below(layer)
    for excepted, include in EXCEPTIONS:
        if excepted.rpartition(".")[0] == place.rpartition(".")[0]:
            found |= {layer_of(include)} | all_below(layer_of(include))
    return found


@pytest.mark.once
def test_no_file_calls_what_a_layer_above_it_defines():
    if shutil.which("nm") is None or not any(object_files()):
        pytest.skip("nothing is built, or no nm")
    called = {place: symbols(path) for place, path in object_files()}
    defined = {
        name: layer_of_file(place)
        for place, found in called.items()
        for kind, name in found
        if kind in "TDRB"
    }

    broken = [
        f"{place} calls {name}, which is of {defined[name]}"
        for place, found in called.items()
        for kind, name in found
        if kind == "U" and defined.get(name) not in {None, *layers_for(place)}
    ]

    assert len(defined) > 300
    assert not broken, "\n".join(broken)
