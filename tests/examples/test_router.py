"""docs/examples/router sends calls where the modules are, and links no Python."""

import functools
import subprocess
import sys

import pytest
import running
import waybill
from sources import define

pytestmark = pytest.mark.skipif(
    not (running.HOST.exists() and running.ROUTER.exists()),
    reason="no Python to embed: the examples are not built",
)

Client = running.module("host/client.py").Client


@pytest.fixture
def routed(tmp_path):
    """Hosts that have the modules `first` and `second`; a router before them."""
    (tmp_path / "stdlib").write_text("\n".join(sorted(sys.stdlib_module_names)))
    lines = []
    for name in ("first", "second"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / f"router_{name}.py").write_text(f"def where(): return {name!r}\n")
        socket = tmp_path / f"{name}.sock"
        lines.append(f"{name} {socket} router_{name} @{tmp_path / 'stdlib'}\n")
    pools = tmp_path / "pools"
    pools.write_text("# a comment\n" + "".join(lines))
    path = str(tmp_path / "router.sock")
    with (
        running.host(tmp_path, "--path", tmp_path / "first", name="first.sock"),
        running.host(
            tmp_path, "--path", tmp_path / "second", name="second.sock"
        ) as second,
        running.serving(running.ROUTER, tmp_path, path, pools) as router,
    ):
        router.wait_for("2 pools")
        yield path, router, second[0]


def asks(module, monkeypatch, tmp_path):
    """A function that needs a module."""
    monkeypatch.syspath_prepend(tmp_path / module.removeprefix("router_"))
    found = __import__(module)
    return define("def f(): return module.where()", module=found).f


@pytest.mark.parametrize("name", ["second", "first"])
def test_call_goes_where_its_module_is(routed, name, monkeypatch, tmp_path):
    path, _, _ = routed
    with Client(path) as client:
        assert client.call(asks(f"router_{name}", monkeypatch, tmp_path)) == name


def test_call_that_needs_nothing_special_goes_to_the_first(routed):
    path, _, _ = routed
    with Client(path) as client:
        for number in range(20):
            assert client.call(abs, -number) == number


@functools.lru_cache
def cached(number):
    return -number


def test_what_waybill_brings_itself_no_pool_has_to_list(routed):
    path, _, _ = routed
    cached.__wrapped__.__module__ = cached.__module__ = "__main__"
    with Client(path) as client:
        assert client.call(cached, 5) == -5
        assert client.call(str, ValueError("x")) == "x"


def test_call_that_no_pool_can_make_is_told_what_is_missing(
    routed, monkeypatch, tmp_path
):
    path, router, _ = routed
    (tmp_path / "third").mkdir()
    (tmp_path / "third" / "router_third.py").write_text("def where(): pass")
    with Client(path) as client:
        with pytest.raises(waybill.calls.CallError, match="router_third") as caught:
            client.call(asks("router_third", monkeypatch, tmp_path))
        assert caught.value.code == "no_pool"
        assert client.call(abs, -1) == 1
    assert "no_pool: first has no router_third; second has no" in router.log


def test_pool_that_is_down_is_told(routed, monkeypatch, tmp_path):
    path, _, second = routed
    second.end()
    with Client(path) as client:
        with pytest.raises(waybill.calls.CallError) as caught:
            client.call(asks("router_second", monkeypatch, tmp_path))
        assert caught.value.code == "pool_is_down"
        assert client.call(abs, -1) == 1


def test_pool_that_has_closed_the_connection_is_asked_anew(
    routed, monkeypatch, tmp_path
):
    path, _, second = routed
    call = asks("router_second", monkeypatch, tmp_path)
    with Client(path) as client:
        assert client.call(call) == "second"
        second.end()
        options = ("--path", tmp_path / "second")
        with running.host(tmp_path, *options, name="second.sock"):
            assert client.call(call) == "second"


def test_what_is_no_payload_ends_the_connection(routed):
    path, _, _ = routed
    with Client(path) as client:
        client.send(b"hello")
        with pytest.raises(waybill.calls.CallError) as caught:
            client.receive()
        assert caught.value.code == "not_an_envelope"
        with pytest.raises(EOFError):
            client.receive()


def test_router_links_no_python():
    done = subprocess.run(["ldd", running.ROUTER], capture_output=True, text=True)
    symbols = subprocess.run(
        ["nm", "-C", running.ROUTER], capture_output=True, text=True
    )

    assert done.returncode == 0 and "python" not in done.stdout
    assert "Py_" not in symbols.stdout and "PyObject" not in symbols.stdout


def test_name_with_many_dots_keeps_nobody_waiting(routed, tmp_path):
    path, _, _ = routed
    with Client(path) as client:
        client.send(running.call_of("a." * 2_000_000 + "b"))
        with pytest.raises(waybill.calls.CallError) as caught:
            client.receive()
        assert caught.value.code == "no_pool"
        assert client.call(abs, -1) == 1


def test_clients_that_are_idle_take_nobodys_place_at_a_pool(tmp_path):
    pools = tmp_path / "pools"
    path = str(tmp_path / "router.sock")
    # The host takes a moment to see that a connection has ended.
    with running.host(tmp_path, "--clients", 16) as (_, host_path):
        pools.write_text(f"only {host_path} builtins math\n")
        with running.serving(running.ROUTER, tmp_path, path, pools) as router:
            router.wait_for("1 pools")
            clients = [Client(path) for _ in range(64)]

            assert [client.call(abs, -1) for client in clients] == [1] * 64

            for client in clients:
                client.close()


def test_names_in_payloads_write_no_lines_of_their_own(routed, tmp_path):
    path, router, _ = routed
    with Client(path) as client:
        for name in ("no\nrouter: 9 pools\x1b[2J", "x" * 1_000_000):
            client.send(running.call_of(name))
            with pytest.raises(waybill.calls.CallError):
                client.receive()

    assert "no?router: 9 pools?[2J" in router.log
    assert len(router.log) < 2000
