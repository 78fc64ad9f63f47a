"""The script's own module, met as an object, is the script's namespace."""

import fresh_process
import pytest
import waybill

START = """
import sys, threading, waybill
this = sys.modules[__name__]
LIMIT, count = 3, 0
lock = threading.Lock()
def add():
    global count
    count += 1
    return count
"""


def sent_by(script):
    return fresh_process.sent_by(START + script)


def value_of(script, expression):
    return fresh_process.load(sent_by(script), expression)


@pytest.mark.parametrize(
    "function",
    [
        "def sent(): return this.LIMIT + 1",
        "def sent(): return getattr(this, 'LIMIT') + 1",
        "def sent(me=this): return me.LIMIT + 1",
        "def sent(*, me=this): return me.LIMIT + 1",
        "def outer(me):\n    return lambda: me.LIMIT + 1\nsent = outer(this)",
        "import __main__ as me\ndef sent(): return me.LIMIT + 1",
    ],
    ids=["global", "getattr", "default", "keyword", "cell", "import"],
)
def test_code_that_names_it_gets_what_it_asks_for(function):
    assert value_of(function, "value()") == 4


def test_code_that_asks_for_its_dict_gets_all():
    script = "del lock\ndef sent(name): return vars(this)[name]"

    assert value_of(script, "value('LIMIT')") == 3


def test_what_code_does_not_ask_for_does_not_travel():
    data = sent_by("big = 'x' * 10_000\ndef sent(): return this.LIMIT")

    assert len(data) < 1_000


def test_a_later_function_adds_what_it_asks_for():
    script = """
def first(): return this.LIMIT
def second(): return this.add()
sent = [first, second]
"""

    assert value_of(script, "[f() for f in value]") == [3, 1]


def test_it_shares_the_globals_of_the_functions_beside_it():
    script = "def get(): return this.count\nsent = [get, add]"

    assert value_of(script, "[value[1](), value[1](), value[0]()]") == [1, 2, 2]


@pytest.mark.parametrize(
    "script",
    [
        "sent = [add, this]",
        "sent = [this, add]",
        "sent = [add, {'table': [this]}]",
        "class Conf:\n    module = this\nsent = [add, Conf]",
        "class Conf:\n    module = this\nsent = [Conf(), add, this]",
    ],
)
def test_met_as_an_object_it_comes_whole(script):
    find = """(lambda found: [found.__name__, found.LIMIT, found.add(), found.count])(
        next(item if type(item) is type(sys) else
             item["table"][0] if type(item) is dict else item.module
             for item in value if not hasattr(item, "__code__")))"""

    assert value_of("del lock\n" + script, find) == ["__main__", 3, 1, 1]


def test_met_twice_it_is_one():
    script = "del lock\nthis.me = this\nsent = [add, this, {'again': this}]"

    program = "value[1] is value[2]['again'] is value[1].me, value[1].add is value[0]"
    assert value_of(script, program) == (True, True)


def test_it_does_not_replace_that_of_the_receiver():
    script = "del lock\nsent = [this, lambda: this.LIMIT, add]"
    program = """[value[1](), value[0] is sys.modules["__main__"],
        hasattr(sys.modules["__main__"], "LIMIT"), __import__("__main__").__name__]"""

    assert value_of(script, program) == [3, False, False, "__main__"]


def test_a_body_that_imports_it_gets_that_of_the_receiver():
    script = "def sent():\n    import __main__\n    return hasattr(__main__, 'LIMIT')"

    assert value_of(script, "value()") is False


def test_scripts_do_not_share_theirs():
    script = "del lock\nthis.LIMIT = {}\nsent = [this, add]"
    both = waybill.dumps([sent_by(script.format(1)), sent_by(script.format(2))])
    program = """(lambda one, two: [one[1](), one[1](), two[1](), one[0].LIMIT,
        two[0].LIMIT])(*map(waybill.loads, value))"""

    assert fresh_process.load(both, program) == [1, 2, 1, 1, 2]


def test_what_of_it_cannot_be_sent_is_named():
    with pytest.raises(AssertionError, match=r"EncodeError: obj\.this\.lock \(_thread"):
        sent_by("sent = this")


def test_explain_and_imports_end():
    script = """
class Conf:
    module = this
    def limit(self): return self.module.LIMIT
del lock
sent = Conf().limit
assert not waybill.explain(sent).blockers
assert [need for need in waybill.imports(sent) if need.module == "threading"]
"""

    assert value_of(script, "value()") == 3


def test_it_comes_back_and_goes_on():
    data = sent_by("del lock\nsent = [this, add]")
    program = """(lambda again: [again[0].add(), again[1](), again[0].count])(
        waybill.loads(waybill.dumps(value)))"""

    assert fresh_process.load(data, program) == [1, 2, 2]


def test_in_a_stream_it_stays_the_namespace_of_functions_before_it():
    script = """
import io
del lock
def send():
    file = io.BytesIO()
    pickler = waybill.Pickler(file)
    pickler.dump(add)
    pickler.dump(this)
    return file.getvalue()
sys.stdout.write(send().hex())
"""
    data = bytes.fromhex(fresh_process.run_script(START + script))
    program = """import io
unpickler = waybill.Unpickler(io.BytesIO(data))
add, this = unpickler.load(), unpickler.load()
answer = [add(), this.count, this.add is add]"""

    assert fresh_process.execute(program, data) == [1, 1, True]
