"""`waybill run`: what a payload gives when it is called, and how each failure ends."""

import json
import os
import subprocess
import sys

import command
import pytest
import waybill
from command import needs_binary


def run(*arguments, data=None, **environment):
    return subprocess.run(
        [sys.executable, "-m", "waybill", "run", *map(str, arguments)],
        input=data,
        env={**os.environ, **environment},
        capture_output=True,
    )


def send(function):
    """A payload that holds the function itself; no other process imports this file."""
    function.__module__ = "__main__"
    return waybill.dumps(function)


def answer(function, *arguments):
    ended = run("-", *arguments, "--json", data=send(function))
    return ended.returncode, json.loads(ended.stdout)


@pytest.mark.parametrize(
    "arguments, result",
    [
        (["[5, 3]"], [5, 3]),
        (['{"args": [5], "kwargs": {"b": 3}}'], [5, 3]),
        (['{"kwargs": {"b": 3, "a": 4}}'], [4, 3]),
        ([], [7, 8]),
    ],
    ids=["an array", "args and kwargs", "kwargs alone", "none"],
)
def test_function_is_called_with_arguments(arguments, result):
    def both(a=7, b=8):
        return [a, b]

    assert answer(both, *arguments) == (0, {"ok": True, "result": result})
    assert run("-", *arguments, data=send(both)).stdout == f"{result}\n".encode()


def test_what_cannot_be_called_is_shown():
    ended = run("-", data=waybill.dumps({"a": (1, "x")}))

    assert (ended.returncode, ended.stdout) == (0, b"{'a': (1, 'x')}\n")


def test_file_is_read(tmp_path):
    (tmp_path / "a").write_bytes(waybill.dumps([1]))

    assert run(tmp_path / "a").stdout == b"[1]\n"


@pytest.mark.parametrize(
    "arguments",
    ["5", '"x"', "{", '{"args": 5}', '{"arg": []}', '{"kwargs": []}', "[" * 100000],
)
def test_other_arguments_are_a_misunderstanding(arguments):
    ended = run("-", arguments, data=waybill.dumps(1))

    assert (ended.returncode, ended.stdout) == (1, b"")
    assert b'{"args": [...], "kwargs": {...}}' in ended.stderr


def test_arguments_for_what_cannot_be_called_are_a_misunderstanding():
    ended = run("-", "[1]", data=waybill.dumps("text"))

    assert ended.returncode == 1
    assert b"a payload of type str cannot be called" in ended.stderr


@pytest.mark.parametrize("options", [("--policy", "absent"), ("--what",), ()])
def test_misunderstanding_ends_with_1(options, tmp_path):
    arguments = ("-", *options) if options else ()

    assert run(*arguments, data=b"").returncode == 1


def test_what_is_no_payload_ends_with_2():
    ended = run("-", "--json", data=b"\x80\x04N.")

    assert ended.returncode == 2
    assert json.loads(ended.stdout)["error"]["code"] == "not_an_envelope"
    assert ended.stderr.startswith(b"waybill: not_an_envelope at byte 0: ")


def test_file_that_cannot_be_read_ends_with_2(tmp_path):
    ended = run(tmp_path / "absent")

    assert ended.returncode == 2
    assert b"No such file" in ended.stderr


def test_policy_refuses_with_3(tmp_path):
    def seven():
        return 7

    (tmp_path / "none").write_text("deny import *\n")
    (tmp_path / "all").write_text("allow code\nallow call *\n")

    refused = run("-", "--json", "--policy", tmp_path / "none", data=send(seven))
    allowed = run("-", "--policy", tmp_path / "all", data=send(seven))

    assert refused.returncode == 3
    assert json.loads(refused.stdout)["error"]["code"] == "refused"
    assert (allowed.returncode, allowed.stdout) == (0, b"7\n")


@pytest.mark.parametrize("rules", ["permit everything\n", "", "\n # deny code\n"])
def test_policy_that_is_none_ends_with_1(tmp_path, rules):
    (tmp_path / "rules").write_text(rules)

    ended = run("-", "--policy", tmp_path / "rules", data=waybill.dumps(1))

    assert ended.returncode == 1


def test_signature_is_demanded_with_4(tmp_path):
    key = waybill.security.SigningKey.generate()
    (tmp_path / "a.pub").write_text(key.public_text)
    options = ("--key", tmp_path / "a.pub")

    signed = run("-", *options, data=waybill.dumps(1, key=key))
    from_variable = run(
        *("-", "--key-env", "KNOWN"),
        data=waybill.dumps(1, key=key),
        KNOWN=key.public_text,
    )
    unsigned = run("-", *options, "--json", data=waybill.dumps(1))
    no_key = run("-", "--key", tmp_path / "absent", data=waybill.dumps(1))

    assert signed.returncode == from_variable.returncode == 0, signed.stderr
    assert unsigned.returncode == no_key.returncode == 4
    assert json.loads(unsigned.stdout)["error"]["code"] == "bad_signature"


def test_errors_do_not_steer_the_terminal(capsys):
    from waybill import _commands

    _commands.print_error(_commands.describe(ValueError("a\x1b[31m\n\u202eb é")))

    assert capsys.readouterr().err == ("waybill: ValueError: a\\x1b[31m \\u202eb é\n")


def test_names_that_moved_are_renamed():
    payload = waybill.dumps(json.dumps)
    rules = ("--rename", "json:dumps=os.path:basename", "--rename=json=os")

    renamed = run("-", '["a/b"]', *rules, data=payload)

    assert (renamed.returncode, renamed.stdout) == (0, b"'b'\n")


@pytest.mark.parametrize("rule", ["json", "json=", "a b=c", "a:b=c"])
def test_rename_that_is_none_is_a_misunderstanding(rule):
    ended = run("-", "--rename", rule, data=waybill.dumps(1))

    assert (ended.returncode, ended.stdout) == (1, b"")
    assert b"--rename" in ended.stderr


def divide(a):
    return a / 0


def leave():
    raise SystemExit(0)


def refuse_inside():
    import waybill

    return waybill.loads(b"")


def cancel():
    import asyncio

    raise asyncio.CancelledError


def end_generator():
    raise GeneratorExit


def raise_own():
    class Own(BaseException):
        def __str__(self):
            raise Own

    raise Own


@pytest.mark.parametrize(
    ("function", "arguments", "kind"),
    [
        (divide, ("[1]",), "ZeroDivisionError"),
        (divide, (), "TypeError"),
        (leave, (), "SystemExit"),
        (refuse_inside, (), "DecodeError"),
        (cancel, (), "CancelledError"),
        (end_generator, (), "GeneratorExit"),
        (raise_own, (), "Own"),
    ],
)
def test_what_is_raised_ends_with_5_and_a_traceback(function, arguments, kind):
    code, told = answer(function, *arguments)
    ended = run("-", *arguments, data=send(function))

    assert code == ended.returncode == 5
    assert told["ok"] is False
    assert told["error"]["type"] == kind
    assert kind in told["error"]["traceback"].splitlines()[-1]
    assert ended.stderr.decode() == told["error"]["traceback"]
    assert b"_commands" not in ended.stderr


def test_module_that_is_missing_ends_with_5(tmp_path, monkeypatch):
    (tmp_path / "absent_there.py").write_text("def f(): pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    import absent_there

    ended = run("-", data=send(eval("lambda: m.f()", {"m": absent_there})))

    assert ended.returncode == 5
    assert b"MissingModuleError" in ended.stderr


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("{1, 2}", "set"),
        ("b'x'", "bytes"),
        ("[float('nan')]", "Out of range float"),
        ("{'a': {1: 2}}", "a key that is 1"),
        ("(lambda l: l.append(l) or l)([])", "Circular"),
    ],
)
def test_result_that_json_lacks_is_an_error(source, why):
    function = eval(f"lambda: {source}", {})

    code, told = answer(function)

    assert code == 5
    assert why in told["error"]["detail"]
    assert run("-", data=send(function)).returncode == 0


def test_what_the_function_prints_does_not_disturb_the_json():
    def loud():
        print("hello")
        return 1

    ended = run("-", "--json", data=send(loud))

    assert json.loads(ended.stdout) == {"ok": True, "result": 1}
    assert b"hello" in ended.stderr
    assert run("-", data=send(loud)).stdout == b"hello\n1\n"


@needs_binary
def test_command_says_what_the_module_says(tmp_path):
    def join(a, *, b):
        return [a, b]

    (tmp_path / "task").write_bytes(send(join))
    arguments = (tmp_path / "task", '{"args": ["x,y"], "kwargs": {"b": [1, [2]]}}')

    python = {"WAYBILL_PYTHON": sys.executable}
    ended = command.run("run", *arguments, "--json", env=python)
    positional = command.run("run", tmp_path / "task", "[1,2]", env=python)

    assert ended.returncode == 0, ended.stderr
    assert ended.stdout == run(*arguments, "--json").stdout
    assert json.loads(ended.stdout)["result"] == ["x,y", [1, [2]]]
    assert positional.returncode == 5
    assert b"TypeError" in positional.stderr


@needs_binary
class TestTheCommand:
    def run(self, folder, *arguments, python=sys.executable):
        return command.run("run", "--python", python, *arguments, cwd=folder)

    @pytest.mark.parametrize(
        ("options", "code"),
        [
            (("--key-env", ""), 4),
            (("--key-env=",), 1),
            (("--key", ""), 4),
            (("--policy", ""), 1),
            (("--policy=",), 1),
            (("",), 1),
        ],
    )
    def test_what_is_given_as_empty_is_given_and_nothing_runs(
        self, tmp_path, options, code
    ):
        def loud():
            print("ran")

        (tmp_path / "task").write_bytes(send(loud))

        ended = self.run(tmp_path, "task", *options)

        assert (ended.returncode, ended.stdout) == (code, b"")

    def test_modules_of_the_folder_never_take_the_place_of_others(self, tmp_path):
        def seven():
            return 7

        (tmp_path / "task").write_bytes(send(seven))
        (tmp_path / "waybill").mkdir()
        for name in "waybill/__init__", "waybill/__main__", "json", "fnmatch", "ast":
            (tmp_path / f"{name}.py").write_text(f"print('ran {name}')\n")

        ended = self.run(tmp_path, "task", "[]", "--json")

        assert (ended.returncode, ended.stderr) == (0, b"")
        assert json.loads(ended.stdout) == {"ok": True, "result": 7}

    def test_modules_of_the_folder_are_found_by_payloads(self, tmp_path, monkeypatch):
        (tmp_path / "beside_the_task.py").write_text("def f(): return 'found'\n")
        monkeypatch.syspath_prepend(tmp_path)
        import beside_the_task

        call = eval("lambda: m.f()", {"m": beside_the_task, "__name__": "__main__"})
        (tmp_path / "task").write_bytes(waybill.dumps(call))

        assert self.run(tmp_path, "task").stdout == b"'found'\n"

    def test_interpreter_without_waybill_ends_with_5(self, tmp_path, monkeypatch):
        (tmp_path / "task").write_bytes(waybill.dumps(1))
        monkeypatch.delenv("PYTHONPATH", raising=False)
        bare = tmp_path / "bare"
        bare.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
        bare.chmod(0o755)

        ended = self.run(tmp_path, "task", python=bare)

        assert ended.returncode == 5
        assert b"No module named" in ended.stderr
