"""Tensors and arrays of a GPU arrive. Where there is none, nothing of this runs: see
test_map_location.py for what works without.
"""

import io
import os
import subprocess
import sys

import pytest
import waybill

torch = pytest.importorskip("torch")
if not torch.cuda.is_available():
    pytest.skip("there is no GPU", allow_module_level=True)

from waybill._kinds.torch_storages import PIECE  # noqa: E402

GPU = "cuda:0"
SIZES = [0, 1, PIECE // 4 - 1, PIECE // 4, PIECE // 4 + 1, PIECE + 7]


def arrivals(value, path):
    buffers = []
    head = waybill.dumps(value, buffer_callback=buffers.append)
    waybill.save(value, path)
    data = waybill.dumps(value)
    yield waybill.loads(data)
    yield waybill.loads(data, copy=False)
    yield waybill.loads(head, buffers=buffers)
    yield waybill.load(path)
    yield waybill.load(path, mmap=True)
    yield waybill.load(path, mmap="copy")
    yield waybill.load(io.BytesIO(waybill.dumps(value, compress="zstd")))


def run(program, **environment):
    return subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": ":".join(sys.path), **environment},
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("size", SIZES)
def test_tensors_arrive_on_their_device_by_every_way(size, tmp_path):
    tensor = torch.rand(size, device=GPU)

    for arrived in arrivals(tensor, tmp_path / "file"):
        assert (arrived.device, arrived.dtype) == (tensor.device, tensor.dtype)
        assert arrived.equal(tensor)


@pytest.mark.parametrize(
    "kind", ["float16", "bfloat16", "float64", "int8", "bool", "complex64"]
)
def test_every_dtype_arrives(kind):
    tensor = (torch.rand(1000, device=GPU) * 100).to(getattr(torch, kind))

    assert waybill.loads(waybill.dumps(tensor)).equal(tensor)


def test_views_share_their_storage_on_the_device():
    tensor = torch.zeros(100, 100, device=GPU)

    whole, row = waybill.loads(waybill.dumps((tensor, tensor[1])))
    row.fill_(2)

    assert whole.sum().item() == 200


def test_a_tensor_goes_where_map_location_says():
    tensor = torch.rand(100_000, device=GPU)
    data = waybill.dumps(tensor)

    for place in ("cpu", {GPU: "cpu"}, {"cuda": "cpu"}, lambda device: "cpu"):
        arrived = waybill.loads(data, map_location=place)
        assert arrived.device.type == "cpu"
        assert arrived.equal(tensor.cpu())
    moved = waybill.loads(waybill.dumps(tensor.cpu()), map_location=GPU)
    assert moved.equal(tensor)


def test_a_gpu_that_is_not_there_is_named():
    data = waybill.dumps(torch.ones(3, device=GPU))
    number = torch.cuda.device_count()

    with pytest.raises(waybill.DecodeError, match=f"cuda:{number}.*map_location"):
        waybill.loads(data, map_location=f"cuda:{number}")


def test_a_process_without_gpus_reads_on_the_cpu_and_says_so(tmp_path):
    path = tmp_path / "file"
    waybill.save(torch.arange(5.0, device=GPU), path)
    program = f"""
import waybill
print(waybill.load({str(path)!r}, map_location="cpu").tolist())
try:
    waybill.load({str(path)!r})
except waybill.DecodeError as error:
    print(error.code)
"""

    done = run(program, CUDA_VISIBLE_DEVICES="")

    assert done.stdout.split("\n")[:2] == [
        "[0.0, 1.0, 2.0, 3.0, 4.0]",
        "missing_device",
    ], done.stderr


def test_what_a_kernel_still_computes_is_waited_for():
    square = torch.rand(4000, 4000, device=GPU)
    product = square @ square @ square  # Not done when the call returns.
    arrived = waybill.loads(waybill.dumps(product))

    assert arrived.equal(product)


def test_work_of_another_stream_that_is_current_is_waited_for():
    square = torch.rand(4000, 4000, device=GPU)
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        product = square @ square @ square
        data = waybill.dumps(product)
    torch.cuda.synchronize()

    assert waybill.loads(data).equal(product)


def test_a_model_of_the_script_and_its_optimizer_go_on():
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = torch.nn.Sequential(
                torch.nn.Linear(30, 40), torch.nn.ReLU(), torch.nn.Linear(40, 1)
            )

        def forward(self, x):
            return self.layers(x)

    net, x = Net().to(GPU), torch.rand(8, 30, device=GPU)
    optimizer = torch.optim.Adam(net.parameters())
    net(x).sum().backward()
    optimizer.step()

    there, its_optimizer = waybill.loads(waybill.dumps((net, optimizer)))

    assert there(x).equal(net(x))
    for model, optimizes in ((net, optimizer), (there, its_optimizer)):
        optimizes.zero_grad()
        model(x).sum().backward()
        optimizes.step()
    assert its_optimizer.param_groups[0]["params"][0] is next(there.parameters())
    assert there(x).equal(net(x))


def test_a_generator_of_the_device_goes_on():
    generator = torch.Generator(device=GPU)
    generator.manual_seed(3)
    torch.rand(5, device=GPU, generator=generator)

    there = waybill.loads(waybill.dumps(generator))

    assert torch.rand(4, device=GPU, generator=there).equal(
        torch.rand(4, device=GPU, generator=generator)
    )


def test_sparse_and_quantized_tensors_arrive():
    sparse = torch.eye(50, device=GPU).to_sparse()
    rows = torch.eye(50, device=GPU).to_sparse_csr()

    for tensor in (sparse, rows):
        arrived = waybill.loads(waybill.dumps(tensor))
        assert arrived.device == tensor.device
        assert arrived.to_dense().equal(tensor.to_dense())


def test_parts_of_a_file_are_told_and_loaded(tmp_path):
    path = tmp_path / "file"
    net = {"weight": torch.rand(1000, 100, device=GPU), "bias": torch.ones(3)}
    waybill.save(net, path)

    with waybill.open(path) as file:
        part = file["weight"]
        expected = (*("torch.Tensor", "float32"), (1000, 100))
        assert (part.type, part.dtype, part.shape) == expected
        assert part.load().equal(net["weight"])
    with waybill.open(path, map_location="cpu") as file:
        assert file["weight"].load().equal(net["weight"].cpu())


def test_memory_of_the_device_is_freed():
    tensor = torch.rand(1 << 20, device=GPU)
    data = waybill.dumps(tensor)
    before = torch.cuda.memory_allocated()
    for _ in range(5):
        waybill.loads(data)
        waybill.dumps(tensor)

    assert torch.cuda.memory_allocated() == before


def test_arrays_of_cupy_arrive():
    cupy = pytest.importorskip("cupy")
    array = cupy.arange(100_000, dtype="f4").reshape(100, 1000)

    arrived = waybill.loads(waybill.dumps(array))

    assert isinstance(arrived, cupy.ndarray)
    assert (arrived == array).all()


def test_arrays_of_jax_arrive():
    pytest.importorskip("jax")
    program = """
import jax, waybill
array = jax.numpy.arange(1000.0).reshape(10, 100)
arrived = waybill.loads(waybill.dumps(array))
print(isinstance(arrived, jax.Array), arrived.devices() == array.devices(),
      bool((arrived == array).all()), array.devices())
"""

    # In a process of its own: two libraries bring a compiler along.
    done = run(program, XLA_PYTHON_CLIENT_PREALLOCATE="false")

    assert done.stdout.startswith("True True True {CudaDevice"), done.stderr
