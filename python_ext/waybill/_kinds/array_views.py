"""How arrays of NumPy travel whose memory is not theirs alone, or not in one piece.

Of arrays that share memory, one, or all the bytes that they lie in, travels as it is,
and the others as views of that; the encoder asks when it has met all of a payload.
Tested by tests/python/kinds/test_array_views.py and test_array_keys.py.
"""

import bisect
import sys

#: Kinds of items of which an array can be the memory of another.
_NUMBERS = frozenset("biufc")


def plan_of_arrays(places):
    """How arrays travel that share memory: a callable that gets an array, the addresses
    of its first byte, behind its last, and of its first item, and gives a reducer's
    answer, or None. None if all travel as if they shared nothing.

    ``places`` are all arrays of a payload that share memory, or may: (address of the
    first byte, address behind the last, array), in ascending order.
    """
    storages = _storages_of(places)
    return _Plan(storages) if storages else None


class _Plan:
    """Keeps alive the memory that it knows by its address."""

    def __init__(self, storages):
        self._storages = storages

    def __call__(self, array, low, high, start):
        storage = _storage_at(low, high, self._storages)
        if storage is None or array is storage.array:
            return None
        return storage.view(array, start - storage.low)


class _Storage:
    """Memory that several arrays lie in."""

    def __init__(self, low, high, array):
        self.low, self.high = low, high
        self.arrays = [array]
        self.array = None

    def add(self, high, array):
        self.high = max(self.high, high)
        self.arrays.append(array)

    @property
    def is_shared(self):
        return len(self.arrays) > 1

    @property
    def pays(self):
        """Whether it has no more bytes than the arrays by themselves."""
        return self.high - self.low <= sum(array.nbytes for array in self.arrays)

    def settle(self):
        """Chooses what travels: an array that is all of it, or its bytes."""
        writeable = any(array.flags.writeable for array in self.arrays)
        for array in self.arrays:
            if (
                array.nbytes == self.high - self.low
                and array.flags.c_contiguous
                and array.flags.writeable == writeable
                and array.dtype.kind in _NUMBERS
            ):
                self.array = array
                return self
        self.array = _bytes_at(self.low, self.high, writeable, self.arrays)
        return self

    def view(self, array, start):
        kind = type(array)
        arguments = array.shape, array.dtype, self.array, start, array.strides
        if array.flags.writeable or not self.array.flags.writeable:
            return kind, arguments
        return kind, arguments, False, None, None, kind.setflags


def _storages_of(places):
    places = [place for place in places if not place[-1].dtype.hasobject]
    storages = _clusters_of(place for place in places if _is_together(place[-1]))
    others = []
    for low, high, array in places:
        if _is_together(array):
            continue
        storage = _storage_at(low, high, storages)
        if storage is None:
            others.append((low, high, array))
        else:
            storage.arrays.append(array)
    storages += [storage for storage in _clusters_of(others) if storage.pays]
    shared = [storage.settle() for storage in storages if storage.is_shared]
    return sorted(shared, key=_low_of)


def _clusters_of(places):
    """Storages of arrays that lie in one piece of memory each."""
    clusters = []
    for low, high, array in places:
        if clusters and low < clusters[-1].high:
            clusters[-1].add(high, array)
        else:
            clusters.append(_Storage(low, high, array))
    return clusters


def _storage_at(low, high, storages):
    """The one of some, which ascend, that all of this lies in."""
    place = bisect.bisect_right(storages, low, key=_low_of) - 1
    return storages[place] if place >= 0 and high <= storages[place].high else None


def _low_of(storage):
    return storage.low


def _is_together(array):
    return array.flags.c_contiguous or array.flags.f_contiguous


class _Memory:
    """What NumPy asks for the bytes between two addresses."""

    def __init__(self, low, high, writeable, held):
        self._held = held
        self.__array_interface__ = {
            "version": 3,
            "typestr": "|u1",
            "shape": (high - low,),
            "data": (low, not writeable),
        }


def _bytes_at(low, high, writeable, arrays):
    import numpy

    return numpy.asarray(_Memory(low, high, writeable, arrays))


def copy_in_order(array):
    """An equal array, of the same type, with its items one after the other, in Fortran
    order if they are in that, else in C order, and nothing but zeros between the fields
    of records. None if the array is so already."""
    is_padded = _is_padded(array.dtype)
    if array.flags.forc and not is_padded:
        return None
    copy = array.copy("A")
    if is_padded:
        plain = copy.view(sys.modules["numpy"].ndarray)
        plain.ravel("K").view("u1").fill(0)
        plain[...] = array  # Field by field.
    return copy


def _is_padded(dtype):
    """Whether items have bytes that belong to no field, and that may be anything."""
    if dtype.subdtype is not None:
        return _is_padded(dtype.base)
    if dtype.names is None or dtype.hasobject:  # Objects do not travel as bytes.
        return False
    fields = [dtype.fields[name][0] for name in dtype.names]
    used = sum(field.itemsize for field in fields)
    return used != dtype.itemsize or any(map(_is_padded, fields))
