"""Code of the sender's or the payload's that changes things while waybill is at work.

Each scenario runs in a process of its own, since what it guards against is a crash.
"""

import fresh_process
import pytest
import waybill


def test_function_that_loses_its_code_while_it_is_sent_is_no_crash():
    script = """
import waybill
lines = ["def f(x):"] + [f"    x = x + {i}" for i in range(300)] + ["    return x"]
scope = {"__name__": "__main__"}
exec("\\n".join(lines), scope)
f = scope["f"]
class Evil:
    def __reduce__(self):
        f.__code__ = (lambda x: x).__code__
        self.junk = [b"\\xc1" * n for n in range(1000, 6000)]
        return list, ()
sent = waybill.loads(waybill.dumps([f, Evil()]))
print(sent[0](0))
"""

    assert int(fresh_process.run_script(script)) == sum(range(300))


@pytest.mark.parametrize("change", ["L.clear()", "D.pop('b')"])
def test_metaclass_that_changes_an_open_container_is_no_crash(change):
    script = f"""
import waybill
class Meta(type):
    __module__ = property(lambda cls: ({change}, "x")[1])
C = Meta("C", (), {{}})
L = [C] + [[i] for i in range(2000)]
D = {{"a": C, "b": [1], "c": [2]}}
for thing in (L, D):
    try:
        data = waybill.dumps(thing)
    except waybill.EncodeError:
        continue
    try:
        waybill.loads(data)
    except waybill.DecodeError as error:
        raise SystemExit(f"unreadable: {{error}}")
    except Exception:
        pass  # The class is no class that can be made again.
print("fine")
"""

    assert fresh_process.run_script(script).strip() == "fine"


def test_buffer_that_changes_while_it_is_loaded_is_read_as_it_was():
    script = """
import waybill
class Writes:
    def __reduce__(self):
        return overwrite, ()
def overwrite():
    import __main__
    data = __main__.data
    at = data.index(b"\\xc4\\x05abcde")
    data[at:at + 7] = b"\\xa6fghijk"
    return None
data = bytearray(waybill.dumps([Writes(), bytearray(b"abcde")]))
print(waybill.loads(data)[1])
"""

    assert fresh_process.run_script(script).strip() == "bytearray(b'abcde')"


def test_trailing_bytes_are_refused_before_anything_runs():
    class Runs:
        def __reduce__(self):
            return print, ("ran",)

    data = waybill.dumps(Runs()) + b"x"
    script = f"""
import waybill
try:
    waybill.loads({data!r})
except waybill.DecodeError as error:
    print(error.code)
"""

    assert fresh_process.run_script(script).strip() == "trailing_bytes"


class Plain:
    pass


def test_attributes_inside_a_tuple_that_they_refer_to_arrive():
    holder = Plain()
    root = (holder, 1)
    holder.back, holder.number = root, 5

    loaded = waybill.loads(waybill.dumps(root))

    assert loaded[0].number == 5
    assert loaded[0].back is loaded


def test_fingerprint_of_a_class_does_not_depend_on_its_line():
    source = "class K:\n    def m(self):\n        return 1\n"
    prints = []
    for blank in (0, 5):
        scope = {"__name__": "nowhere"}
        exec(compile("\n" * blank + source, "k.py", "exec"), scope)
        prints.append(waybill.fingerprint(scope["K"]))

    assert prints[0] == prints[1]


def test_displays_that_hold_each_other_are_followed_in_no_time():
    names = ", ".join(["x"] * 40)
    scope = {"__name__": "nowhere"}
    exec(
        f"def f(c, h, x):\n    while c:\n        x = [{names}]\n        h(x)\n"
        "    return x.y\n",
        scope,
    )

    # Each display once; taking each way through them would never end.
    assert waybill.imports(scope["f"]) == ()
