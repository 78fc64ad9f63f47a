"""``python -m waybill run FILE [ARGS]``: loads a payload and calls its object."""

from __future__ import annotations

import argparse
import json
import os
import sys
import types
from typing import Any, NamedTuple

import waybill
from waybill import _commands as cli
from waybill import _core, security
from waybill._api.load_options import load_options_of
from waybill._commands import output
from waybill._environment.renames import Renames
from waybill._streams.files import loads_stored, read_single_payload
from waybill._streams.incoming import IncomingPayload

#: The maximal number of characters of a policy; a file may be endless.
MAX_POLICY_SIZE = 1 << 20


def declare(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE")
    parser.add_argument("arguments", metavar="ARGS", nargs="?")
    parser.add_argument("--key", metavar="FILE", action="append", default=[])
    parser.add_argument("--key-env", metavar="VARIABLE")
    parser.add_argument("--policy", metavar="FILE")
    parser.add_argument("--rename", metavar="OLD=NEW", action="append", default=[])
    parser.add_argument("--json", action="store_true")


class UsageError(Exception):
    """The command line is not valid."""


class NotJson(Exception):
    """The result has no form in JSON."""


class Call(NamedTuple):
    args: list[Any]
    kwargs: dict[str, Any]


def parse_call(text: str) -> Call:
    """The call that ARGS describes in JSON; raises UsageError if it does not."""
    expected = 'ARGS should be a JSON array, or {"args": [...], "kwargs": {...}}'
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{expected}; it is not JSON: {error}") from None
    if isinstance(value, list):
        return Call(value, {})
    if not isinstance(value, dict) or value.keys() - {"args", "kwargs"}:
        raise UsageError(expected)
    call = Call(value.get("args", []), value.get("kwargs", {}))
    if not (isinstance(call.args, list) and isinstance(call.kwargs, dict)):
        raise UsageError(expected)
    return call


def read_policy(path: str | None) -> security.Policy | None:
    if path is None:
        return None
    try:
        with open(path, encoding="utf-8") as file:
            rules = file.read(MAX_POLICY_SIZE + 1)
        if len(rules) > MAX_POLICY_SIZE:
            raise UsageError(f"--policy {path}: more than {MAX_POLICY_SIZE} characters")
        if not any(line.partition("#")[0].strip() for line in rules.splitlines()):
            raise UsageError(f"--policy {path}: the file has no rules")
        return security.Policy(rules)
    except OSError as error:
        raise UsageError(f"--policy {path}: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"--policy {path}: {error}") from None


def read_renames(rules: list[str]) -> Renames | None:
    if not rules:
        return None
    for rule in rules:
        if "=" not in rule:
            raise UsageError(f"--rename {rule}: it should be OLD=NEW")
    try:
        return Renames(dict(rule.split("=", 1) for rule in rules))
    except ValueError as error:
        raise UsageError(f"--rename: {error}") from None


def read_keys(options: argparse.Namespace) -> security.KeyRing | None:
    """The keys of all files and of the variable; SignatureError for a malformed one."""
    if not options.key and options.key_env is None:
        return None
    ring = security.KeyRing.from_file(*options.key)
    if options.key_env is not None:
        _core.add_keys(ring._handle, "environment", os.fsencode(options.key_env))
    return ring


def read_payload(path: str, incoming: IncomingPayload) -> bytearray:
    """One payload. Stops at input that cannot be one: /dev/zero has no end."""
    if path == "-":
        stdin = sys.stdin.buffer
        read_into = getattr(stdin, "readinto", None)
        return read_single_payload(stdin.read, incoming, read_into)
    with open(path, "rb") as file:
        return read_single_payload(file.read, incoming, file.readinto)


def check_json(result: object) -> None:
    """Raises NotJson for keys that json.dumps would convert to text."""
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
    """The result as JSON. NotJson names the value that JSON cannot hold."""
    try:
        text = json.dumps({"ok": True, "result": result}, indent=2, allow_nan=False)
    except (TypeError, ValueError) as error:  # The latter: NaN, infinities, cycles.
        raise NotJson(str(error)) from None
    except RecursionError:
        raise NotJson("it is nested too deeply") from None
    check_json(result)  # Would not end for a cycle, but json.dumps() has raised then.
    return text


def report_error(error: BaseException, as_json_too: bool, code: int) -> int:
    """Reports an error in the form for its type; returns `code`."""
    output.flush()  # Output of the payload comes before its error.
    if isinstance(error, UsageError):
        cli.report_failure("usage", str(error), as_json_too)
    elif isinstance(error, NotJson):
        detail = f"the result cannot be written as JSON: {error}"
        cli.report_failure("not_json", detail, as_json_too)
    elif isinstance(error, waybill.DecodeError) and code != cli.RAISED_IN_PYTHON:
        cli.report_refusal(error, as_json_too)
    else:
        name, trace = type(error).__name__, cli.format_traceback(error)
        output.write_error(trace)
        if as_json_too:
            cli.print_failure(type=name, message=cli.message_of(error), traceback=trace)
    return code


def exit_code_of(error: BaseException) -> int:
    """The exit code for an error of the command itself, or of loading."""
    for kind, code in (
        (UsageError, cli.USAGE),
        (waybill.PolicyError, cli.REFUSED),
        (waybill.SignatureError, cli.BAD_SIGNATURE),
        (waybill.DecodeError, cli.UNREADABLE),
    ):
        if isinstance(error, kind):
            return code
    return cli.RAISED_IN_PYTHON


def with_printed_traceback(error: KeyboardInterrupt) -> KeyboardInterrupt:
    """The same error. Prints its traceback first."""
    output.write_error(cli.format_traceback(error))
    return error


def call_loaded(loaded: object, call: Call | None) -> object:
    """The result of the call, or of its coroutine; the object if it is not callable."""
    if callable(loaded):
        result = loaded(*call.args, **call.kwargs) if call else loaded()
        if not isinstance(result, types.CoroutineType):
            return result
        import asyncio  # Slow to import.

        return asyncio.run(result)
    if call is not None:
        kind = type(loaded).__name__
        raise UsageError(
            f"ARGS are given, but a payload of type {kind} cannot be called"
        )
    return loaded


def run(options: argparse.Namespace) -> int:
    try:
        call = None if options.arguments is None else parse_call(options.arguments)
        policy = read_policy(options.policy)
        keys = read_keys(options)
        renames = read_renames(options.rename)
        incoming = IncomingPayload(load_options_of(policy, keys, None))
        data = read_payload(options.file, incoming)
    except (UsageError, waybill.DecodeError) as error:
        return report_error(error, options.json, exit_code_of(error))
    except (OSError, MemoryError) as error:
        reason = getattr(error, "strerror", None) or "out of memory"
        detail = f"{_core.printable_text(options.file)}: {reason}"
        cli.report_failure("unreadable", detail, options.json)
        return cli.UNREADABLE
    # SystemExit and the like count as raised, too: they end the payload, not the
    # command. Only the user's own Ctrl-C ends the command.
    cli.add_current_folder()
    try:
        loaded = loads_stored(
            data, incoming.stored, policy=policy, keys=keys, renames=renames
        )
    except KeyboardInterrupt as error:
        raise with_printed_traceback(error) from None
    except BaseException as error:
        return report_error(error, options.json, exit_code_of(error))
    try:
        result = call_loaded(loaded, call)
        text = as_json(result) if options.json else repr(result)
    except KeyboardInterrupt as error:
        raise with_printed_traceback(error) from None
    except BaseException as error:
        code = cli.USAGE if isinstance(error, UsageError) else cli.RAISED_IN_PYTHON
        return report_error(error, options.json, code)
    output.write(text)
    return cli.FINE
