"""loads(data, missing="later"): a missing module is an error once it is used."""

import sys

import fresh_process
import pytest
import waybill
from fresh_process import FreshProcessError


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """Packages of the sender; gives the folder of a receiver that has less of them."""
    for side, modules in {
        "sent": ["shop/__init__", "shop/wheel", "shop/parts/__init__", "tool"],
        "here": ["shop/__init__"],
    }.items():
        for name in modules:
            file = tmp_path / side / f"{name}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"name = {name!r}\ndef use(): return name\n")
    monkeypatch.syspath_prepend(tmp_path / "sent")
    import shop
    import shop.parts
    import shop.wheel  # noqa: F401
    import tool  # noqa: F401

    yield tmp_path / "here"
    for name in [n for n in sys.modules if n.split(".")[0] in ("shop", "tool")]:
        del sys.modules[name]


def payload():
    import shop
    import tool

    def use(what):
        if what == "wheel":
            return shop.wheel.name
        if what == "use":
            return shop.wheel.use()
        if what == "parts":
            return shop.parts
        if what == "tool":
            return tool.use()
        if what == "set":
            tool.use = what
        if what == "has":
            return hasattr(shop, "wheel"), getattr(shop, "wheel", 7)
        if what == "from":
            try:
                from shop import wheel
            except ImportError:
                return "none"
            return wheel
        return shop.name

    return waybill.dumps([use, tool])


LOAD = """
use, tool = waybill.loads(data, missing="later")
def told(*given):
    try: return use(*given)
    except Exception as error: return type(error).__name__, str(error), error.name
"""


def answer(expression, shop, data=None, before="", load=LOAD):
    program = f"{before}\n{load}\nanswer = {expression}"
    return fresh_process.execute(program, data or payload(), path=[shop])


def test_missing_module_is_an_error_at_load_unless_told_otherwise(shop):
    for options in "", ", missing='error'", ", missing=None":
        with pytest.raises(FreshProcessError) as caught:
            answer("0", shop, load=f"waybill.loads(data{options})")
        assert caught.value.kind == "MissingModuleError"


def test_branch_that_needs_no_missing_module_runs(shop):
    assert answer("use('')", shop) == "shop/__init__"


@pytest.mark.parametrize("what", ["wheel", "use", "parts", "tool", "set"])
def test_use_of_a_missing_module_is_the_error_that_loading_gives(shop, what):
    kind, message, name = answer(f"told({what!r})", shop)

    module = what if what == "parts" else "wheel" if what in ("wheel", "use") else ""
    assert kind == "MissingModuleError"
    assert name == (f"shop.{module}" if module else "tool")
    assert f"cannot be imported here: {name}, for " in message
    assert "test_missing_later.py" in message


def test_asking_whether_a_package_has_the_submodule_is_no_error(shop):
    assert answer("[use('has'), use('from')]", shop) == [(False, 7), "none"]


def test_code_of_the_receiver_finds_the_package_as_ever(shop):
    (shop / "other.py").write_text("""
import shop
def ask():
    try: shop.wheel
    except AttributeError as error: return str(error), hasattr(shop, "wheel")
""")

    expected = "module 'shop' has no attribute 'wheel'", False
    assert answer("__import__('other').ask()", shop) == expected


def test_package_goes_on_to_answer_for_its_own_attributes(shop):
    with (shop / "shop" / "__init__.py").open("a") as file:
        file.write("""
def __getattr__(name):
    if name == "wheel": return lambda: 0
    if name == "more": return 5
    raise AttributeError(name)
""")

    expression = "[sys.modules['shop'].more, told('wheel')[1], told('parts')[0]]"
    more, wheel, parts = answer(expression, shop)
    assert more == 5 and "'function' object has no" in wheel
    assert parts == "MissingModuleError"


def test_module_that_comes_meanwhile_is_used(shop, tmp_path):
    before = f"sent = {str(tmp_path / 'sent')!r}"
    expression = (
        "(told('tool')[0], told('wheel')[0], sys.path.insert(0, sent),"
        " sys.modules['shop'].__path__.insert(0, sent + '/shop'),"
        " use('tool'), use('wheel'), hasattr(sys.modules['shop'], 'wheel'))"
    )

    error = "MissingModuleError"
    expected = (error, error, None, None, "tool", "shop/wheel", True)
    assert answer(expression, shop, before=before) == expected


def test_what_stands_for_a_module_is_a_module_and_travels(shop):
    expression = (
        "repr(tool), type(tool).__mro__[1].__name__, tool.__name__,"
        " hasattr(tool, '__path__'), 'tool' in sys.modules,"
        " repr(waybill.loads(waybill.dumps(tool)))"
    )

    told = "<module 'tool' (missing)>"
    assert answer(f"({expression})", shop) == (
        told, "module", "tool", False, False, told,
    )  # fmt: skip


def test_submodule_that_was_registered_by_hand_is_left_out(shop):
    import types

    import shop as package

    made = types.ModuleType("shop.made")
    made.__spec__ = sys.modules["tool"].__spec__
    sys.modules["shop.made"] = package.made = made
    made.value = 1

    def use(asks):
        return package.made.value if asks else package.name

    data = waybill.dumps([use, None])
    kind, _, name = answer("(use(False), told(True))[1]", shop, data)
    assert (kind, name) == ("MissingModuleError", "shop.made")


def test_what_is_found_by_name_in_a_missing_module_is_an_error_at_load(shop):
    import tool

    with pytest.raises(FreshProcessError, match="tool") as caught:
        answer("0", shop, waybill.dumps([tool.use, 1]))
    assert caught.value.kind == "MissingModuleError"


def test_module_that_fails_while_it_is_imported_is_an_error_at_load(shop):
    (shop / "tool.py").write_text("raise ValueError('broken')")

    with pytest.raises(FreshProcessError, match="broken"):
        answer("0", shop)


def test_later_can_be_configured_and_overruled(shop):
    before = "waybill.configure(missing='later')"
    load = LOAD.replace(', missing="later"', "")
    assert answer("use('')", shop, before=before, load=load) == "shop/__init__"
    with pytest.raises(FreshProcessError, match="MissingModuleError"):
        answer("0", shop, before=before, load="waybill.loads(data, missing='error')")
    with pytest.raises(FreshProcessError, match="MissingModuleError"):
        before += "\nwaybill.configure(missing=None)"
        answer("0", shop, before=before, load=load)


@pytest.mark.parametrize(
    "load",
    [
        "waybill.load(io.BytesIO(data), missing='later')",
        "waybill.Unpickler(io.BytesIO(data), missing='later').load()",
        "(waybill.configure(missing='later'),"
        " waybill.Unpickler(io.BytesIO(data)).load())[1]",
    ],
)
def test_files_and_unpicklers_take_it(shop, load):
    load = f"import io\nuse, tool = {load}"
    assert answer("use('')", shop, load=load) == "shop/__init__"


def test_other_words_are_refused():
    for call in (
        lambda: waybill.loads(waybill.dumps(1), missing="never"),
        lambda: waybill.configure(missing="never"),
        lambda: waybill.Unpickler(sys.stdin.buffer, missing=1),
    ):
        with pytest.raises(ValueError, match="missing should be"):
            call()


def test_payload_that_was_left_incomplete_is_whole_when_the_module_is_there(
    shop, tmp_path
):
    before = f"sent = {str(tmp_path / 'sent')!r}"
    load = (
        LOAD
        + """
for _ in range(3): use, tool = waybill.loads(data, missing="later")
first = told("tool")[0]
sys.path.insert(0, sent)
for _ in range(3): use, tool = waybill.loads(data, missing="later")
"""
    )
    expression = "(first, tool is sys.modules['tool'], use('tool'))"
    expected = ("MissingModuleError", True, "tool")
    assert answer(expression, shop, before=before, load=load) == expected
