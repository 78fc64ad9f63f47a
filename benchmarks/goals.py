"""The goals of this project: a peer's figure divided by ours, for rows by name."""

import re

# For every row that this peer can do; see capability.py.
EVERYWHERE = {"pyfory": 1}

DUMPS_OF_DATA = "(records|floats|strings|nested lists|dataclasses|big dict): dumps"
LOADS_OF_DATA = DUMPS_OF_DATA.replace("dumps", "loads")

#: The first pattern that matches "group: work" applies.
GOALS = (
    (r"programs: .* prepared: dumps", {"cloudpickle": 150, "msgpack": 1 / 1.5}),
    (r"programs: tasks over .*: dumps", {"cloudpickle": 50}),
    (r"programs: tasks with .*: dumps", {"cloudpickle": 40}),
    (r"programs: functions .*: dumps", {"cloudpickle": 60}),
    (r"programs: a bare .*: dumps", {"cloudpickle": 45}),
    (r"programs: instances .*: dumps", {"cloudpickle": 30}),
    (r"programs: tasks .*: loads", {"cloudpickle": 8}),
    (r"programs: .*function.*: loads", {"cloudpickle": 15}),
    (r"programs: instances .*: loads", {"cloudpickle": 20}),
    (r"functions: dumps, names 3 modules", {"cloudpickle": 60, "marshal": 1 / 0.6}),
    (r"functions: .*, \d{3} loaded", {"cloudpickle": 200}),
    (r"functions: .*, 3 188 loaded", {"cloudpickle": 2_000}),
    (r"functions: .*, 30 188 loaded", {"cloudpickle": 20_000}),
    (r"functions: .*tasks, dumps", {"cloudpickle": 40}),
    (r"callables: function, 3 packages: dumps, new code", {"cloudpickle": 10}),
    (r"callables: function, 3 packages: loads, new code", {"cloudpickle": 6}),
    (r"callables: function, 3 packages: loads", {"cloudpickle": 20}),
    (r"callables: function.*: size", {"cloudpickle": 2}),
    (r"callables: (class|its instance): (dumps|loads)", {"cloudpickle": 15}),
    (f"data: {DUMPS_OF_DATA}", {"pickle": 1.5}),
    (f"data: {LOADS_OF_DATA}", {"pickle": 1.2}),
    (r"data: .*: size", {"pickle": 1}),
    (r"arrays: \d+ MB array: ", {"pickle": 0.95}),
    (r"arrays: .*: save", {"joblib": 1, "numpy.savez": 1}),
    (r"arrays: .*: first array", {"safetensors": 0.5}),
    (r"process: import", {"cloudpickle": 2.5}),
)


def goals_of(row):
    """{peer: ratio} for the peers of a row that have a goal."""
    name = f"{row['group']}: {row['work']}"
    named = next((goal for pattern, goal in GOALS if re.match(pattern, name)), {})
    wanted = EVERYWHERE | named
    return {peer: ratio for peer, ratio in wanted.items() if peer in row["figures"]}


def has_own_goals(row):
    """Whether a row has other goals than EVERYWHERE."""
    return bool(row["goals"].keys() - EVERYWHERE.keys())
