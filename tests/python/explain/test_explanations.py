"""What an explanation has, holds and compares."""

import collections
import copy
import functools
import gc
import io
import json
import pickle
import sys
import threading
import types
import weakref

import pytest
import waybill
from sources import define
from without_caches import without_caches


class Holder:
    def __init__(self, held=None):
        self.held = held


def task_of(**names):
    """A function of a module that is nowhere, which names these globals."""
    body = ", ".join(names)
    return define(f"def task(): return {body}", **names).task


def part_of(told, short):
    return next(part for part in told.parts.walk() if part.short == short)


def test_total_is_the_size_of_the_payload_and_the_root_is_in_it():
    value = {"a": [1, "b" * 100], "f": task_of(table=[1, 2, 3], json=json)}

    told = waybill.explain(value)

    assert told.total == len(waybill.dumps(value))
    assert 0 < told.parts.bytes < told.total
    assert sum(part.own for part in told.parts.walk()) == told.parts.bytes


def test_kinds_tell_what_goes_by_name_and_what_goes_beside():
    memory = bytearray(100_000)
    taken = []
    value = [json.dumps, json, pickle.PickleBuffer(memory), Holder()]

    told = waybill.explain(value, buffer_callback=taken.append)

    kinds = {part.path: part.kind for part in told.parts.walk()}
    assert kinds["obj[0]"] == "reference"
    assert kinds["obj[1]"] == "module"
    assert kinds["obj[2]"] == "out of band"
    assert kinds["obj[3]"] == "value"
    assert part_of(told, "obj[0]").detail == "json.dumps"
    assert len(taken) == 1 and told.total < 1000


def test_children_are_the_largest_first_and_know_their_parent():
    told = waybill.explain({"small": [1] * 100, "large": [2] * 500, "own": "x"})

    first, second = told.parts.children
    assert (first.short, second.short) == ("obj['large']", "obj['small']")
    assert first.parent is told.parts
    assert "obj['large']" in repr(first)


def test_imports_tell_when_they_are_needed_and_what_is_missing():
    task = define(
        """
        import json
        def task(x):
            import module_that_is_nowhere
            return json.dumps(x)
        """
    ).task

    told = waybill.explain(task)

    found = {record.module: record for record in told.imports}
    assert (found["json"].time, found["json"].missing) == ("load", False)
    assert found["module_that_is_nowhere"].time == "call"
    assert found["module_that_is_nowhere"].missing
    assert found["module_that_is_nowhere"].line > 0


def test_imports_that_a_worker_lacks_are_those_without_a_version():
    numpy = pytest.importorskip("numpy")
    value = [numpy.float64(1), json.dumps]

    there = waybill.explain(value, versions={"numpy": "1"})
    lacking = waybill.explain(value, versions={})

    assert not any(record.missing for record in there.imports)
    assert {record.module.partition(".")[0] for record in lacking.imports} >= {"numpy"}
    assert all(
        record.missing == record.module.startswith("numpy")
        for record in lacking.imports
    )


# ---- Changes


def changes(before, after):
    found = waybill.explain(before).changes(waybill.explain(after))
    return [(change.path, change.what) for change in found]


def test_equal_objects_have_no_changes():
    task = task_of(table=[1, 2], holder=Holder({"a": b"x" * 100}))

    assert changes(task, task) == []
    assert changes([1, {2: "a"}], copy.deepcopy([1, {2: "a"}])) == []


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([[1, 2]], [[1, 3]], [("obj[0]", "content")]),
        ([[1, 2]], [[1, 2, 3]], [("obj[0]", "size")]),
        ([[1, 2]], [(1, 2)], [("obj[0]", "type")]),
        ({"a": [1]}, {"b": [1]}, None),
        ([b"x" * 100], [b"y" * 100], [("obj[0]", "content")]),
        ([json.dumps], [json.loads], [("obj[0]", "content")]),
    ],
)
def test_a_change_is_told_where_it_is(before, after, expected):
    found = changes(before, after)

    if expected is None:
        assert {what for _, what in found} >= {"added", "removed"}
    else:
        assert found == expected


def test_a_global_that_changed_is_told_by_its_path():
    before = task_of(table=[1, 2, 3], other={"k": 1})
    after = task_of(table=[1, 2, 4], other={"k": 1})

    assert changes(before, after) == [("task.__globals__['table']", "content")]


def test_code_that_changed_is_told_and_its_line_numbers_are_not():
    first = define("def task(): return len")
    moved = define("\n\n\n\ndef task(): return len")
    other = define("def task(): return max")

    assert changes(first.task, moved.task) == []
    assert ("task", "content") in changes(first.task, other.task)


def test_what_comes_before_does_not_make_functions_and_modules_new():
    first, second = define("def f(): return 1").f, define("def g(): return 2").g

    found = changes({"f": second}, {"before": [first, json.dumps], "f": second})

    assert ("obj['f']", "content") not in found


def test_a_part_that_is_new_is_told_once():
    found = changes({}, {"a": [[1] * 100, [2] * 100]})

    assert ("obj['a']", "added") in found
    assert not any(path.startswith("obj['a'][") for path, _ in found)


# ---- Bounds


def test_of_many_parts_the_smallest_are_omitted_and_no_byte_is_lost():
    value = [[n] for n in range(60_000)] + [{"large": ["x" * 60] * 50}]

    told = waybill.explain(value)

    parts = list(told.parts.walk())
    assert len(parts) <= 20_001
    assert len(parts) + told.omitted_parts > 60_000
    assert sum(part.own for part in parts) == told.parts.bytes
    assert part_of(told, "obj[60000]['large']").bytes > 3000


def module_of(**names):
    module = types.ModuleType("nowhere")
    vars(module).update(names)
    return module


def function_of_module(lock, text):
    return task_of(lock=lock, text=text)


def closure(lock, text):
    return lambda: (lock, text)


def defaults(lock, text):
    def f(a=lock, *, b=text): ...

    return f


def annotations(lock, text):
    def f(a: lock, b: text): ...

    return f


def attributes_of_function(lock, text):
    def f(): ...

    f.lock, f.text = lock, text
    return f


def attributes_of_class(lock, text):
    return type("Local", (), {"lock": lock, "text": text})


def slots(lock, text):
    made = type("Local", (), {"__slots__": ("lock", "text")})()
    made.lock, made.text = lock, text
    return made


class Reduced:
    def __init__(self, *reduction):
        self.reduction = reduction

    def __reduce__(self):
        return self.reduction


BESIDE = {
    "list": lambda lock, text: [lock, text],
    "tuple": lambda lock, text: (lock, text),
    "values of a dict": lambda lock, text: {"lock": lock, "text": text},
    "keys of a dict": lambda lock, text: {lock: 1, threading.RLock(): 1, text: 1},
    "set": lambda lock, text: {lock, text, threading.RLock()},
    "frozenset": lambda lock, text: frozenset([lock, text]),
    "slice": lambda lock, text: slice(lock, text),
    "cell": lambda lock, text: [types.CellType(lock), text],
    "instance": lambda lock, text: Holder([lock, text]),
    "partial": lambda lock, text: functools.partial(print, lock, text),
    "deque": lambda lock, text: collections.deque([lock, text]),
    "exception": lambda lock, text: ValueError(lock, text),
    "module by value": lambda lock, text: module_of(lock=lock, text=text),
    "class that makes": lambda lock, text: [Reduced(lock, (text,)), text],
    "arguments": lambda lock, text: Reduced(dict, ([(lock, text)],)),
    "state": lambda lock, text: Reduced(list, (), (lock, text)),
    "items": lambda lock, text: Reduced(list, (), None, iter([lock, text])),
    "pairs": lambda lock, text: Reduced(dict, (), None, None, iter([(lock, text)])),
    "setter": lambda lock, text: [Reduced(list, (), text, None, None, lock), text],
    **{
        make.__name__: make
        for make in (
            function_of_module,
            closure,
            defaults,
            annotations,
            attributes_of_function,
            attributes_of_class,
            slots,
        )
    },
}


@pytest.mark.parametrize("make", BESIDE.values(), ids=BESIDE)
def test_what_stands_beside_a_blocker_is_listed(make):
    told = waybill.explain(make(threading.Lock(), "x" * 100))

    assert told.blockers
    assert any(part.bytes > 100 and part.type == "str" for part in told.parts.walk())
    assert sum(part.own for part in told.parts.walk()) == told.parts.bytes


def test_what_leads_to_a_blocker_is_never_omitted():
    lock = threading.Lock()
    value = [[n] for n in range(30_000)]
    value[123] = [[lock]]
    value += [[n] for n in range(30_000)]

    told = waybill.explain(value)

    assert [blocker.path for blocker in told.blockers] == ["obj[123][0][0]"]
    assert part_of(told, "obj[123][0]").type == "list"


def test_of_many_paths_a_hundred_are_told():
    lock = threading.Lock()

    (blocker,) = waybill.explain([[lock] for _ in range(5000)]).blockers

    assert blocker.path_count == 5000
    assert len(set(blocker.paths)) == 100


def test_depth_costs_no_stack():
    value = []
    for _ in range(50_000):
        value = [value]

    told = waybill.explain(value)

    assert told.total == len(waybill.dumps(value))
    assert str(told)


def test_code_that_brought_a_deep_object_is_told():
    value = threading.Lock()
    for _ in range(1_000):
        value = [value]

    [blocker] = waybill.explain(task_of(deep=value)).blockers

    assert (blocker.function, blocker.line) == ("task", 1)


def test_an_explanation_holds_none_of_the_objects():
    holder = Holder([threading.Lock()])
    gone = weakref.ref(holder)
    told = waybill.explain([holder])
    with pytest.raises(waybill.EncodeError) as caught:
        waybill.dumps([holder])
    error = caught.value.explain()

    del holder, caught
    gc.collect()

    assert gone() is None
    assert told.blockers == error.blockers


def test_nothing_is_an_explanation_too():
    told = waybill.explain(None)

    assert (told.parts.type, told.blockers, told.imports) == ("NoneType", (), ())
    assert "all of it travels" in told.to_text()


# ---- Errors


def test_an_error_travels_without_its_explanation():
    with pytest.raises(waybill.EncodeError) as caught:
        waybill.dumps([threading.Lock()])

    arrived = waybill.loads(waybill.dumps(caught.value))

    assert (arrived.path, arrived.type) == ("obj[0]", "_thread.lock")
    assert caught.value.explain() is not None
    assert arrived.explain() is None


@pytest.mark.parametrize("hook", ["persistent_id", "reducer_override"])
def test_callbacks_of_a_pickler_are_called_once(hook):
    asked = []

    def answer(obj):
        asked.append(obj)
        return None if hook == "persistent_id" else NotImplemented

    pickler = waybill.Pickler(io.BytesIO())
    setattr(pickler, hook, answer)
    with pytest.raises(waybill.EncodeError) as caught:
        pickler.dump([Holder(), threading.Lock()])

    assert caught.value.explain() is None
    locks = [obj for obj in asked if isinstance(obj, type(threading.Lock()))]
    assert len(locks) == 1


def test_interruption_is_no_blocker():
    class Interrupts:
        def __reduce__(self):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        waybill.explain([Interrupts()])


def test_options_are_those_of_dumps():
    value = {"lock": threading.Lock(), "data": bytes(200_000)}

    told = waybill.explain(value, replace="fresh", compress="zstd")

    assert told.blockers == ()
    assert told.total == len(waybill.dumps(value, replace="fresh", compress="zstd"))
    with pytest.raises(TypeError):
        waybill.explain(value, nothing_of_that_name=1)


def test_caches_do_not_show():
    task = task_of(holder=Holder([1, 2]), json=json)
    waybill.dumps(task), waybill.dumps(task)
    warm = waybill.explain(task).to_json()
    with without_caches():
        cold = waybill.explain(task).to_json()

    assert warm == cold


# ---- Pages


def test_pages_name_what_is_large_and_what_cannot_travel(tmp_path):
    told = waybill.explain(task_of(guard=threading.Lock(), table=["x"] * 1000))

    told.to_html(tmp_path / "task.html")
    page = (tmp_path / "task.html").read_text(encoding="utf-8")
    pages = told.to_text(), told.to_json(), page, told._repr_html_()

    assert all("table" in text and "guard" in text for text in pages)
    assert json.loads(told.to_json())["total"] == told.total
    assert page.lower().startswith("<!doctype html")
    assert told._repr_html_().startswith("<iframe sandbox")
    assert "\x1b[" not in str(told)
    assert "\x1b[" in told.to_text(colours=True)


def test_as_many_parts_as_are_asked_for_are_shown():
    told = waybill.explain({str(n): ["x"] * 1000 for n in range(8)})

    assert told.to_text(top=3).count("(list of 1000)") <= 3
    assert max(map(len, told.to_text(columns=60).splitlines())) <= 60


@pytest.mark.skipif(sys.version_info < (3, 12), reason="PEP 695")
def test_generic_functions_are_explained():
    space = {}
    exec("def task[T](x: T) -> T: return x", space)

    assert waybill.explain(space["task"]).parts.path == "task"


def test_progress_is_told_of_objects_and_bytes():
    told = []

    explanation = waybill.explain(
        [[number] for number in range(200_000)],
        progress=lambda *each: told.append(each),
    )

    assert [objects for objects, _ in told] == [65_536 * n for n in (1, 2, 3)]
    sizes = [size for _, size in told]
    assert sizes == sorted(sizes)
    assert 0 < sizes[-1] <= explanation.parts.bytes


@pytest.mark.parametrize("make", [list, dict.fromkeys], ids=["list", "dict"])
def test_progress_may_change_what_is_explained(make):
    value = make(range(200_000))
    for at in range(200_000):
        value[at] = [at]

    told = waybill.explain(value, progress=lambda *_: value.clear())

    assert told.parts.bytes > 400_000


def test_what_progress_raises_ends_the_walk():
    class Stop(Exception):
        pass

    def stop(objects, size):
        raise Stop

    with pytest.raises(Stop) as caught:
        waybill.explain([[number] for number in range(100_000)], progress=stop)

    assert type(caught.value) is Stop


def test_error_of_dumps_in_a_reducer_is_explained_once():
    calls = []

    class Nested:
        def __init__(self, depth):
            self.depth = depth

        def __reduce__(self):
            calls.append(self.depth)
            if self.depth == 0:
                raise ValueError("at the bottom")
            return bytes, (waybill.dumps(Nested(self.depth - 1)),)

    with pytest.raises(waybill.EncodeError, match="at the bottom") as caught:
        waybill.dumps(Nested(20))

    assert len(calls) == 22  # The innermost once more, for its explanation.
    assert caught.value.explain() is not None
