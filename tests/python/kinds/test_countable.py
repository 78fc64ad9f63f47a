"""Containers of 2^32 items and more, which msgpack cannot count, are refused.

Nobody has the memory for such here: some are told by hand that they have so many.
"""

import sys

import fresh_process
import pytest

# The field of the C struct that counts the items follows what all objects have.
SCRIPT = """
import copyreg, ctypes, gc, waybill
gc.disable()
def field_of(container):
    place = object.__basicsize__
    if isinstance(container, (set, frozenset)): place += 8  # Behind `fill`.
    return ctypes.c_ssize_t.from_address(id(container) + place)
class Reduced:
    def __init__(self, *answer): self.answer = answer
    def __reduce_ex__(self, _): return self.answer
class New(Reduced):
    def __new__(cls, *_, **__): return object.__new__(cls)
class Instance: pass
def function(*, key=1): pass
function.__module__ = "nowhere"
instance = Instance()
{make}
field = field_of(container)
del container  # It counts who has the dict of an instance.
before = field.value
for count in 2**32 - 1, 2**32, 2**40:
    field.value = count
    try: waybill.dumps(sent)
    except waybill.EncodeError as error:
        print(error.path, "(" + error.type + ")", "|", error)
    finally: field.value = before
waybill.dumps(sent)
"""

CASES = {
    "obj[1] (list)": "container = [1] * 9; sent = [0, container]",
    "obj (tuple)": "container = sent = tuple([1] * 9)",
    "obj['key'] (dict)": "container = {1: 1}; sent = {'key': container}",
    "obj[1] (set)": "container = {1}; sent = [0, container]",
    "obj (frozenset)": "container = sent = frozenset({1})",
    "obj (__main__.Reduced)": "container = (1, 2); sent = Reduced(list, container)",
    "obj (__main__.New)": """
sent = New()
container = {"key": 1}
sent.answer = copyreg.__newobj_ex__, (New, (), container)""",
    "function (function)": "container = function.__kwdefaults__; sent = function",
    "obj[1] (__main__.Instance)": """
instance.attribute = 1
container = vars(instance)
sent = [Instance(), instance]""",
}


@pytest.mark.skipif(sys.maxsize < 2**32, reason="no container can be as long")
@pytest.mark.parametrize("path", CASES)
def test_too_many_items_are_refused_by_path(path):
    answer = fresh_process.run_script(SCRIPT.format(make=CASES[path]))

    lines = answer.splitlines()
    assert len(lines) == 3
    for line in lines:
        assert line.startswith(path + " | ")
        assert "2^32 items or more" in line
