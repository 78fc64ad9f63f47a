"""dumps(obj, environment=True) and save() tell what a payload was made with."""

import io
import subprocess
import sys
import sysconfig

import fresh_process
import pytest
import waybill
from fresh_process import FreshProcessError
from installed import install, uninstall


@pytest.fixture
def shop(tmp_path, monkeypatch):
    """A package of the distribution `store 1.5`."""
    folder = tmp_path / "sent"
    install(folder, "store", "1.5", ["shop"])
    (folder / "shop.py").write_text("class Cart: pass\ndef sell(): return 1\n")
    monkeypatch.syspath_prepend(folder)
    yield folder
    sys.modules.pop("shop", None)


def told_in(data):
    return waybill.inspect(data).get("environment")


def saved(obj, path, **options):
    waybill.save(obj, path, **options)
    return path.read_bytes()


def test_payload_tells_python_platform_and_distributions(shop):
    import shop as module

    told = told_in(waybill.dumps(module.sell, environment=True))

    assert told == {
        "python": sys.version.partition(" ")[0].rstrip("+"),
        "implementation": "cpython",
        "platform": sysconfig.get_platform(),
        "distributions": [{"name": "store", "version": "1.5", "modules": ["shop"]}],
    }


def test_distributions_that_bodies_import_are_told(shop):
    def body():
        import shop

        return shop

    told = told_in(waybill.dumps(body, environment=True))

    assert [row["name"] for row in told["distributions"]] == ["store"]


def test_data_tells_where_it_was_made():
    told = told_in(waybill.dumps({"a": [1]}, environment=True))

    assert told["distributions"] == []
    assert told["python"].startswith(f"{sys.version_info[0]}.{sys.version_info[1]}.")


def test_nothing_is_told_unless_it_is_asked_for(shop):
    import shop as module

    assert told_in(waybill.dumps(module.sell)) is None
    assert waybill.dumps(module.sell, environment=False) == waybill.dumps(module.sell)


def test_save_tells_unless_it_is_asked_not_to(shop, tmp_path):
    import shop as module

    assert told_in(saved(module.sell, tmp_path / "a"))["distributions"]
    without = saved(module.sell, tmp_path / "a", environment=False)
    assert without == waybill.dumps(module.sell)


def test_dump_does_not_tell_by_itself(shop):
    file = io.BytesIO()

    waybill.dump([1], file)
    assert told_in(file.getvalue()) is None
    waybill.dump([1], file := io.BytesIO(), environment=True)
    assert told_in(file.getvalue())


def test_what_is_configured_holds_for_save_too(tmp_path):
    waybill.configure(environment=False)
    try:
        assert told_in(saved(1, tmp_path / "a")) is None
        assert told_in(saved(1, tmp_path / "a", environment=True))
    finally:
        waybill.configure(environment=None)
    assert told_in(saved(1, tmp_path / "a"))


@pytest.mark.parametrize("value", [1, "yes", ["numpy"]])
def test_what_is_no_yes_and_no_no_is_refused(value):
    with pytest.raises(TypeError, match="environment should be True or False"):
        waybill.dumps(1, environment=value)


def make():
    class Own:
        def use(self):
            import shop

            return shop

    return Own, (lambda x: Own), [1, 2]


@pytest.mark.parametrize("number", range(3))
def test_what_is_loaded_is_the_same_with_and_without(shop, number):
    value = make()[number]

    plain = waybill.dumps(value)
    telling = waybill.dumps(value, environment=True)

    assert telling != plain
    assert waybill.dumps(value) == plain, "what is kept tells nothing"
    assert waybill.dumps(value, environment=True) == telling
    if number == 0:
        assert waybill.loads(telling) is value
    elif number == 2:
        assert waybill.loads(telling) == value


def ids_and_hashes(report):
    _, definitions, _ = report["payload"]["outline"]["items"]
    identity = definitions["items"][0]["items"][0]
    assert identity["field"] == "id"
    return identity, [body["hash"] for body in report["code"]]


def test_it_is_no_part_of_hashes_and_ids(shop):
    own = make()[0]

    told = waybill.inspect(waybill.dumps(own, environment=True))
    plain = waybill.inspect(waybill.dumps(own))

    assert ids_and_hashes(told) == ids_and_hashes(plain)


def test_it_is_no_part_of_fingerprints(shop):
    own = make()[0]
    before = waybill.fingerprint(own)
    waybill.configure(environment=True)
    try:
        assert waybill.fingerprint(own) == before
    finally:
        waybill.configure(environment=None)


def test_prepared_calls_tell_and_have_the_digest_of_those_that_do_not(shop):
    import shop as module

    telling = waybill.prepare(module.sell, environment=True)
    plain = waybill.prepare(module.sell)

    assert told_in(telling.dumps(1))["distributions"]
    assert told_in(plain.dumps(1)) is None
    assert telling.digest == plain.digest


def test_each_payload_of_a_stream_tells(shop):
    import shop as module

    file = io.BytesIO()
    pickler = waybill.Pickler(file, environment=True)
    shared = [1]
    pickler.dump([module.sell, shared])
    pickler.dump(shared)
    file.seek(0)
    reader = waybill.Unpickler(file)

    first, second = reader.load(), reader.load()

    assert first == [module.sell, shared] and second is first[1]


def test_chunks_buffers_and_signatures_go_with_it(tmp_path):
    key = waybill.security.SigningKey.generate("mac")
    ring = waybill.security.KeyRing(key)
    value = [bytes(100_000), bytearray(70_000)]

    data = saved(value, tmp_path / "a", key=key, compress="zstd")

    assert told_in(data)
    assert waybill.loads(data, keys=ring) == value
    assert waybill.dumps(value, key=key, compress="zstd", environment=True) == data
    assert waybill.explain(value, environment=True).total == len(
        waybill.dumps(value, environment=True)
    )


def test_version_that_is_replaced_meanwhile_is_told_as_it_is_now(shop):
    import shop as module

    first = waybill.dumps(module.sell, environment=True)
    install(shop, "store", "1.6", ["shop"])
    second = waybill.dumps(module.sell, environment=True)

    versions = [
        told_in(data)["distributions"][0]["version"] for data in (first, second)
    ]
    assert versions == ["1.5", "1.6"]


class TestMissing:
    @pytest.fixture
    def data(self, shop):
        import shop as module

        return waybill.dumps([module.sell, module.Cart], environment=True)

    def test_another_version_is_named(self, shop, data):
        install(shop, "store", "2.0", ["shop"])

        (found,) = waybill.environment.missing(data)

        assert found.module == "shop"
        assert found.reason == "made with store 1.5, here is 2.0"
        assert str(found) == "shop: made with store 1.5, here is 2.0"

    def test_same_version_is_not(self, data):
        assert waybill.environment.missing(data) == ()

    def test_what_is_not_installed_is_named_with_its_version(self, data):
        assert fresh_process.execute(
            "answer = [each.reason for each in waybill.environment.missing(data)]", data
        ) == [
            "no module named 'shop'; made with store 1.5, which is not installed here"
        ]

    def test_versions_that_are_given_go_first(self, shop, data):
        install(shop, "store", "2.0", ["shop"])

        (found,) = waybill.environment.missing(data, {"shop": "1.7"})

        assert found.reason == "made with shop 1.7, here is 2.0"
        assert waybill.environment.missing(data, {}) == ()


class TestErrors:
    def load_error(self, data, *path):
        with pytest.raises(FreshProcessError) as caught:
            fresh_process.load(data, "value", path=path)
        return caught.value

    @pytest.fixture
    def data(self, shop):
        import shop as module

        return waybill.dumps([module.sell, module.Cart], environment=True)

    def test_missing_module_says_what_it_was_in(self, data):
        error = self.load_error(data)

        assert error.kind == "MissingModuleError"
        assert error.message.endswith(
            "install it, or send from where it is not needed; made with store 1.5, "
            "which is not installed here"
        )

    def test_module_that_another_version_lacks(self, shop, data):
        install(shop, "store", "2.0", ["other"])
        (shop / "shop.py").unlink()

        error = self.load_error(data, shop)

        assert error.kind == "MissingModuleError"
        assert error.message.endswith("; made with store 1.5, here is 2.0")

    def test_name_that_another_version_lacks(self, shop, data):
        install(shop, "store", "2.0", ["shop"])
        (shop / "shop.py").write_text("def sell(): return 1\n")

        error = self.load_error(data, shop)

        assert error.kind == "AttributeError"
        assert error.message == (
            "module 'shop' has no attribute 'Cart'; made with store 1.5, here is 2.0"
        )

    def test_name_that_the_same_version_lacks_is_as_ever(self, shop, data):
        (shop / "shop.py").write_text("def sell(): return 1\n")

        error = self.load_error(data, shop)

        assert error.message == "module 'shop' has no attribute 'Cart'"

    def test_nothing_is_said_of_what_was_not_told(self, shop):
        import shop as module

        error = self.load_error(waybill.dumps(module.sell))

        assert error.message.endswith("install it, or send from where it is not needed")

    def test_later_errors_say_it_too(self, shop):
        data = waybill.dumps(uses_shop(), environment=True)

        told = fresh_process.execute(
            "value = waybill.loads(data, missing='later')\n"
            "try: value()\n"
            "except waybill.MissingModuleError as error: answer = str(error)",
            data,
        )

        assert "made with store 1.5" in told


def uses_shop():
    import shop

    def use():
        return shop.sell()

    return use


def test_command_shows_it(shop):
    from command import BINARY

    if not BINARY.exists():
        pytest.skip("the command is not built")
    import shop as module

    data = waybill.dumps(module.sell, environment=True)

    shown = subprocess.run(
        [BINARY, "inspect", "-"], input=data, capture_output=True, text=False
    ).stdout.decode()

    assert f"made with Python {sys.version.partition(' ')[0]} (cpython)" in shown
    assert "  store 1.5  shop\n" in shown


def test_uninstalled_meanwhile_is_left_out(shop):
    import shop as module

    uninstall(shop, "store")

    assert told_in(waybill.dumps(module.sell, environment=True))["distributions"] == []
