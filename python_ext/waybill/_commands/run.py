"""``python -m waybill run FILE [ARGS]``: loads a payload and calls what is in it."""

from __future__ import annotations

import argparse
import json
import os
import sys
import types
from typing import Any, NamedTuple

import waybill
from waybill import security
from waybill._api.load_options import load_options_of
from waybill._commands import (
    BAD_SIGNATURE,
    FINE,
    RAISED_IN_PYTHON,
    REFUSED,
    UNREADABLE,
    USAGE,
    answer,
    find_modules_beside,
    format_traceback,
    message_of,
    print_failure,
    printable,
    tell_failure,
    tell_refusal,
)
from waybill._environment.renames import Renames
from waybill._streams.files import decoded, read_single_payload
from waybill._streams.incoming import IncomingPayload

#: Characters of a file with rules; a longer one may have no end.
MOST_RULES = 1 << 20

SUMMARY = "load a payload and call what is in it"


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a payload, or - for stdin")
    parser.add_argument(
        "arguments",
        metavar="ARGS",
        nargs="?",
        help='JSON: an array of positional arguments, or {"args": […], "kwargs": {…}}',
    )
    parser.add_argument(
        "--key",
        metavar="FILE",
        action="append",
        default=[],
        help="a file with a public key or MAC key, one of which must have signed it",
    )
    parser.add_argument(
        "--key-env", metavar="NAME", help="an environment variable with such keys"
    )
    parser.add_argument(
        "--policy", metavar="FILE", help="a file with the rules of a policy"
    )
    parser.add_argument(
        "--rename",
        metavar="OLD=NEW",
        action="append",
        default=[],
        help="a module or name that is another one here: old.module=new.module",
    )
    parser.add_argument("--json", action="store_true", help="write one JSON object")


class Misunderstanding(Exception):
    """The command line cannot mean anything."""


class NotJson(Exception):
    """A result that JSON has no word for."""


class Call(NamedTuple):
    args: list[Any]
    kwargs: dict[str, Any]


def parse_call(text: str) -> Call:
    """What ARGS means."""
    expected = 'ARGS should be a JSON array, or {"args": [...], "kwargs": {...}}'
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Misunderstanding(f"{expected}; it is no JSON: {error}") from None
    if isinstance(value, list):
        return Call(value, {})
    if not isinstance(value, dict) or value.keys() - {"args", "kwargs"}:
        raise Misunderstanding(expected)
    call = Call(value.get("args", []), value.get("kwargs", {}))
    if not (isinstance(call.args, list) and isinstance(call.kwargs, dict)):
        raise Misunderstanding(expected)
    return call


def read_policy(path: str | None) -> security.Policy | None:
    if path is None:
        return None
    try:
        with open(path, encoding="utf-8") as file:
            rules = file.read(MOST_RULES + 1)
        if len(rules) > MOST_RULES:
            raise Misunderstanding(
                f"--policy {path}: more than {MOST_RULES} characters are no rules"
            )
        if not any(line.partition("#")[0].strip() for line in rules.splitlines()):
            raise Misunderstanding(f"--policy {path}: there are no rules in it")
        return security.Policy(rules)
    except OSError as error:
        raise Misunderstanding(f"--policy {path}: {error.strerror}") from None
    except ValueError as error:
        raise Misunderstanding(f"--policy {path}: {error}") from None


def read_renames(rules: list[str]) -> Renames | None:
    if not rules:
        return None
    for rule in rules:
        if "=" not in rule:
            raise Misunderstanding(f"--rename {rule}: it should be OLD=NEW")
    try:
        return Renames(dict(rule.split("=", 1) for rule in rules))
    except ValueError as error:
        raise Misunderstanding(f"--rename: {error}") from None


def read_keys(options: argparse.Namespace) -> security.KeyRing | None:
    """The keys of all files and of the variable; SignatureError where one is none."""
    from waybill import _core

    if not options.key and options.key_env is None:
        return None
    ring = security.KeyRing.from_file(*options.key)
    if options.key_env is not None:
        _core.add_keys(ring._handle, "environment", os.fsencode(options.key_env))
    return ring


def read_payload(path: str, arriving: IncomingPayload) -> bytearray:
    """One payload, or so much that it is clearly none: /dev/zero has no end."""
    if path == "-":
        stdin = sys.stdin.buffer
        return read_single_payload(
            stdin.read, arriving, getattr(stdin, "readinto", None)
        )
    with open(path, "rb") as file:
        return read_single_payload(file.read, arriving, file.readinto)


def check_json(result: object) -> None:
    """Raises NotJson for what json.dumps would write as something else."""
    todo = [result]
    while todo:
        value = todo.pop()
        if isinstance(value, dict):
            for key in value:
                if not isinstance(key, str):
                    raise NotJson(f"a key that is {key!r:.40}, not a str")
            todo.extend(value.values())
        elif isinstance(value, (list, tuple)):
            todo.extend(value)


def as_json(result: object) -> str:
    """The result as JSON. NotJson names what JSON lacks."""
    try:
        text = json.dumps({"ok": True, "result": result}, indent=2, allow_nan=False)
    except TypeError as error:
        raise NotJson(str(error)) from None
    except ValueError as error:  # NaN, infinities, cycles.
        raise NotJson(str(error)) from None
    except RecursionError:
        raise NotJson("it is nested too deeply") from None
    check_json(result)  # Last: what has cycles never gets here.
    return text


def fail(error: BaseException, as_json_too: bool, code: int) -> int:
    """Tells the error as its kind asks for; returns `code`."""
    answer.flush()  # What the payload printed comes before what it raised.
    if isinstance(error, Misunderstanding):
        tell_failure("usage", str(error), as_json_too)
        return code
    if isinstance(error, NotJson):
        tell_failure("not_json", f"the result is not for JSON: {error}", as_json_too)
        return code
    if isinstance(error, waybill.DecodeError) and code != RAISED_IN_PYTHON:
        tell_refusal(error, as_json_too)
        return code
    trace = format_traceback(error)
    answer.remark(trace)
    if as_json_too:
        print_failure(
            type=type(error).__name__, message=message_of(error), traceback=trace
        )
    return code


def code_of(error: BaseException) -> int:
    """The exit code for what the command itself refused, or loading raised."""
    for kind, code in (
        (Misunderstanding, USAGE),
        (waybill.PolicyError, REFUSED),
        (waybill.SignatureError, BAD_SIGNATURE),
        (waybill.DecodeError, UNREADABLE),
    ):
        if isinstance(error, kind):
            return code
    return RAISED_IN_PYTHON


def interrupted(error: KeyboardInterrupt) -> KeyboardInterrupt:
    """The same, after it is shown where in the payload that was."""
    answer.remark(format_traceback(error))
    return error


def call_it(loaded: object, call: Call | None) -> object:
    """What it returns; of a coroutine, what that returns in the end."""
    if callable(loaded):
        result = loaded(*call.args, **call.kwargs) if call else loaded()
        if not isinstance(result, types.CoroutineType):
            return result
        import asyncio  # Slow to import.

        return asyncio.run(result)
    if call is not None:
        kind = type(loaded).__name__
        raise Misunderstanding(f"ARGS for what cannot be called: the payload is {kind}")
    return loaded


def run(options: argparse.Namespace) -> int:
    try:
        call = None if options.arguments is None else parse_call(options.arguments)
        policy = read_policy(options.policy)
        keys = read_keys(options)
        renames = read_renames(options.rename)
        arriving = IncomingPayload(load_options_of(policy, keys, None))
        data = read_payload(options.file, arriving)
    except (Misunderstanding, waybill.DecodeError) as error:
        return fail(error, options.json, code_of(error))
    except (OSError, MemoryError) as error:
        reason = getattr(error, "strerror", None) or "there is no memory for it"
        detail = f"{printable(options.file)}: {reason}"
        tell_failure("unreadable", detail, options.json)
        return UNREADABLE
    # SystemExit and the like count as raised, too: what ends is the payload, not the
    # command. Only the user's own Ctrl-C ends that.
    find_modules_beside()
    try:
        loaded = decoded(
            data, arriving.stored, policy=policy, keys=keys, renames=renames
        )
    except KeyboardInterrupt as error:
        raise interrupted(error) from None
    except BaseException as error:
        return fail(error, options.json, code_of(error))
    try:
        result = call_it(loaded, call)
        text = as_json(result) if options.json else repr(result)
    except KeyboardInterrupt as error:
        raise interrupted(error) from None
    except BaseException as error:
        code = USAGE if isinstance(error, Misunderstanding) else RAISED_IN_PYTHON
        return fail(error, options.json, code)
    answer.write(text)
    return FINE
