"""A payload that is larger than ``warn_above`` gives one warning, which names what is
large in it and the lines that brought that. Each program is a process of its own."""

import pickle
import subprocess
import sys
import textwrap
import warnings

import pytest
import waybill

LARGE = 100_000

HEAD = """
import io, os, sys, warnings
import waybill

told = []
warnings.showwarning = lambda message, category, filename, lineno, *rest: told.append(
    (category, str(message), filename, lineno)
)
blob = bytes(400_000)

def task():
    return blob  # brings
"""


def run(tmp_path, source):
    """What a program prints, line by line, and the program's own lines."""
    script = tmp_path / "program.py"
    script.write_text(HEAD + textwrap.dedent(source))
    ended = subprocess.run(
        [sys.executable, script],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.splitlines()


def line_of(tmp_path, mark):
    lines = (tmp_path / "program.py").read_text().splitlines()
    return next(n for n, line in enumerate(lines, 1) if line.endswith(f"# {mark}"))


SENDERS = {
    "dumps": "waybill.dumps(task{})  # sends",
    "dump": "waybill.dump(task, io.BytesIO(){})  # sends",
    "dump to what is no file of Python's": "waybill.dump(task, Other(){})  # sends",
    "save": "waybill.save(task, 'saved'{})  # sends",
    "dumps_call": "waybill.calls.dumps_call(task, (1,){})  # sends",
    "prepare": "waybill.prepare(task{})  # sends",
    "Pickler": "waybill.Pickler(io.BytesIO(){}).dump(task)  # sends",
}
OTHER = """
class Other:
    def write(self, data): return len(data)
"""
SHOW = """
for category, message, filename, lineno in told:
    print(category is waybill.SizeWarning, os.path.basename(filename), lineno)
    print(*message.splitlines(), sep="|")
"""


def test_arguments_of_a_prepared_call_are_told_where_it_is_sent(tmp_path):
    source = f"""
    prepared = waybill.prepare(len, warn_above={LARGE})
    prepared.dumps([1])
    data = prepared.dumps([blob], key=1)  # sends
    assert len(waybill.loads(data)[1][0][0]) == 400_000
    """

    place, message = run(tmp_path, textwrap.dedent(source) + SHOW)

    assert place == f"True program.py {line_of(tmp_path, 'sends')}"
    assert "|  400.0 kB: obj[1][0][0], bytes|" in message


def test_large_function_of_a_prepared_call_is_told_once(tmp_path):
    source = f"""
    prepared = waybill.prepare(task, warn_above={LARGE})
    prepared.dumps(bytes(60_000))
    prepared.dumps(bytes(120_000))
    print(len(told), str(told[1][1]).count("120.0 kB: "))
    """

    assert run(tmp_path, source) == ["2 1"]


def test_calls_that_are_prepared_without_a_limit_are_not_told(tmp_path):
    source = """
    prepared = waybill.prepare(len)
    prepared.dumps([blob])
    print(len(told))
    """

    assert run(tmp_path, source) == ["0"]


@pytest.mark.parametrize("sender", SENDERS)
def test_warning_names_the_part_its_line_and_the_line_that_sends(tmp_path, sender):
    call = SENDERS[sender].replace("{}", f", warn_above={LARGE}")

    place, message = run(tmp_path, OTHER + call + SHOW)

    assert place == f"True program.py {line_of(tmp_path, 'sends')}"
    head, part, end = message.split("|")
    assert head.startswith("a payload of 400.") and "kB" in head
    path = tmp_path / "program.py"
    assert part == f"  400.0 kB: blob, bytes, {path}:{line_of(tmp_path, 'brings')}"
    assert end.endswith("waybill.explain(obj)")


@pytest.mark.parametrize("sender", SENDERS)
def test_what_the_process_is_told_holds_for_each_function(tmp_path, sender):
    call = SENDERS[sender].replace("{}", "")
    configured = f"waybill.configure(warn_above={LARGE})\n"

    place, _ = run(tmp_path, OTHER + configured + call + SHOW)

    assert place == f"True program.py {line_of(tmp_path, 'sends')}"


@pytest.mark.parametrize("sender", SENDERS)
@pytest.mark.parametrize("option", ["", ", warn_above=500_000", ", warn_above=0"])
def test_there_is_none_below_or_without_the_option(tmp_path, sender, option):
    assert run(tmp_path, OTHER + SENDERS[sender].replace("{}", option) + SHOW) == []


def test_what_a_call_says_goes_first(tmp_path):
    source = f"""
    waybill.configure(warn_above={LARGE})
    waybill.dumps(task, warn_above=0)
    waybill.dumps(task, warn_above=500_000)
    print(len(told))
    waybill.configure(warn_above=0)
    waybill.dumps(task, warn_above={LARGE})
    print(len(told))
    waybill.configure(warn_above=None)
    waybill.dumps(task)
    print(len(told))
    """
    assert run(tmp_path, source) == ["0", "1", "1"]


def test_configured_warning_comes_once_for_each_line(tmp_path):
    source = f"""
    warnings.simplefilter("always")
    waybill.configure(warn_above={LARGE})
    for n in range(1000):
        waybill.dumps([task, bytes(n)])
    waybill.dumps(task)
    print(len(told))
    """
    assert run(tmp_path, source) == ["2"]


def test_filter_makes_an_error_of_it_and_nothing_is_lost(tmp_path):
    source = f"""
    warnings.simplefilter("error")
    waybill.save(1, "saved")
    waybill.configure(warn_above={LARGE})
    file = io.BytesIO()
    pickler = waybill.Pickler(file)
    shared = ["shared"]
    pickler.dump(shared)
    before = file.getvalue()
    for number in range(2):
        for send in (
            lambda: waybill.dumps(task),
            lambda: waybill.dump(task, file),
            lambda: waybill.save(task, "saved"),
            lambda: pickler.dump([shared, task]),
        ):
            try:
                send()
            except waybill.SizeWarning:
                print("raised", end=" ")
    print(file.getvalue() == before, waybill.load("saved"), os.listdir())
    pickler.dump([shared])
    print(waybill.loads(waybill.dumps([shared])))
    file.seek(0)
    reader = waybill.Unpickler(file)
    print(reader.load(), reader.load())
    """
    first, *rest = run(tmp_path, source)

    assert first.startswith("raised " * 8 + "True 1 ")
    assert "tmp" not in first
    assert rest == ["[['shared']]", "['shared'] [['shared']]"]


PROGRAMS = {
    "an item of a dict, not the dict too": (
        """
        table = {"rows": [bytes([n % 256]) * 1000 for n in range(3000)], "title": "May"}
        def sent():
            return table  # table
        """,
        ["table['rows'], list of 3000"],
    ),
    "three of four, the largest first": (
        """
        a, b, c, d = [bytes([n]) * (n * 200_000) for n in range(1, 5)]
        def sent():
            return a, b, c, d  # table
        """,
        ["d, bytes", "c, bytes", "b, bytes"],
    ),
    "an attribute, through two functions": (
        """
        class Model:
            def __init__(self):
                self.weights = bytearray(900_000)
        model = Model()
        def helper():
            return model.weights  # table
        def sent():
            return helper()
        """,
        ["model.weights, bytearray"],
    ),
    "what holds the arguments of a reducer": (
        """
        class Frame:
            def __init__(self, *blocks):
                self.blocks = blocks
            def __reduce__(self):
                return Frame, self.blocks
        frame = Frame(bytes(300_000), bytearray(300_000))
        def sent():
            return frame  # table
        """,
        ["frame, __main__.Frame"],
    ),
    "what a closure holds": (
        """
        def make():
            data = bytes(500_000)
            def sent():
                return data  # table
            return sent
        sent = make()
        """,
        ["data, bytes"],
    ),
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_most_telling_parts_are(tmp_path, program):
    source, expected = PROGRAMS[program]
    send = f"\nwaybill.dumps(sent, warn_above={LARGE})\n"

    _, message = run(tmp_path, textwrap.dedent(source) + send + SHOW)

    place = f"{tmp_path / 'program.py'}:{line_of(tmp_path, 'table')}"
    rows = [row.partition(": ")[2] for row in message.split("|")[1:-1]]
    assert rows == [f"{row}, {place}" for row in expected]


def test_explanation_that_fails_leaves_the_size(tmp_path):
    source = f"""
    class Once:
        count = 0
        def __reduce__(self):
            Once.count += 1
            if Once.count > 1:
                raise KeyError("again")
            return bytes, (blob,)
    waybill.dumps(Once(), warn_above={LARGE})
    import waybill._explain.size_warnings as module
    module._explanation = None
    waybill.dumps([task], warn_above={LARGE})
    """
    _, first, _, second = run(tmp_path, source + textwrap.indent(SHOW, " " * 4))

    for message in first, second:
        assert message.startswith("a payload of 400.")
        assert message.endswith("waybill.explain(obj)")
    assert "|" not in second


def test_hooks_of_a_pickler_are_not_called_again(tmp_path):
    source = f"""
    class Counting(waybill.Pickler):
        count = 0
        def persistent_id(self, obj):
            self.count += obj is blob
    pickler = Counting(io.BytesIO(), warn_above={LARGE})
    pickler.dump([blob])
    print(pickler.count, len(told), len(told[0][1].splitlines()))
    """
    assert run(tmp_path, source) == ["1 1 1"]


class Big:
    """Goes as a buffer."""

    def __init__(self):
        self.data = bytearray(LARGE)

    def __reduce_ex__(self, protocol):
        return bytearray, (pickle.PickleBuffer(self.data),)


def test_buffers_that_the_caller_keeps_do_not_count():
    kept = []
    options = {"buffer_callback": kept.append, "warn_above": LARGE}

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        waybill.dumps(Big(), **options)
    with pytest.warns(waybill.SizeWarning, match="a payload of 200.. kB"):
        waybill.dumps([Big(), bytes(2 * LARGE)], **options)
    assert len(kept) == 2


@pytest.mark.parametrize("wrong", [-1, 1.5, "10 MB", True])
def test_what_is_no_number_of_bytes_is_refused(wrong):
    with pytest.raises(ValueError, match="warn_above should be an int"):
        waybill.dumps(1, warn_above=wrong)
    with pytest.raises(ValueError, match="warn_above should be an int"):
        waybill.configure(warn_above=wrong)


def test_explanation_takes_the_options_of_dumps():
    assert waybill.explain([1], warn_above=1).total == len(waybill.dumps([1]))
