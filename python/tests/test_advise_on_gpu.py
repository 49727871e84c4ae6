# SPDX-License-Identifier: Apache-2.0
"""`advise` finds faults of devices that are planted in real programs on a simulated GPU, and nothing in their clean
twin."""

import pytest
from cuda_program import run_program

pytestmark = pytest.mark.framework("torch")

SCRIPT = r"""
import tempfile, time
import opscope
from opscope.torch import schedule

MS, STEPS = 1_000_000, 6
GEMM, SMALL = b"ampere_sgemm_128x64_nn", b"vectorized_elementwise_kernel"
ALL_REDUCE = b"ncclDevKernel_AllReduce_Sum_f32_RING_LL"

def launch(name, duration_ns, times=1):
    for _ in range(times):
        fake.fake_cuda_launch(7, name, duration_ns, 8, 128)

def clean():  # the device is never out of work
    launch(GEMM, 3 * MS, 12)
    time.sleep(0.02)

def sync_points():
    for _ in range(5):
        launch(GEMM, 2 * MS)
        fake.fake_cuda_device_synchronize(0)
        time.sleep(0.004)

def launch_bound():
    for _ in range(5):
        launch(GEMM, MS)
        time.sleep(0.005)

def small_ops():
    launch(SMALL, MS // 4, 100)
    launch(GEMM, 3 * MS, 3)
    time.sleep(0.015)

def host_device_copies():
    fake.fake_cuda_memcpy(7, 1, 1, 3, ctypes.c_uint64(200_000_000), 1)
    launch(GEMM, 3 * MS, 9)
    time.sleep(0.015)

def exposed_communication():
    launch(GEMM, 3 * MS, 6)
    launch(ALL_REDUCE, 15 * MS)
    time.sleep(0.015)

def device_allocations():
    launch(GEMM, 3 * MS, 6)
    fake.fake_cuda_malloc.restype = ctypes.c_uint64
    fake.fake_cuda_free(ctypes.c_uint64(fake.fake_cuda_malloc(0, ctypes.c_uint64(1 << 20))))

found = {}
for step in (clean, sync_points, launch_bound, small_ops, host_device_copies, exposed_communication,
             device_allocations):
    recorded = schedule(wait=0, warmup=1, active=STEPS + 1, repeat=1)
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], schedule=recorded) as prof:
        for _ in range(1 + STEPS):
            step()
            prof.step()
        fake.fake_cuda_device_synchronize(0)
    with tempfile.TemporaryDirectory() as folder:
        prof.save(folder + "/run.opscope")
        rows = opscope.open(folder + "/run.opscope").advise()
    found[step.__name__] = {row["kind"]: row["saving_ns"] for row in rows}
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def found():
    return run_program(SCRIPT)


def test_a_clean_program_has_no_finding(found):
    assert found["clean"] == {}


# What a step loses at least, in ms; at most it may take the time for which the busy machine lets it wait.
@pytest.mark.parametrize(
    ("kind", "least_ms"),
    [
        ("sync_points", 16),
        ("launch_bound", 16),
        ("small_ops", 20),
        ("host_device_copies", 6),
        ("exposed_communication", 12),
        ("device_allocations", 10),
    ],
)
def test_a_planted_fault_is_found(found, kind, least_ms):
    assert found[kind].get(kind, 0) > least_ms * 1_000_000, found[kind]


# A fault of one kind must not be blamed on another one.
@pytest.mark.parametrize(
    "kind", ["sync_points", "launch_bound", "small_ops", "host_device_copies", "exposed_communication"]
)
def test_only_the_planted_fault_is_found(found, kind):
    assert list(found[kind]) == [kind]
