"""Reducer of memory views; see ``_reducers``."""

from _pickle import PickleBuffer


def reduce_memory_view(obj):
    """Sends the viewed object, or a buffer with the viewed part.

    A mutable object travels if the view covers all of it, so that both share their
    bytes at the receiver too. Parts, and views of immutable bytes, travel as buffers,
    which can be out of band.
    """
    base = obj.obj
    if type(base) is bytearray or type(base).__module__ in ("array", "numpy"):
        whole = memoryview(base)
        if _layout(whole) == _layout(obj) and whole.readonly == obj.readonly:
            return memoryview, (base,)
    held = PickleBuffer(obj if obj.c_contiguous else memoryview(obj.tobytes()))
    if obj.ndim == 1 and obj.format == "B":
        return memoryview, (held,)
    memoryview(bytes(obj.itemsize)).cast(obj.format)  # Raises for other formats.
    return make_memory_view, (held, obj.format, obj.shape)


def _layout(view):
    return view.format, view.shape, view.strides


def make_memory_view(buffer, format, shape):
    """A view of a buffer of bytes, cast to this format and shape."""
    view = memoryview(buffer)
    if view.format != "B" or view.ndim != 1:
        view = view.cast("B")
    return view.cast(format) if 0 in shape else view.cast(format, shape)
