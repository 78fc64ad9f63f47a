"""Names for types in C that no module of the standard library has.

Payloads hold these names, so they never change.
"""

import array
import contextvars
import functools
import itertools
import re
import struct
import sys
from collections import OrderedDict, deque


async def _coroutine():
    pass


def _type_of_awaitable():
    coroutine = _coroutine()
    try:
        return type(coroutine.__await__())
    finally:
        coroutine.close()


# Views and iterators of dicts; _collections_abc has the others.
_plain: dict[str, int] = {}
_ordered: OrderedDict[str, int] = OrderedDict()
_deque: deque[int] = deque()
dict_reversekeyiterator = type(reversed(_plain))
dict_reversevalueiterator = type(reversed(_plain.values()))
dict_reverseitemiterator = type(reversed(_plain.items()))
odict_keys = type(_ordered.keys())
odict_values = type(_ordered.values())
odict_items = type(_ordered.items())
odict_iterator = type(iter(_ordered))

# Iterators.
array_iterator = type(iter(array.array("b")))
callable_iterator = type(iter(int, 1))
code_line_iterator = type(_type_of_awaitable.__code__.co_lines())
code_position_iterator = type(_type_of_awaitable.__code__.co_positions())
coroutine_wrapper = _type_of_awaitable()
deque_iterator = type(iter(_deque))
deque_reverse_iterator = type(reversed(_deque))
generic_alias_iterator = type(iter(list[int]))  # type: ignore[call-overload]
memory_iterator = type(iter(memoryview(b"")))
str_ascii_iterator = type(iter(""))
str_iterator = type(iter("\u0100"))
tee_iterator = type(itertools.tee([0])[0])
unpack_iterator = type(struct.iter_unpack("b", b""))

# Views of contexts.
context_keys = type(contextvars.Context().keys())
context_values = type(contextvars.Context().values())
context_items = type(contextvars.Context().items())

# Results of functions.
comparison_key = type(functools.cmp_to_key(int))
pattern_scanner = type(re.compile("").scanner(""))  # type: ignore[attr-defined]

# Types of objects in sys.
sys_flags = type(sys.flags)
sys_float_info = type(sys.float_info)
sys_hash_info = type(sys.hash_info)
sys_int_info = type(sys.int_info)
sys_thread_info = type(sys.thread_info)
sys_version_info = type(sys.version_info)
sys_asyncgen_hooks = type(sys.get_asyncgen_hooks())
