"""What functions and classes of a module by value hold, and no import would find."""

import textwrap
import threading
import types

import fresh_process
import pytest
import waybill


@pytest.fixture
def made(monkeypatch):
    """Answers the payload of `value`, which a module by value of this source has."""

    def answer(source, **names):
        module = types.ModuleType("hc_made")
        monkeypatch.setitem(__import__("sys").modules, "hc_made", module)
        vars(module).update(names)
        exec(textwrap.dedent(source), vars(module))
        return waybill.dumps(module.value, by_value=[module])

    return answer


LOCK_IN_A_CLOSURE = """
    import threading
    def counter():
        lock = threading.Lock()
        def value():
            with lock:
                return 1
        value.lock = lock
        return value
    value = counter()
    """

LOCK_OF_AN_OBJECT = """
    import threading
    class Cache:
        def __init__(self):
            self.mutex = threading.Lock()
            self.again = threading.RLock()
    cache = Cache()
    def value(): return cache.mutex.acquire(False), cache.again.acquire(False)
    """


def test_free_lock_in_a_closure_begins_anew(made):
    data = made(LOCK_IN_A_CLOSURE)

    assert fresh_process.load(data, "(value(), value.lock.locked())") == (1, False)


def test_lock_in_a_closure_that_somebody_holds_is_refused(made):
    with pytest.raises(waybill.EncodeError) as caught:
        made(LOCK_IN_A_CLOSURE + "value.lock.acquire()")

    assert caught.value.path == "value.__closure__[0] (_thread.lock)"


def test_free_lock_of_an_object_that_code_refers_to_begins_anew(made):
    data = made(LOCK_OF_AN_OBJECT)

    assert fresh_process.load(data, "value()") == (True, True)


def test_free_lock_of_an_object_that_is_sent_itself_is_refused(made):
    with pytest.raises(waybill.EncodeError) as caught:
        made(LOCK_OF_AN_OBJECT + "value = cache")

    assert caught.value.path.endswith("mutex (_thread.lock)")


def test_free_lock_that_only_code_of_others_holds_is_refused(made):
    lock = threading.Lock()

    with pytest.raises(waybill.EncodeError, match=r"__closure__\[0\] \(_thread.lock\)"):
        made("value = other", other=lambda: lock)
