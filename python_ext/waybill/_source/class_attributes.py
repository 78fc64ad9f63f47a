"""Class attributes that only one minor version uses; other versions drop them. Tested
by tests/python/source/test_generated.py."""

from __future__ import annotations

#: The receiver's compiler and type() add those that its version uses.
ATTRIBUTES_TO_DROP = frozenset(
    {
        # 3.13: the attributes that methods set on self, for inspection alone.
        "__static_attributes__",
        # 3.13: the line of the class statement; travels apart, as lines of code do.
        "__firstlineno__",
        # 3.14: ``__annotate__`` as stored. It travels as a unit, or as its result.
        "__annotate_func__",
        # 3.14: the cached result of that function.
        "__annotations_cache__",
        # 3.14: the cell of the namespace, which type() takes when it makes the class.
        "__classdictcell__",
        # 3.14: which conditional annotations were executed.
        "__conditional_annotations__",
        # 3.8: the cell of ``__class__``, which type() takes when it makes the class. An
        # unusual metaclass may leave it there.
        "__classcell__",
    }
)
