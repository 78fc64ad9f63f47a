"""Storages of PyTorch: the memory that tensors are views of.

torch writes the storage of each tensor by itself, through a file in memory. Here a
storage is one object of the payload, so that tensors which share it do so afterwards,
and its memory is a buffer, which is copied once. torch is never imported to send: a
storage shows that it is there. Those of other devices go as torch has them go.

Asked by ``_reducers.py``. Tested by tests/libraries/test_torch.py.
"""

from waybill import _core


def reduce_typed_storage(obj):
    return make_typed_storage, (obj._untyped_storage, obj.dtype)


def make_typed_storage(storage, dtype):
    """The wrapper around a storage that tensors are built from."""
    from torch.storage import TypedStorage

    return TypedStorage(wrap_storage=storage, dtype=dtype, _internal=True)


def reduce_untyped_storage(obj):
    from _pickle import PickleBuffer

    if obj.device.type != "cpu":
        return obj.__reduce_ex__(2)
    if not obj.nbytes():
        return make_untyped_storage, (b"",)
    return make_untyped_storage, (PickleBuffer(_memory_of(obj)),)


def make_untyped_storage(buffer):
    """A storage with these bytes. It is the memory of the buffer if that belongs to the
    program, or maps a file, and can be written to: torch knows no memory that is only
    read. Else it is a copy, which can be resized as other storages are."""
    import torch

    view = memoryview(buffer)
    if not view.readonly and type(buffer) is not bytearray:
        return torch.frombuffer(view, dtype=torch.uint8).untyped_storage()
    storage = torch.UntypedStorage(view.nbytes)
    if view.nbytes:
        _core.copy_buffer(_memory_of(storage), buffer)
    return storage


def _memory_of(storage):
    """The memory of a storage as a buffer, which keeps it alive.

    The attribute tells the extension that nobody uses it for the next object.
    """
    import ctypes

    memory = (ctypes.c_ubyte * storage.nbytes()).from_address(storage.data_ptr())
    memory.waybill_memory_of = storage
    return memory
