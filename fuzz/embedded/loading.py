"""The check that fuzz_loads makes of each envelope: see check_with()."""

import abc
import collections
import datetime
import decimal
import functools
import json
import os.path
import types
import uuid
import xml.dom.minidom
from collections.abc import Callable
from typing import Any

import waybill

# waybill imports these when it needs them, which the guard refuses.
import waybill._api.errors
import waybill._kinds
import waybill._modules.by_value

#: Modules that payloads may name. Others are missing once the guard is up.
LOADED = (abc, collections, datetime, decimal, functools, json, os, types, uuid, xml)


def check_with(options: str, may_call: bool) -> Callable[[bytes], None]:
    """Returns a check of ``loads(data, <options>)``; options are spelled as in a call.

    If they let payloads call nothing, loads() must raise nothing but DecodeError.
    """
    keywords: dict[str, Any] = eval(f"dict({options})", {"waybill": waybill})

    def check(data: bytes) -> None:
        first, loaded = attempt(data, keywords)
        assert may_call or loaded or isinstance(first, waybill.DecodeError), first
        if not loaded:
            return
        second, loaded_again = attempt(data, keywords)  # While the first is alive.
        assert loaded_again, f"the second load failed: {second!r}"
        del first, second

    return check


def attempt(data: bytes, options: dict[str, Any]) -> tuple[Any, bool]:
    """The object that loads() returns, and True; or its error, and False."""
    try:
        return waybill.loads(data, **options), True
    except waybill.DecodeError as error:
        assert 0 <= error.offset <= len(data), f"outside the input: {error}"
        return error.with_traceback(None), False
    except SystemError:
        raise  # No input may cause an internal error of the extension.
    except Exception as error:
        # A callable that the payload names refused its arguments.
        return error.with_traceback(None), False
