"""What fuzz_loads does with each envelope: see check_with()."""

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
import waybill._api.errors  # What is loaded at the first error could not be by then.
import waybill._kinds
import waybill._modules.by_value

#: Modules that payloads may name. Others are missing once the guard is up.
LOADED = (abc, collections, datetime, decimal, functools, json, os, types, uuid, xml)


def check_with(options: str, may_call: bool) -> Callable[[bytes], None]:
    """A check of ``loads(data, <options>)``, spelled as in a call.

    Where these options let payloads call nothing, nothing but DecodeError is raised.
    """
    given: dict[str, Any] = eval(f"dict({options})", {"waybill": waybill})

    def check(data: bytes) -> None:
        first, loaded = attempt(data, given)
        assert may_call or loaded or isinstance(first, waybill.DecodeError), first
        if not loaded:
            return
        second, loaded_again = attempt(data, given)  # While the first lives.
        assert loaded_again, f"loaded once only: {second!r}"
        del first, second

    return check


def attempt(data: bytes, options: dict[str, Any]) -> tuple[Any, bool]:
    """The object that loads() returns, and True; or its error, and False."""
    try:
        return waybill.loads(data, **options), True
    except waybill.DecodeError as error:
        assert 0 <= error.offset <= len(data), f"{error.offset} is outside: {error}"
        return error.with_traceback(None), False
    except SystemError:
        raise  # Nobody's input may show that the extension is wrong about itself.
    except Exception as error:
        # A callable that is named by the payload did not like its arguments.
        return error.with_traceback(None), False
