# SPDX-License-Identifier: Apache-2.0
"""profile_memory and the allocator of a device: what torch.profiler records in the same run, and CUDA's columns."""

import gzip
import json
import pathlib

import pytest
from built import built
from test_torch_cuda import run_program

pytestmark = pytest.mark.framework("torch")

HERE = pathlib.Path(__file__).parent


def allocator():
    """The built tests/fakes/device_allocator.cc."""
    library = built("src/sources/torch/libdevice_allocator.so")
    if not library.exists():
        pytest.skip(f"the stand-in for a device's allocator was not built: {library}")
    return str(library)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("device_memory")


@pytest.fixture(scope="module")
def both(programs, folder):
    done = programs.run_script(HERE / "device_memory_under_both.py", allocator(), str(folder))
    assert done.status == 0, done.stderr
    return json.loads(done.stdout)


def test_every_report_is_there_with_address_bytes_totals_and_device(both):
    from opscope.torch import features

    theirs, ours = (
        [{k: v for k, v in args.items() if k != "Ev Idx"} for args in side["memory"] if args["Device Type"] == 1]
        for side in both
    )
    if features.behaves("marks_instants_unfinished"):  # the original's slip
        assert [args.pop("finished") for args in theirs] == [False] * len(theirs)
    assert ours == theirs
    assert [(args["Device Id"], args["Bytes"]) for args in ours] == [
        (0, 512),
        (0, 1 << 20),
        (1, 3000),
        (0, -512),
        (0, -64),
        (0, -(1 << 20)),
    ]
    assert {args["Total Reserved"] for args in ours} == {1 << 21}


def test_a_request_without_memory_is_there_with_bytes_totals_and_device(both):
    theirs, ours = (
        [{k: v for k, v in args.items() if k != "finished"} for args in side["out of memory"]] for side in both
    )
    assert ours == theirs
    assert [(args["Device Type"], args["Device Id"], args["Bytes"]) for args in ours] == [(1, 1, 1 << 40)]


@pytest.mark.torch_has("MemRecordsAcc.in_interval(start_ns)")
@pytest.mark.parametrize("what", ["events", "averages"])
def test_operators_and_averages_have_the_bytes_of_the_originals(both, what):
    theirs, ours = (side[what] for side in both)
    assert ours == theirs
    rows = {row[0]: row[-2:] for row in ours}
    assert rows["simulated::outer"] == [3000 + (1 << 20), 0]
    assert rows["simulated::inner"] == [3000 + (1 << 20), 3000 + (1 << 20)]


def test_the_timeline_of_a_device_is_the_originals(both, folder):
    def raw(name):
        with gzip.open(folder / f"{name}.raw.json.gz", "rt") as file:
            return json.load(file)

    def sizes(name):
        return json.loads((folder / f"{name}.timeline.json").read_text())[1]

    theirs, ours = raw("theirs"), raw("ours")
    assert [row[1:] for row in ours] == [row[1:] for row in theirs]
    assert len(ours) >= 5, "what is on the other device is not of this one's"
    assert sizes("ours")[-1] == sizes("theirs")[-1]


def test_tables_have_the_columns_of_cudas_memory():
    table, averages = run_program(f"""
report = ctypes.CDLL({allocator()!r}).ReportIfEnabled
report.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int]
library.define("hold(Tensor a) -> Tensor")
def hold(a):
    report(4096, 3 << 20, 3 << 20, 20 << 20, 0)
    return torch.ops.simulated.scale(a)
library.impl("hold", hold, "CPU")
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], profile_memory=True) as prof:
    torch.ops.simulated.hold(x)
    fake.fake_cuda_device_synchronize(0)
rows = prof.key_averages()
print(json.dumps([rows.table(sort_by="self_cuda_memory_usage"),
                  {{e.key: [e.device_memory_usage, e.self_device_memory_usage] for e in rows}}]))
""")
    assert averages["simulated::hold"] == [3 << 20, 3 << 20]
    header, first = table.splitlines()[1], table.splitlines()[3]
    assert "CUDA Mem  Self CUDA Mem" in " ".join(header.split()).replace("CUDA Mem Self", "CUDA Mem  Self")
    assert first.split()[0] == "simulated::hold"
    assert first.count("3.00 MB") == 2


def test_reports_of_a_device_are_not_recorded_unless_asked_for():
    seen = run_program(f"""
report = ctypes.CDLL({allocator()!r}).ReportIfEnabled
report.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_int]
report.restype = ctypes.c_bool
with profile(activities=[ProfilerActivity.CPU]) as prof:
    told = report(4096, 512, 512, 512, 0)
print(json.dumps([told, len(prof.trace.allocations)]))
""")
    assert seen == [False, 0]
