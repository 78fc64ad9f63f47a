"""Views of memory; see ``_reducers``."""

from _pickle import PickleBuffer


def reduce_memory_view(obj):
    """A view of what it looks at, or of a copy of the part that it shows.

    What it looks at travels itself where both are of the same extent, so that the view
    sees its changes. Parts and views of immutable bytes are buffers, which can travel
    out of band.
    """
    base = obj.obj
    if type(base) is bytearray or type(base).__module__ in ("array", "numpy"):
        whole = memoryview(base)
        if _layout(whole) == _layout(obj) and whole.readonly == obj.readonly:
            return memoryview, (base,)
    held = PickleBuffer(obj if obj.c_contiguous else memoryview(obj.tobytes()))
    if obj.ndim == 1 and obj.format == "B":
        return memoryview, (held,)
    memoryview(bytes(obj.itemsize)).cast(obj.format)  # Raises if that cannot be.
    return make_memory_view, (held, obj.format, obj.shape)


def _layout(view):
    return view.format, view.shape, view.strides


def make_memory_view(buffer, format, shape):
    """A view with this format and shape of a buffer that has neither."""
    view = memoryview(buffer)
    if view.format != "B" or view.ndim != 1:
        view = view.cast("B")
    return view.cast(format) if 0 in shape else view.cast(format, shape)
