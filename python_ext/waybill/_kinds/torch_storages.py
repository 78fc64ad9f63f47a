"""Reducers of PyTorch storages, the memory that tensors are views of.

torch pickles each tensor's storage separately, through a file in memory. Here a storage
is one object of the payload, so that tensors which share one still do, and its memory
is a buffer, which is copied once. Sending never imports torch: a storage exists only if
it is imported. Storages without memory are reduced by torch.

Storages of devices, such as a GPU, travel through host memory. Bytes go to and from a
CUDA device through two pieces of pinned memory in turn: while the device copies one,
the processor copies the other. For unpinned memory the driver uses such pieces too, but
one after the other.

Used by ``_reducers``. Tested by tests/libraries/test_torch.py, test_map_location.py
and, where there is a GPU, test_gpu.py beside them.
"""

import ctypes

from waybill import _core

#: Bytes of a piece: large enough that starting a copy costs little, and small enough
#: that the storages of most layers have several pieces.
PIECE = 4 << 20

#: The kind of a writable buffer, as docs/wire_format.md numbers them.
_WRITABLE = 3


def reduce_typed_storage(obj):
    return make_typed_storage, (obj._untyped_storage, obj.dtype)


def make_typed_storage(storage, dtype):
    """The wrapper around a storage that torch builds tensors from."""
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
    # Tells the extension that the memory belongs to this object.
    memory.waybill_memory_of = obj
    return make_untyped_storage, (PickleBuffer(memory), *place)


def make_untyped_storage(buffer, device="cpu"):
    """A storage with these bytes, on ``device`` or where ``map_location`` says.

    On the CPU it uses the memory of the buffer if that was read into a storage, or if
    it is writable and belongs to the program or maps a file: torch has no read-only
    memory. Else it is a copy, which can be resized like other storages.
    """
    import torch

    device = target_device(device)
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


def memory_of(storage):
    """The memory of a storage on the CPU as a buffer, which keeps it alive."""
    memory = (ctypes.c_ubyte * storage.nbytes()).from_address(storage.data_ptr())
    memory.waybill_storage = storage
    return memory


def new_memory(length: int) -> tuple[memoryview, memoryview]:
    """(read-only view for the payload's buffer, writable view) of the uninitialized
    memory of a new storage of ``length`` bytes. ``storage_of`` finds the storage."""
    import torch

    memory = memoryview(memory_of(torch.UntypedStorage(length))).cast("B")
    _core.advise_large_pages(memory)
    return memory.toreadonly(), memory[:]


def storage_of(view):
    """The storage whose whole memory a buffer is; None if there is none."""
    storage = getattr(view.obj, "waybill_storage", None)
    if storage is None or storage.nbytes() != view.nbytes:
        return None
    return storage


def target_device(device):
    """The device for a storage of ``device``. DecodeError if this process lacks it."""
    map_location = _core.current_map_location()
    if isinstance(map_location, dict):
        kind, _, _ = device.partition(":")
        target = map_location.get(device, map_location.get(kind))
    else:
        target = map_location(device) if callable(map_location) else map_location
    target = device if target is None else str(target)
    if target != "cpu":
        _check_device(target)
    return target


def _check_device(name):
    import torch

    device = torch.device(name)
    kind = getattr(torch, device.type, None)
    count = getattr(kind, "device_count", None)
    if count is None or (device.index or 0) < count():
        return
    from waybill._api.errors import refusal

    raise refusal(
        "missing_device",
        f"a tensor goes to {name}, and this process has {count()} devices of "
        f"{device.type}; map_location says where tensors go instead, for example "
        'loads(data, map_location="cpu")',
    )


def from_device(storage):
    """The bytes of a storage of a device, in memory of the host."""
    if storage.device.type != "cuda" or storage.nbytes() <= PIECE:
        return memory_of(storage.cpu())
    return gather(storage)


def to_device(view, name):
    """A storage on a device, with the bytes of a memoryview."""
    import torch

    target = torch.empty(view.nbytes, dtype=torch.uint8, device=name)
    kind = target.device.type
    if kind == "meta" or not view.nbytes:
        return target.untyped_storage()
    source = _tensor_over(view)
    if kind == "cuda" and view.nbytes > PIECE:
        scatter(source, target)
    else:
        target.copy_(source)
    return target.untyped_storage()


def gather(storage):
    """The result of ``from_device``, copied piece by piece."""
    size = storage.nbytes()
    data, view = _core.new_buffer(_WRITABLE, size)
    target, source = _tensor_over(view), _bytes_of(storage)
    pieces = [_Piece(source.device), _Piece(source.device)]
    previous = None
    for number, start in enumerate(range(0, size, PIECE)):
        piece, part = pieces[number % 2], slice(start, start + PIECE)
        # The piece is free: its bytes were moved in the round before.
        piece.begin_from(source[part])
        if previous:
            previous[0].move_to(target[previous[1]])
        previous = piece, part
    previous[0].move_to(target[previous[1]])
    return (ctypes.c_ubyte * size).from_buffer(data)


def scatter(source, target):
    """Copies a tensor of bytes from the host to a device, piece by piece."""
    pieces = [_Piece(target.device), _Piece(target.device)]
    for number, start in enumerate(range(0, len(source), PIECE)):
        piece, part = pieces[number % 2], slice(start, start + PIECE)
        piece.wait()
        piece.begin_to(target[part], source[part])
    for piece in pieces:
        piece.wait()


def _bytes_of(storage):
    import torch

    return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)


def _tensor_over(view):
    """A tensor of bytes over the memory of a memoryview, which must outlive it. Unlike
    torch.frombuffer of the view, it gives no warning of read-only memory."""
    import torch

    memory = (ctypes.c_ubyte * view.nbytes).from_address(_core.address_of(view))
    return torch.frombuffer(memory, dtype=torch.uint8)


class _Piece:
    """Pinned memory of the host, which a device copies to or from in the order of its
    other work, while the host goes on."""

    def __init__(self, device):
        import torch

        is_cuda = device.type == "cuda"
        self._bytes = torch.empty(PIECE, dtype=torch.uint8, pin_memory=is_cuda)
        self._stream = torch.cuda.current_stream(device) if is_cuda else None
        self._copy_event = None

    def begin_from(self, source):
        self._begin(self._bytes[: len(source)], source)

    def begin_to(self, target, source):
        piece = self._bytes[: len(source)]
        piece.copy_(source)
        self._begin(target, piece)

    def move_to(self, target):
        """Copies the bytes of the copy that `begin_from` started."""
        self.wait()
        target.copy_(self._bytes[: len(target)])

    def wait(self):
        """Waits until the last copy is done."""
        if self._copy_event is not None:
            self._copy_event.synchronize()

    def _begin(self, target, source):
        target.copy_(source, non_blocking=True)
        if self._stream is not None:
            self._copy_event = self._stream.record_event(self._copy_event)
