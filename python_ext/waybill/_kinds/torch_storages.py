"""Storages of PyTorch: the memory that tensors are views of.

torch writes the storage of each tensor by itself, through a file in memory. Here a
storage is one object of the payload, so that tensors which share it do so afterwards,
and its memory is a buffer, which is copied once. torch is never imported to send: a
storage shows that it is there. Storages of devices go by the memory of the host:
``torch_devices.py``. Those without memory go as torch has them go.

Asked by ``_reducers.py``. Tested by tests/libraries/test_torch.py.
"""

from waybill import _core
from waybill._kinds.torch_devices import (
    from_device,
    memory_of,
    placed,
    storage_of,
    to_device,
)


def reduce_typed_storage(obj):
    return make_typed_storage, (obj._untyped_storage, obj.dtype)


def make_typed_storage(storage, dtype):
    """The wrapper around a storage that tensors are built from."""
    from torch.storage import TypedStorage

    return TypedStorage(wrap_storage=storage, dtype=dtype, _internal=True)


def reduce_untyped_storage(obj):
    from _pickle import PickleBuffer

    if obj.device.type == "meta":
        return obj.__reduce_ex__(2)
    place = () if obj.device.type == "cpu" else (str(obj.device),)
    if not obj.nbytes():
        return make_untyped_storage, (b"", *place)
    memory = from_device(obj) if place else memory_of(obj)
    # Tells the extension that nobody uses this memory for the next object.
    memory.waybill_memory_of = obj
    return make_untyped_storage, (PickleBuffer(memory), *place)


def make_untyped_storage(buffer, device="cpu"):
    """A storage with these bytes, on that device or where ``map_location`` says.

    On the CPU it is the memory of the buffer if that was read to a storage, or belongs
    to the program, or maps a file, and can be written to: torch knows no memory that is
    only read. Else it is a copy, which can be resized as other storages are.
    """
    import torch

    device = placed(device)
    view = memoryview(buffer)
    if device != "cpu":
        return to_device(view, device)
    storage = storage_of(view)
    if storage is not None:
        return storage
    if not view.readonly and type(buffer) is not bytearray:
        return torch.frombuffer(view, dtype=torch.uint8).untyped_storage()
    storage = torch.UntypedStorage(view.nbytes)
    if view.nbytes:
        _core.copy_buffer(memory_of(storage), buffer)
    return storage
