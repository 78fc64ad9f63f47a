"""Reducers of NumPy arrays that share memory, or whose items are not contiguous.

If arrays share memory, one array or a buffer of all their bytes travels, and the others
travel as views of it. The encoder makes a plan once it has visited the payload.
Tested by tests/python/kinds/test_array_views.py and test_array_keys.py.
"""

import bisect
import operator
import sys

#: Kinds of dtypes whose arrays can be the memory of another array.
_NUMBERS = frozenset("biufc")

_low_address = operator.attrgetter("low")


def plan_of_arrays(places):
    """A plan for arrays that share memory; None if each travels by itself.

    ``places`` are all arrays of a payload that may share memory: (address of the
    first byte, address after the last, array), in ascending order. The plan is called
    with (array, address of its first byte, address after its last, address of its first
    item), and returns the result of a reducer, or None for an array that travels by
    itself. It keeps the arrays alive.
    """
    storages = _storages_of(places)
    return _Plan(storages) if storages else None


class _Plan:
    """See `plan_of_arrays`."""

    def __init__(self, storages):
        self._storages = storages

    def __call__(self, array, low, high, start):
        storage = _storage_at(low, high, self._storages)
        if storage is None or array is storage.array:
            return None
        return storage.view(array, start - storage.low)


class _Storage:
    """Memory that several arrays use."""

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
    def is_compact(self):
        """Whether it has no more bytes than the arrays together."""
        return self.high - self.low <= sum(array.nbytes for array in self.arrays)

    def choose_array(self):
        """Chooses the array that travels: one that covers the memory, or its bytes."""
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
        memory = _Memory(self.low, self.high, writeable, self.arrays)
        self.array = sys.modules["numpy"].asarray(memory)
        return self

    def view(self, array, start):
        kind = type(array)
        arguments = array.shape, array.dtype, self.array, start, array.strides
        if array.flags.writeable or not self.array.flags.writeable:
            return kind, arguments
        return kind, arguments, False, None, None, kind.setflags


def _storages_of(places):
    places = [place for place in places if not place[-1].dtype.hasobject]
    storages = _clusters_of(place for place in places if _is_contiguous(place[-1]))
    others = []
    for low, high, array in places:
        if _is_contiguous(array):
            continue
        storage = _storage_at(low, high, storages)
        if storage is None:
            others.append((low, high, array))
        else:
            storage.arrays.append(array)
    storages += [storage for storage in _clusters_of(others) if storage.is_compact]
    shared = [storage.choose_array() for storage in storages if storage.is_shared]
    return sorted(shared, key=_low_address)


def _clusters_of(places):
    """A storage for each range of memory that overlapping arrays form."""
    clusters = []
    for low, high, array in places:
        if clusters and low < clusters[-1].high:
            clusters[-1].add(high, array)
        else:
            clusters.append(_Storage(low, high, array))
    return clusters


def _storage_at(low, high, storages):
    """The storage that contains a range of addresses; ``storages`` ascend."""
    index = bisect.bisect_right(storages, low, key=_low_address) - 1
    return storages[index] if index >= 0 and high <= storages[index].high else None


def _is_contiguous(array):
    return array.flags.c_contiguous or array.flags.f_contiguous


class _Memory:
    """Gives NumPy the bytes between two addresses, by its array interface."""

    def __init__(self, low, high, writeable, held):
        self._held = held
        self.__array_interface__ = {
            "version": 3,
            "typestr": "|u1",
            "shape": (high - low,),
            "data": (low, not writeable),
        }


def copy_in_order(array):
    """An equal array with contiguous items, in Fortran order if the array has that, and
    zeros in the padding of records. None if the array has this form already."""
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
    """Whether items have padding: bytes of no field, with arbitrary values."""
    if dtype.subdtype is not None:
        return _is_padded(dtype.base)
    if dtype.names is None or dtype.hasobject:  # Objects do not travel as bytes.
        return False
    fields = [dtype.fields[name][0] for name in dtype.names]
    used = sum(field.itemsize for field in fields)
    return used != dtype.itemsize or any(map(_is_padded, fields))
