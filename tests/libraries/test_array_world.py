"""Objects of the array world arrive in a fresh process by every way that buffers take.

One process for each library: its import takes longer than all of its cases."""

import pickle

import fresh_process
import pytest
import waybill

#: What a case is made of, what has to be imported for it, and what tells that two of them
#: are equal: `a` is what was sent, `b` what arrived.
NUMPY = "import numpy as np"
SAME_ARRAY = (
    "type(a) is type(b) and a.dtype == b.dtype and a.shape == b.shape and "
    "a.flags.f_contiguous == b.flags.f_contiguous and np.array_equal(a, b)"
)
PANDAS = "import numpy as np, pandas as pd"
SAME_FRAME = "(pd.testing.assert_frame_equal(a, b), True)[1]"
SCIPY = "import numpy as np, scipy.sparse as sp"
SAME_SPARSE = "type(a) is type(b) and a.shape == b.shape and (a != b).nnz == 0"
TORCH = "import torch"
SAME_TENSOR = (
    "a.dtype == b.dtype and a.stride() == b.stride() and torch.equal(a, b) and "
    "a.requires_grad == b.requires_grad"
)
ARROW = "import numpy as np, pyarrow as pa"
JAX = "import jax, jax.numpy as jnp, numpy as np"
SAME_JAX = "type(a) is type(b) and a.dtype == b.dtype and bool((a == b).all())"
POLARS = "import numpy as np, polars as pl"
ROWS = "np.arange(30_000)"

CASES = {
    **{
        f"numpy {kind}": (NUMPY, f"np.arange(100_000).astype('{kind}')", SAME_ARRAY)
        for kind in (
            "?",
            "i1",
            "u2",
            "i4",
            "u8",
            "f2",
            "f4",
            "f8",
            "g",
            "F",
            "D",
            ">f8",
        )
    },
    "numpy dates": (NUMPY, "np.arange(100_000).astype('M8[s]')", SAME_ARRAY),
    "numpy differences": (NUMPY, "np.arange(100_000).astype('m8[ms]')", SAME_ARRAY),
    "numpy bytes": (NUMPY, f"{ROWS}.astype('S7')", SAME_ARRAY),
    "numpy text": (NUMPY, f"{ROWS}.astype('U7')", SAME_ARRAY),
    "numpy void": (NUMPY, f"{ROWS}.view('V8')", SAME_ARRAY),
    "numpy objects": (NUMPY, f"{ROWS}.astype(object)", SAME_ARRAY),
    "numpy structured": (
        NUMPY,
        "np.zeros(20_000, [('a', 'f8'), ('b', 'i4', 3), ('c', 'S3')])",
        SAME_ARRAY,
    ),
    "numpy padded": (
        NUMPY,
        "np.zeros(20_000, np.dtype([('a', 'i1'), ('b', 'f8')], align=True))",
        SAME_ARRAY,
    ),
    "numpy fortran": (NUMPY, "np.asfortranarray(np.ones((300, 400)))", SAME_ARRAY),
    "numpy transposed": (NUMPY, "np.arange(90_000.).reshape(300, 300).T", SAME_ARRAY),
    "numpy strided": (NUMPY, "np.arange(200_000.)[::2]", SAME_ARRAY),
    "numpy reversed": (NUMPY, "np.arange(100_000.)[::-1]", SAME_ARRAY),
    "numpy broadcast": (
        NUMPY,
        "np.broadcast_to(np.arange(300.), (300, 300))",
        SAME_ARRAY,
    ),
    "numpy five dimensions": (NUMPY, "np.ones((10, 9, 8, 7, 20))", SAME_ARRAY),
    "numpy no dimension": (NUMPY, "np.array(5.5)", SAME_ARRAY),
    "numpy empty": (NUMPY, "np.zeros((0, 3))", SAME_ARRAY),
    "numpy matrix": (NUMPY, "np.asmatrix(np.ones((300, 300)))", SAME_ARRAY),
    "numpy records": (
        NUMPY,
        "np.rec.fromarrays([np.arange(9000), np.arange(9000.)], names='a,b')",
        SAME_ARRAY,
    ),
    "numpy masked": (
        NUMPY,
        "np.ma.masked_greater(np.arange(100_000.), 5)",
        "(a.mask == b.mask).all() and np.ma.allequal(a, b)",
    ),
    "numpy scalars": (NUMPY, "[np.float32(1.5), np.int8(3), np.str_('x')]", "a == b"),
    "numpy twice": (
        NUMPY,
        "[np.ones(100_000)] * 2",
        "b[0] is b[1] and np.array_equal(a[0], b[0])",
    ),
    "numpy nested": (
        NUMPY,
        "{'x': [np.ones(50_000), (np.zeros(50_000, 'u1'), 'text')], 1: b'z' * 90_000}",
        "np.array_equal(a['x'][0], b['x'][0]) and a[1] == b[1] and "
        "np.array_equal(a['x'][1][0], b['x'][1][0]) and b['x'][1][1] == 'text'",
    ),
    "numpy views": (
        NUMPY,
        "(lambda a: [a[3:], a, a.T, a[:, 5]])(np.arange(90_000.).reshape(300, 300))",
        "all(map(np.array_equal, a, b))",
    ),
    "array module": ("import array", "array.array('d', range(50_000))", "a == b"),
    "memoryview": ("", "memoryview(bytes(range(256)) * 500)", "a == b"),
    "bytes": ("", "bytes(range(256)) * 500", "a == b and type(b) is bytes"),
    "bytearray": ("", "bytearray(range(256)) * 500", "a == b and type(b) is bytearray"),
    "pandas frame": (
        PANDAS,
        f"pd.DataFrame({{'a': {ROWS}, 'b': {ROWS} * 0.5, 'c': {ROWS} % 2 == 0}})",
        SAME_FRAME,
    ),
    "pandas frame and column": (
        PANDAS,
        f"(lambda f: [f, f['a']])(pd.DataFrame({{'a': {ROWS} * 1.0, 'b': {ROWS}}}))",
        "(pd.testing.assert_frame_equal(a[0], b[0]), "
        "pd.testing.assert_series_equal(a[1], b[1]), "
        "not np.shares_memory(b[0]['a'], b[1]))[2]",
    ),
    "pandas text": (
        PANDAS,
        "pd.DataFrame({'a': [f'text {i}' for i in range(20_000)], 'b': 1})",
        SAME_FRAME,
    ),
    "pandas categories": (
        PANDAS,
        f"pd.DataFrame({{'a': pd.Categorical({ROWS} % 7), 'b': {ROWS}}})",
        SAME_FRAME,
    ),
    "pandas dates": (
        PANDAS,
        "pd.DataFrame({'a': range(20_000)}, "
        "index=pd.date_range('2026-01-01', periods=20_000, freq='min', tz='UTC'))",
        SAME_FRAME,
    ),
    "pandas nullable": (
        PANDAS,
        "pd.DataFrame({'a': pd.array([1, None] * 20_000, dtype='Int64')})",
        SAME_FRAME,
    ),
    "pandas levels": (
        PANDAS,
        "pd.DataFrame({'a': np.arange(20_000.)}, "
        "index=pd.MultiIndex.from_product([range(200), range(100)]))",
        SAME_FRAME,
    ),
    "pandas sparse": (
        PANDAS,
        "pd.DataFrame({'a': pd.arrays.SparseArray(np.arange(50_000) % 9 == 0)})",
        SAME_FRAME,
    ),
    "pandas series": (
        PANDAS,
        f"pd.Series({ROWS}, name='n')",
        "(pd.testing.assert_series_equal(a, b), True)[1]",
    ),
    **{
        f"scipy {kind}": (
            SCIPY,
            f"sp.random_array((900, 900), density=0.1, rng=1, format='{kind}')",
            SAME_SPARSE,
        )
        for kind in ("csr", "csc", "coo", "bsr", "dia", "lil", "dok")
    },
    **{
        f"torch {kind}": (TORCH, f"torch.arange(60_000).to(torch.{kind})", SAME_TENSOR)
        for kind in ("float32", "float64", "bfloat16", "float16", "int8", "bool")
    },
    "torch strided": (
        TORCH,
        "torch.arange(90_000.).reshape(300, 300).T[1:]",
        SAME_TENSOR,
    ),
    "torch gradient": (TORCH, "torch.ones(50_000, requires_grad=True)", SAME_TENSOR),
    "torch parameters": (
        TORCH,
        "torch.nn.Linear(300, 300).state_dict()",
        "a.keys() == b.keys() and all(torch.equal(a[k], b[k]) for k in a)",
    ),
    "torch model": (
        TORCH,
        "torch.nn.Sequential(torch.nn.Linear(300, 300), torch.nn.ReLU())",
        "torch.equal(a(torch.ones(300)), b(torch.ones(300)))",
    ),
    "torch tied": (
        TORCH,
        "(lambda t: [t, t[10:], t.view(torch.int32)])(torch.ones(50_000))",
        "torch.equal(a[1], b[1]) and "
        "b[0].untyped_storage().data_ptr() == b[2].untyped_storage().data_ptr()",
    ),
    "pyarrow table": (
        ARROW,
        f"pa.table({{'a': {ROWS}, 'b': {ROWS} * 0.5, 'c': ['text'] * 30_000}})",
        "a.equals(b)",
    ),
    "pyarrow nulls": (ARROW, "pa.array([1, None, 3] * 30_000)", "a.equals(b)"),
    "pyarrow slice": (ARROW, f"pa.array({ROWS})[5:20_000]", "a.equals(b)"),
    "pyarrow dictionary": (
        ARROW,
        f"pa.chunked_array([pa.array({ROWS} % 9).dictionary_encode()] * 2)",
        "a.equals(b)",
    ),
    "pyarrow lists": (
        ARROW,
        "pa.array([{'x': [1, 2], 'y': 'z'}] * 9000)",
        "a.equals(b)",
    ),
    "pandas on arrow": (
        f"{PANDAS}, pyarrow",
        "pd.DataFrame({'a': pd.array([1, None] * 20_000, dtype='int64[pyarrow]')})",
        SAME_FRAME,
    ),
    "polars frame": (
        POLARS,
        f"pl.DataFrame({{'a': {ROWS}, 'b': {ROWS} * 0.5, 'c': {ROWS} % 2 == 0}})",
        "a.equals(b)",
    ),
    "polars text": (
        POLARS,
        "pl.DataFrame({'a': ['text', None] * 20_000})",
        "a.equals(b)",
    ),
    "polars categories": (
        POLARS,
        "pl.Series(['x', 'y'] * 20_000, dtype=pl.Categorical)",
        "a.equals(b)",
    ),
    "polars lazy": (
        POLARS,
        f"pl.DataFrame({{'a': {ROWS}}}).lazy().filter(pl.col('a') > 5)",
        "a.collect().equals(b.collect())",
    ),
    "torch generator": (TORCH, "torch.get_rng_state()", "torch.equal(a, b)"),
    "jax array": (JAX, "jnp.arange(100_000.0).reshape(100, 1000)", SAME_JAX),
    "jax integers": (JAX, "jnp.arange(100_000)", SAME_JAX),
    "jax bfloat16": (JAX, "jnp.ones((300, 300), jnp.bfloat16)", SAME_JAX),
    "jax no dimension": (JAX, "jnp.float32(1.5)", SAME_JAX),
    "jax key": (
        JAX,
        "jax.random.key(3)",
        "a.dtype == b.dtype and "
        "bool((jax.random.key_data(a) == jax.random.key_data(b)).all())",
    ),
    "jax tree": (
        JAX,
        "{'w': jnp.ones((200, 200)), 'layers': [jnp.arange(5), np.ones(90_000)]}",
        "bool((a['w'] == b['w']).all()) and np.array_equal(a['layers'][1], "
        "b['layers'][1]) and bool((a['layers'][0] == b['layers'][0]).all())",
    ),
}

RECEIVER = """
import io, pickle, sys, traceback
import waybill
{imports}
wrong = []
for number, name, same, by_pickle in {cases}:
    path = sys.argv[1] + "/" + str(number)
    with open(path + ".apart", "rb") as file:
        head, buffers = pickle.load(file)
    data = open(path, "rb").read()
    ways = {{
        "in band": lambda: waybill.loads(data),
        "view": lambda: waybill.loads(data, copy=False),
        "out of band": lambda: waybill.loads(head, buffers=buffers),
        "file": lambda: waybill.load(path),
        "stream": lambda: waybill.load(io.BytesIO(data)),
        "mapped": lambda: waybill.load(path, mmap=True, check="now"),
        "mapped copy": lambda: waybill.load(path, mmap="copy"),
        "compressed": lambda: waybill.load(path + ".zstd"),
        "compressed mapped": lambda: waybill.load(path + ".zstd", mmap=True),
        "part": lambda: waybill.open(path + ".part")["x"][1].load(),
        "part copy": lambda: waybill.open(path + ".part", mmap="copy")["x"][1].load(),
    }}
    a = pickle.load(open(path + ".copy", "rb")) if by_pickle else ways["in band"]()
    for way, load in ways.items():
        try:
            b = load()
            if not eval(same):
                wrong.append((name, way, "differs"))
        except Exception:
            wrong.append((name, way, traceback.format_exc()[-300:]))
print(wrong)
"""


def made(imports, text):
    scope = {}
    exec(imports, scope)
    return eval(text, scope)


def write(value, path):
    """A payload, the same with its buffers apart, and what pickle makes of the object;
    answers whether pickle can."""
    buffers = []
    head = waybill.dumps(value, buffer_callback=buffers.append)
    waybill.save(value, path, durable=False, environment=False)
    assert path.read_bytes() == waybill.dumps(value)
    waybill.save(value, path.with_suffix(".zstd"), durable=False, compress="zstd")
    around = {"shared": value, "x": [0, value], "f": lambda: 1}
    waybill.save(around, path.with_suffix(".part"), durable=False)
    held = head, [bytearray(buffer.raw()) for buffer in buffers]
    path.with_suffix(".apart").write_bytes(pickle.dumps(held))
    try:
        copy = pickle.dumps(value, 5)
    except TypeError:  # A memoryview.
        return False
    path.with_suffix(".copy").write_bytes(copy)
    return True


@pytest.mark.parametrize("imports", dict.fromkeys(case[0] for case in CASES.values()))
def test_they_arrive_by_every_way(imports, tmp_path):
    try:
        exec(imports, {})
    except ImportError as missing:
        pytest.skip(str(missing))
    cases = []
    for number, (name, (needs, text, same)) in enumerate(CASES.items()):
        if needs != imports:
            continue
        by_pickle = write(made(imports, text), tmp_path / str(number))
        cases.append((number, name, same, by_pickle))
    program = RECEIVER.format(imports=imports, cases=cases)
    told = fresh_process.run_script(program, tmp_path, flags=("-W", "ignore"))
    assert told == "[]\n"
