"""Objects that refuse to travel, but that a module of the receiver holds too."""

import logging
import threading
import types
import unicodedata

import fresh_process
import pytest
import waybill


def test_lock_that_is_a_global_of_the_functions_module_is_the_receivers_own():
    code = compile("def f(): return _lock", "f.py", "exec").co_consts[0]
    sent = types.FunctionType(code, vars(logging))

    answer = fresh_process.send(
        sent, "value() is __import__('logging')._lock and value() is not None"
    )

    assert answer is True


def test_instance_that_the_module_of_its_type_holds_is_that_instance():
    sent = {"data": unicodedata.ucd_3_2_0, "more": [unicodedata.ucd_3_2_0, 1]}

    answer = fresh_process.send(
        sent, "(value['data'].unidata_version, value['more'][1], len(value))"
    )

    assert answer == ("3.2.0", 1, 2)


def test_objects_that_name_themselves_stand_in_lists_and_dicts_as_others_do():
    sent = [len, {"a": len, "b": sum}, [sum, 2], 3]

    answer = fresh_process.send(
        sent, "[value[0] is len, value[1]['b'] is sum, value[2][0] is sum, value[3]]"
    )

    assert answer == [True, True, True, 3]
