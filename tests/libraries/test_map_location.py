"""Tensors of a device go where map_location says. There is no device here: a payload
names one, as those of a GPU do, and what copies from and to devices works on the CPU.
"""

import collections
import io

import pytest
import waybill
from refusals import refused_as

torch = pytest.importorskip("torch")

from waybill._kinds import torch_storages  # noqa: E402

if torch.cuda.is_available():
    pytest.skip("the first GPU is here", allow_module_level=True)


class Away:
    """Travels as a tensor of `device` would."""

    def __init__(self, device, values=(1.0, 2.0)):
        self.device, self.values = device, torch.tensor(values)

    def __reduce__(self):
        rows = self.values
        storage = Made(
            torch_storages.make_typed_storage,
            Made(
                torch_storages.make_untyped_storage,
                rows.numpy().tobytes(),
                *([self.device] if self.device != "cpu" else []),
            ),
            rows.dtype,
        )
        return torch._utils._rebuild_tensor_v2, (
            storage,
            0,
            tuple(rows.shape),
            rows.stride(),
            False,
            collections.OrderedDict(),
        )


class Made:
    def __init__(self, *call):
        self.call = call

    def __reduce__(self):
        return self.call[0], self.call[1:]


AWAY = waybill.dumps(Away("cuda:1"))

CPU_BY_EACH_FORM = {
    "a str": "cpu",
    "a device": torch.device("cpu"),
    "a dict of devices": {"cuda:1": "cpu"},
    "a dict of kinds": {"cuda": torch.device("cpu")},
    "a callable": lambda device: {"cuda:1": "cpu"}[device],
}


@pytest.mark.parametrize("form", CPU_BY_EACH_FORM)
def test_tensors_go_where_each_form_says(form):
    arrived = waybill.loads(AWAY, map_location=CPU_BY_EACH_FORM[form])

    assert (str(arrived.device), arrived.tolist()) == ("cpu", [1, 2])


@pytest.mark.parametrize("chosen", [None, {}, {"cuda:0": "cpu"}, lambda device: None])
def test_what_is_not_mapped_needs_its_device(chosen):
    with refused_as("missing_device", match=r"cuda:1.*0 devices.*cpu"):
        waybill.loads(AWAY, map_location=chosen)


def test_tensors_of_the_cpu_go_elsewhere_too():
    arrived = waybill.loads(waybill.dumps(torch.ones(3)), map_location="meta")

    assert (str(arrived.device), arrived.shape) == ("meta", (3,))


def test_every_way_in_takes_it(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(AWAY)
    call = waybill.calls.dumps_call(lambda tensor: tensor.sum(), (Away("cuda:1"),))
    cpu = {"map_location": "cpu"}

    arrived = [
        waybill.loads(AWAY, copy=False, **cpu),
        waybill.load(io.BytesIO(AWAY), **cpu),
        waybill.load(path, **cpu),
        waybill.load(path, mmap=True, **cpu),
        waybill.Unpickler(io.BytesIO(AWAY), **cpu).load(),
        waybill.open(path, **cpu).load(),
        waybill.loads(
            AWAY,
            policy=waybill.security.Policy(
                "allow import *\nallow lookup *\nallow call *"
            ),
            **cpu,
        ),
    ]

    assert [tensor.tolist() for tensor in arrived] == [[1, 2]] * len(arrived)
    outcome = waybill.calls.run_call(call, **cpu)
    assert waybill.calls.loads_outcome(outcome) == 3


def test_it_can_be_set_for_the_process():
    waybill.configure(map_location="cpu")
    try:
        assert waybill.loads(AWAY).tolist() == [1, 2]
        assert waybill.loads(AWAY, map_location="meta").device.type == "meta"
    finally:
        waybill.configure(map_location=None)
    with pytest.raises(waybill.DecodeError):
        waybill.loads(AWAY)


def test_it_holds_for_payloads_inside_and_ends_with_the_call():
    inside = waybill.dumps(Made(waybill.loads, AWAY))

    assert waybill.loads(inside, map_location="cpu").tolist() == [1, 2]
    for _ in range(2):
        with pytest.raises(waybill.DecodeError):
            waybill.loads(inside, map_location={})
    with pytest.raises(waybill.DecodeError):
        waybill.loads(inside)


def test_the_innermost_counts_and_the_one_around_it_comes_back():
    def load_inside():
        meta = waybill.loads(AWAY, map_location="meta")
        return meta.device.type, waybill.loads(AWAY).device.type

    data = waybill.dumps([Made(load_inside), Away("cuda:1")])

    places, tensor = waybill.loads(data, map_location="cpu")

    assert (places, tensor.device.type) == (("meta", "cpu"), "cpu")


def test_what_is_no_place_is_refused():
    with pytest.raises(TypeError, match="map_location should be a device"):
        waybill.loads(AWAY, map_location=["cpu"])


PIECE = torch_storages.PIECE
SIZES = [1, PIECE - 1, PIECE, PIECE + 1, 2 * PIECE, 3 * PIECE + 7]


@pytest.mark.parametrize("size", SIZES)
def test_pieces_of_a_storage_come_together(size):
    storage = torch.randint(256, (size,), dtype=torch.uint8).untyped_storage()
    expected = bytes(torch_storages.memory_of(storage))

    there = torch_storages.gather(storage)
    back = torch.empty(size, dtype=torch.uint8)
    source = torch.frombuffer(bytearray(expected), dtype=torch.uint8)
    torch_storages.scatter(source, back)

    assert bytes(there) == expected
    assert back.numpy().tobytes() == expected


def test_parts_of_a_file_tell_tensors_of_devices(tmp_path):
    path = tmp_path / "file"
    waybill.save({"away": Away("cuda:1", [1.0] * 6)}, path)

    with waybill.open(path) as file:
        part = file["away"]
        assert (part.type, part.dtype, part.shape) == ("torch.Tensor", "float32", (6,))
