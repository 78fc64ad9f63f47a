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
    """(source files, their object file), of the libraries. Sources of one folder may be
    compiled together, by a file that includes them."""
    for target in ("waybill_base", "waybill_core", "waybill_objects"):
        folder = OBJECTS / f"{target}.dir"
        for path in (*folder.rglob("*.cpp.o"), *folder.rglob("*.cxx.o")):
            source = path.with_suffix("")
            places = [source.relative_to(folder).as_posix()]
            if source.parent.name == "Unity" and source.is_file():
                text = source.read_text(encoding="utf-8")
                places = re.findall(
                    rf'^#include "{re.escape(str(ROOT))}/(.+)"', text, re.M
                )
            places = [place for place in places if place.startswith("src/")]
            if places and all((ROOT / place).is_file() for place in places):
                yield tuple(places), path


def layers_for(places):
    """What files may call: of what their layer may include, or they include besides."""
    layer = layer_of_file(places[0])
    found = {layer} | all_below(layer)
    stems = {place.rpartition(".")[0] for place in places}
    for excepted, include in EXCEPTIONS:
        if excepted.rpartition(".")[0] in stems:
            found |= {layer_of(include)} | all_below(layer_of(include))
    return found


@pytest.mark.once
def test_no_file_calls_what_a_layer_above_it_defines():
    if shutil.which("nm") is None or not any(object_files()):
        pytest.skip("nothing is built, or no nm")
    called = {places: symbols(path) for places, path in object_files()}
    defined = {
        name: layer_of_file(places[0])
        for places, found in called.items()
        for kind, name in found
        if kind in "TDRB"
    }

    broken = [
        f"{', '.join(places)} calls {name}, which is of {defined[name]}"
        for places, found in called.items()
        for kind, name in found
        if kind == "U" and defined.get(name) not in {None, *layers_for(places)}
    ]

    assert len(defined) > 300
    assert not broken, "\n".join(broken)
