"""What test_ray.py claims, checked in one Ray on this machine."""

import asyncio
import gc
import os
import pickle
import threading
import time
import traceback
import xml.etree.ElementTree

import claims
import numpy
import ray
import waybill.integrations.ray
from claims import is_waybills, module_of_the_driver, raised_by

offset = 40


class Point:
    made_here = True

    def __init__(self, x):
        self.x = x


class Refusal(Exception):
    def __init__(self, what, code):
        super().__init__(what)
        self.code = code


@ray.remote
class Counter:
    def __init__(self, start=0):
        self.total = Point(start)

    def add(self, amount):
        self.total.x += amount
        return self.total

    def refuse(self):
        raise Refusal("no more", 7)


@ray.remote
def identity(value):
    return value


@ray.remote
def refuse():
    raise Refusal("not today", 3)


def claim_functions_of_main_travel_with_globals_and_closures():
    def make(step):
        @ray.remote
        def add(x):
            return x + step + offset

        return add

    assert ray.get(make(1).remote(1)) == 42


def claim_submodules_used_only_inside_a_function_are_imported():
    @ray.remote
    def tag():
        return xml.etree.ElementTree.fromstring("<a/>").tag

    assert ray.get(tag.remote()) == "a"


def claim_what_a_function_is_sent_as_is_waybills():
    ray.get(identity.remote(1))

    assert is_waybills(identity._pickled_function)


def claim_workers_follow_and_answer_by_waybill():
    @ray.remote
    def answer():
        return ray.cloudpickle.dumps(Point(1))

    assert is_waybills(ray.get(answer.remote()))


def claim_instances_come_back_as_instances_of_the_drivers_class():
    came = ray.get(identity.remote([Point(1), Point(2)]))

    assert [type(point) is Point and point.x for point in came] == [1, 2]


def claim_instances_made_by_workers_are_of_the_drivers_class():
    @ray.remote
    def make():
        return {"point": Point(5)}

    assert type(ray.get(make.remote())["point"]) is Point


def claim_actors_keep_their_state_and_inherit():
    class Twice(Counter.__ray_metadata__.modified_class):
        def add(self, amount):
            return super().add(2 * amount)

    counter, twice = Counter.remote(), ray.remote(Twice).remote(1)

    assert [ray.get(counter.add.remote(n)).x for n in (1, 2)] == [1, 3]
    assert type(ray.get(twice.add.remote(2))) is Point
    assert ray.get(twice.add.remote(2)).x == 9


class Conf:
    lr = 0.1


class Plugin:
    kinds = {}

    def __init_subclass__(cls):
        Plugin.kinds[cls.__name__] = cls


class Csv(Plugin):
    pass


class Calls:
    made = 0


@ray.remote
class Runner:
    def run(self, task):
        return task()


def get():
    return Conf.lr


def kinds():
    return list(Plugin.kinds)


def add_own():
    class Own(Plugin):
        pass


def count():
    Calls.made += 1
    return Calls.made


def claim_changes_of_classes_arrive_and_what_a_worker_changed_stays():
    runner = Runner.remote()

    def send(task):
        return ray.get(runner.run.remote(task))

    Conf.lr = 0.1
    assert (send(get), send(kinds), send(count)) == (0.1, ["Csv"], 1)
    send(add_own)
    Conf.lr = 0.5

    class Json(Plugin):
        pass

    assert (send(get), send(kinds), send(count)) == (0.5, ["Csv", "Json", "Own"], 2)
    del Plugin.kinds["Json"]
    assert (send(get), send(kinds), send(count)) == (0.5, ["Csv", "Own"], 3)
    assert (Conf.lr, kinds(), Calls.made) == (0.5, ["Csv"], 0)


def claim_tasks_see_changes_of_classes_whichever_worker_runs_them():
    for Conf.lr in (0.1, 0.5, 0.1):
        tasks = [ray.remote(get).remote() for _ in range(20)]
        assert set(ray.get(tasks)) == {Conf.lr}


def claim_actors_show_their_own_name():
    @ray.remote
    class Named:
        def name(self):
            return repr(self)

    assert "<locals>.Named object" in ray.get(Named.remote().name.remote())


def claim_actors_with_coroutines_work():
    @ray.remote
    class Waiting:
        async def wait(self, point):
            await asyncio.sleep(0)
            return point

    assert type(ray.get(Waiting.remote().wait.remote(Point(1)))) is Point


def claim_handles_of_actors_travel_and_keep_them_alive():
    @ray.remote
    def use(holder):
        return ray.get(holder["counter"].add.remote(5)).x

    held = ray.put({"counter": Counter.remote(1)})
    gc.collect()

    assert ray.get(use.remote(held)) == 6
    assert ray.get(ray.get(held)["counter"].add.remote(1)).x == 7


def claim_actors_and_references_in_closures_work():
    counter, reference = Counter.remote(10), ray.put(numpy.ones(3))

    @ray.remote
    def use():
        return ray.get(counter.add.remote(1)).x + ray.get(reference).sum()

    assert ray.get(use.remote()) == 14


def counted():
    """References that this process counts, in hexadecimal digits."""
    return ray._private.worker.global_worker.core_worker.get_all_reference_counts()


def is_counted(number):
    """Whether this process counts a reference, by now or soon not any more."""
    for _ in range(100):
        gc.collect()
        if number not in counted():
            return False
        time.sleep(0.02)
    return True


def claim_references_within_values_are_counted_with_the_value():
    for hold in (lambda inner: {"deep": [inner]}, Point, lambda inner: lambda: inner):
        inner = ray.put(numpy.zeros(100_000))
        number = inner.hex().encode()
        outer = ray.put(hold(inner))
        del inner
        assert is_counted(number)
        ray.get(outer)
        del outer
        assert not is_counted(number)


def claim_references_made_by_workers_live_while_what_holds_them_does():
    @ray.remote
    def make():
        return [ray.put(numpy.arange(100_000)), ray.put(Point(3))]

    array, point = ray.get(make.remote())
    gc.collect()

    assert ray.get(array)[-1] == 99_999
    assert type(ray.get(point)) is Point


def claim_references_as_arguments_arrive_as_their_values():
    assert ray.get(identity.remote(ray.put(Point(4)))).x == 4
    assert ray.get(ray.get(identity.remote([ray.put(4)]))[0]) == 4


def claim_arrays_are_read_where_they_lie():
    reference = ray.put({"array": numpy.arange(200_000.0), "point": Point(1)})

    first, second = ray.get(reference)["array"], ray.get(reference)["array"]

    assert not first.flags.owndata and not first.flags.writeable
    assert first.ctypes.data == second.ctypes.data
    assert first.sum() == 199_999 * 100_000


def claim_arrays_go_out_of_band_and_are_not_copied():
    array, buffers = numpy.arange(1000), []

    data = ray.cloudpickle.dumps([array], protocol=5, buffer_callback=buffers.append)

    assert len(data) < 500 and len(buffers) == 1
    (back,) = pickle.loads(data, buffers=buffers)
    assert back.ctypes.data == array.ctypes.data


def claim_tasks_get_arrays_without_a_copy():
    @ray.remote
    def look(array):
        return array.flags.owndata, array.flags.writeable, array.sum()

    assert ray.get(look.remote(numpy.ones(200_000))) == (False, False, 200_000)
    assert ray.get(look.remote(ray.put(numpy.ones(7)))) == (False, False, 7)


def claim_arrays_of_any_layout_come_back_equal():
    square = numpy.arange(10_000).reshape(100, 100)
    for array in (square, square.T, square[::2, ::3], square.astype("O"), square[0, 0]):
        assert numpy.array_equal(ray.get(identity.remote([array]))[0], array)


def claim_an_exception_names_function_file_and_line():
    @ray.remote
    def divide(x):
        return x / 0  # This line.

    text = str(raised_by(lambda: ray.get(divide.remote(1)), ZeroDivisionError))

    assert "in divide" in text and __file__ in text
    assert "return x / 0  # This line." in text


def claim_exceptions_with_a_signature_of_their_own_come_back():
    error = raised_by(lambda: ray.get(refuse.remote()), Refusal)
    cause = error.cause

    assert (str(cause), error.code, type(cause)) == ("not today", 3, Refusal)
    assert "in refuse" in "".join(traceback.format_exception(cause))


def claim_exceptions_pass_through_several_tasks_and_actors():
    @ray.remote
    def ask(counter):
        ray.get(refuse.remote()) if counter is None else ray.get(
            counter.refuse.remote()
        )

    assert raised_by(lambda: ray.get(ask.remote(None)), Refusal).code == 3
    assert raised_by(lambda: ray.get(ask.remote(Counter.remote())), Refusal).code == 7


def claim_an_exception_that_cannot_travel_is_told_of():
    @ray.remote
    def fail():
        raise Refusal("locked", threading.Lock())

    error = raised_by(lambda: ray.get(fail.remote()), ray.exceptions.RayError)

    text = str(error.cause)
    assert "Refusal isn't serializable: obj.code (_thread.lock)" in text
    assert 'raise Refusal("locked", threading.Lock())' in text


def claim_exceptions_of_main_are_retried():
    @ray.remote(max_retries=2, retry_exceptions=[Refusal])
    def second_time_lucky(path):
        if not os.path.exists(path):
            open(path, "w").close()
            raise Refusal("first", 1)
        return "second"

    path = os.path.abspath("was_called")
    assert ray.get(second_time_lucky.remote(path)) == "second"


def claim_what_cannot_travel_is_an_error_that_says_where():
    lock = threading.Lock()

    @ray.remote
    def use():
        return lock

    text = str(raised_by(use.remote, TypeError))
    assert "Could not serialize the function" in text and "lock" in text
    error = raised_by(lambda: ray.put({"held": [lock]}), TypeError)
    assert "obj[0]['held'][0]" in str(error) or "['held'][0]" in str(error)


def claim_tasks_start_tasks_and_actors():
    @ray.remote
    def inner(point):
        return Point(point.x + 1)

    @ray.remote
    def outer(x):
        counter = Counter.remote(ray.get(inner.remote(Point(x))).x)
        return ray.get(counter.add.remote(10))

    came = ray.get(outer.remote(1))
    assert type(came) is Point and came.x == 12


def claim_generators_give_instances():
    @ray.remote
    def count(n):
        for x in range(n):
            yield Point(x)

    came = [ray.get(reference) for reference in count.remote(3)]
    assert [type(point) is Point and point.x for point in came] == [0, 1, 2]


def claim_registered_serializers_are_used():
    def serialize(point):
        return point.x

    def deserialize(x):
        return Point(-x)

    ray.util.register_serializer(Point, serializer=serialize, deserializer=deserialize)
    try:
        assert ray.get(ray.put(Point(3))).x == -3
    finally:
        ray.util.deregister_serializer(Point)
    assert ray.get(ray.put(Point(3))).x == 3


def claim_modules_registered_by_value_with_ray_go_by_value():
    alone = module_of_the_driver("sent_along", "def f(): return g()\ndef g(): return 2")

    @ray.remote
    def call():
        return alone.f()

    ray.cloudpickle.register_pickle_by_value(alone)
    try:
        assert ray.get(call.remote()) == 2
    finally:
        ray.cloudpickle.unregister_pickle_by_value(alone)


def claim_ten_thousand_tasks_give_their_results():
    @ray.remote
    def double(point):
        return Point(2 * point.x)

    came = ray.get([double.remote(Point(n)) for n in range(10_000)])

    assert [point.x for point in came] == list(range(0, 20_000, 2))
    assert all(type(point) is Point for point in came)


def claim_installing_twice_and_uninstalling_leaves_ray_as_it_was():
    waybill.integrations.ray.install()
    waybill.integrations.ray.uninstall()

    assert (ray.cloudpickle.dumps, ray.cloudpickle.dump) == DUMPS_OF_RAY
    assert ray.actor._modify_class is MODIFY_CLASS_OF_RAY

    @ray.remote
    def plain(x):
        return Point(x + offset)

    assert ray.get(plain.remote(2)).x == 42
    assert not is_waybills(plain._pickled_function)
    waybill.integrations.ray.uninstall()


if __name__ == "__main__":
    DUMPS_OF_RAY = ray.cloudpickle.dumps, ray.cloudpickle.dump
    MODIFY_CLASS_OF_RAY = ray.actor._modify_class
    waybill.integrations.ray.install()
    ray.init(num_cpus=2, include_dashboard=False)
    try:
        claims.check_all(globals())
    finally:
        ray.shutdown()
