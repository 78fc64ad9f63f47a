"""Names in the namespace of a class that only the minor version means that put them
there. A class that goes to another one is made without.

Tested by tests/python/source/test_generated.py.
"""

from __future__ import annotations

#: Dropped between any two minor versions; the receiver's own compiler and type() put
#: there what it has use for.
ATTRIBUTES_TO_DROP = frozenset(
    {
        # 3.13: the attributes that methods set on self, for inspection alone.
        "__static_attributes__",
        # 3.13: the line of the class statement; travels apart, as lines of code do.
        "__firstlineno__",
        # 3.14: the function of annotations under the name that type() keeps it by. As
        # ``__annotate__`` it travels by a unit, or as evaluated annotations.
        "__annotate_func__",
        # 3.14: what that function gave, once asked.
        "__annotations_cache__",
        # 3.14: the cell of the namespace, which type() takes when it makes the class.
        "__classdictcell__",
        # 3.14: which of its annotations under a condition were reached.
        "__conditional_annotations__",
        # 3.8: the cell of ``__class__``, which type() takes when it makes the class. A
        # class that metaclasses made in an odd way may still have it.
        "__classcell__",
    }
)
