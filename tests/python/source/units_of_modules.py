"""Writes the units of modules with one Python, and tries them with another.

    python -c "<this file>" write|read < input > output

Both are JSON. `write` is given {"package": path, "files": {name: text in base64}}, and
adds "units": {name: [[first line, unit], ...]} and "unproven": {name: [[function, line,
reason], ...]}. `read` is given that, and for each file tells how many units compile to
what this Python makes of the whole file, which do not, which are refused, and which
calls of the file's CASES, made with the code of units, give something else.
"""

import ast
import base64
import json
import os
import sys
import tempfile
import types
from types import CodeType

sys.dont_write_bytecode = True


def load(package):
    """The modules that make and compile units."""
    try:
        import waybill
    except ImportError:
        for name in [n for n in sys.modules if n.partition(".")[0] == "waybill"]:
            del sys.modules[name]
        sys.modules["waybill"] = types.ModuleType("waybill")
        sys.modules["waybill"].__path__ = [package]
    from waybill._source import code_equality
    from waybill._source.compiling import compile_unit
    from waybill._source.proving import prove
    from waybill._source.units import Unit, UnitError

    source = types.SimpleNamespace(
        compile_unit=compile_unit, prove=prove, Unit=Unit, UnitError=UnitError
    )
    return source, code_equality


def functions_in(code, names):
    """The code of functions, from the outside in; not that of comprehensions and of
    type parameters, which is part of theirs."""
    for constant in code.co_consts:
        if type(constant) is CodeType:
            is_function = constant.co_flags & 3 == 3 and constant.co_name in names
            if is_function and not is_of_module(constant):
                yield constant
            yield from functions_in(constant, names)


def is_of_module(code):
    """Whether it gives the annotations of the module: modules are no functions."""
    return code.co_qualname == "__annotate__" and code.co_firstlineno == 1


def names_of_functions(path):
    with open(path, "rb") as file:
        tree = ast.parse(file.read())
    functions = ast.FunctionDef, ast.AsyncFunctionDef
    names = {node.name for node in ast.walk(tree) if isinstance(node, functions)}
    return {*names, "<lambda>", "__annotate__"}


def write(given):
    source, _ = load(given["package"])
    given["units"], given["unproven"] = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for name, data in given["files"].items():
            path = os.path.join(folder, "module.py")
            with open(path, "wb") as file:
                file.write(base64.b64decode(data))
            proven = given["units"][name] = []
            others = given["unproven"][name] = []
            for code in functions_in(compiled(path), names_of_functions(path)):
                unit = source.prove(code)
                if isinstance(unit, str):
                    others.append([code.co_qualname, code.co_firstlineno, unit])
                else:
                    proven.append([code.co_firstlineno, unit])
    return given


def compiled(path):
    import warnings

    warnings.simplefilter("ignore")
    with open(path, "rb") as file:
        return compile(file.read(), path, "exec", 0, True)


def read(given):
    return {name: read_one(given, name) for name in given["files"]}


def read_one(given, name):
    source, code_equality = load(given["package"])
    answer = {"equal": 0, "differ": [], "refused": [], "wrong": []}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "module.py")
        with open(path, "wb") as file:
            file.write(base64.b64decode(given["files"][name]))
        try:
            whole = compiled(path)
        except SyntaxError:
            whole = None
        own = {}
        for code in functions_in(whole, names_of_functions(path)) if whole else ():
            own.setdefault((code.co_name, code.co_firstlineno), []).append(code)
        replaced = {}
        for line, fields in given["units"][name]:
            unit = source.Unit(*map(as_tuple, fields))
            try:
                made = source.compile_unit(unit, path, line)
            except (SyntaxError, source.UnitError) as error:
                answer["refused"].append([unit.qualified_name, line, str(error)])
                continue
            twin = twin_of(source, unit, made, own, code_equality)
            if twin is not None:
                answer["equal"] += 1
                replaced[id(twin)] = made
            elif whole and unit.kind in (0, 1):
                answer["differ"].append([unit.qualified_name, line])
        if whole and given.get("calls", True):
            answer["wrong"] = wrong_calls(with_units(whole, replaced), path)
    return answer


def as_tuple(field):
    return tuple(field) if type(field) is list else field


def twin_of(source, unit, made, own, code_equality):
    """What this Python makes of the whole file at that place, if it is equal."""
    for code in own.get((made.co_name, made.co_firstlineno), ()):
        if "comp>." in code.co_qualname:  # Scopes in 3.11 alone.
            named = unit._replace(qualified_name=code.co_qualname)
            made = source.compile_unit(named, code.co_filename, code.co_firstlineno)
        # The columns of annotations include what does not travel.
        lines = (
            code_equality.has_same_columns
            if unit.kind < 2
            else code_equality.has_same_lines
        )
        if code_equality.is_same(made, code) and lines(made, code):
            return code
    return None


def with_units(code, replaced):
    constants = tuple(
        replaced.get(id(k)) or with_units(k, replaced) if type(k) is CodeType else k
        for k in code.co_consts
    )
    return code.replace(co_consts=constants)


def wrong_calls(code, path):
    """The calls of CASES that do not give what stands beside them."""
    if "CASES" not in code.co_names:
        return []
    module = types.ModuleType("tricky")
    sys.modules["tricky"] = module
    module.__file__ = path
    exec(code, vars(module))
    wrong = []
    for expression, expected in module.CASES:
        try:
            given = eval(expression, vars(module))
        except Exception as error:
            given = repr(error)
        if given != expected or type(given) is not type(expected):
            wrong.append([expression, repr(given), repr(expected)])
    return wrong


if __name__ == "__main__":
    sys.setrecursionlimit(10_000)
    do = {"write": write, "read": read}[sys.argv[1]]
    json.dump(do(json.load(sys.stdin)), sys.stdout)
