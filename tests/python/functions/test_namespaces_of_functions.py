"""Functions of one module share their globals, and those of its twins do not."""

import fresh_process
import pytest
import waybill
from sources import define

PAIR = """
def put(value):
    global held
    held = value
def get(): return held
"""


def twins(source, first, second, name="twin_of_nowhere"):
    """Functions of one name whose dicts say the same of themselves."""
    functions = []
    for value in (first, second):
        scope = {"__name__": name, "value": value}
        exec(source, scope)
        functions.append(scope["f"])
    return functions


def test_functions_of_one_module_see_what_the_other_stores():
    made = define(PAIR, held=1)

    put, get = waybill.loads(waybill.dumps([made.put, made.get]))
    put("stored")

    assert get() == "stored"
    assert put.__globals__ is get.__globals__
    assert made.get() == 1


def test_functions_of_one_module_share_globals_in_another_process():
    made = define(PAIR, held=1)

    answer = fresh_process.send(
        [made.put, made.get], "(value[0]('stored'), value[1]())[1]"
    )

    assert answer == "stored"


def test_methods_share_globals_with_functions_of_their_module():
    made = define(PAIR + "class C:\n def get(self): return held", held=1)

    answer = fresh_process.send(
        [made.C, made.put], "(value[1]('stored'), value[0]().get())[1]"
    )

    assert answer == "stored"


def test_a_payload_takes_no_globals_from_the_one_before():
    made = define(PAIR, held=1)
    data = waybill.dumps([made.put, made.get])

    first, second = waybill.loads(data), waybill.loads(data)
    first[0]("stored")

    assert (first[1](), second[1]()) == ("stored", 1)


@pytest.mark.parametrize(
    ("first", "second"), [(1, 2), ([1], [2]), (1, 1), (len, "len"), (None, {})]
)
def test_twin_dicts_stay_two(first, second):
    data = waybill.dumps(twins("def f(): return value", first, second))

    f, g = waybill.loads(data)

    assert (f(), g()) == (first, second)
    assert f.__globals__ is not g.__globals__


def test_a_twin_that_stores_a_name_leaves_the_others_alone():
    source = "def f(*new):\n global value\n if new: value = new\n return value"

    answer = fresh_process.send(
        twins(source, 1, 2), "(value[0](7), value[1](), value[0]())"
    )

    assert answer == ((7,), 2, (7,))


def test_twins_that_refer_to_each_other_stay_two():
    f, g = twins("def f(): return value, other", 1, 2)
    f.__globals__["other"], g.__globals__["other"] = g, f

    a, b = waybill.loads(waybill.dumps([f, g]))

    assert a() == (1, b)
    assert b() == (2, a)


def test_functions_of_two_modules_have_two_dicts():
    one = define(PAIR, name="one_of_nowhere", held=1)
    two = define(PAIR, name="two_of_nowhere", held=2)

    loaded = waybill.loads(waybill.dumps([one.put, one.get, two.get]))
    loaded[0](3)

    assert (loaded[1](), loaded[2]()) == (3, 2)


def test_functions_without_a_module_name_that_share_a_dict_share_it_then():
    scope = {"held": 1}
    exec(PAIR, scope)

    put, get = waybill.loads(waybill.dumps([scope["put"], scope["get"]]))
    put(2)

    assert get() == 2


def test_functions_without_a_module_name_keep_their_own_dicts():
    scopes = [{"held": number} for number in range(2)]
    for scope in scopes:
        exec(PAIR, scope)

    answer = fresh_process.send(
        [scopes[0]["put"], scopes[0]["get"], scopes[1]["get"]],
        "(value[0](5), value[1](), value[2]())[1:]",
    )

    assert answer == (5, 1)


def test_the_name_of_a_function_in_its_globals_is_that_function():
    made = define("def f(): return f")

    f = waybill.loads(waybill.dumps(made.f))

    assert f() is f


def test_twins_relayed_by_a_process_stay_two():
    data = waybill.dumps(twins("def f(): return value", 1, 2))

    relayed = fresh_process.execute("answer = waybill.dumps(waybill.loads(data))", data)

    assert [f() for f in waybill.loads(relayed)] == [1, 2]


def test_more_than_a_few_dicts_of_two_names_stay_apart():
    """So many that they are no longer searched one by one."""
    code = compile("def f(): return number", "nowhere.py", "exec")
    made = []
    for number in range(30):
        scope = {"__name__": f"nowhere_{number % 2}", "number": [number]}
        exec(code, scope)
        made.append(scope["f"])

    for root in (made, [*made, *made]):
        loaded = waybill.loads(waybill.dumps(root))

        assert [f() for f in loaded] == [f() for f in root]
        assert len({id(f.__globals__) for f in loaded}) == len(made)
