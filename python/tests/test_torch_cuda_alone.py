# SPDX-License-Identifier: Apache-2.0
"""``activities=[ProfilerActivity.CUDA]``: torch installs its callbacks only with CPU activity (enableProfiler of
torch/csrc/autograd/profiler_kineto.cpp), so operators, ranges, steps and calls of Python are not recorded."""

import json

import pytest

pytest.importorskip("torch")

from cuda_program import run_program
from kineto_oracle import kineto_events, torchs_events

import opscope

ALONE = """
import threading
from opscope.torch import schedule
from torch.autograd import ProfilerConfig, ProfilerState, _disable_profiler, _enable_profiler, _prepare_profiler

class Module(torch.nn.Module):
    def forward(self, value):
        return torch.ops.simulated.scale(value).relu()

def program():
    module = Module()
    with record_function("a range"):
        module(torch.ones(1000))
        fake.fake_cuda_memset(7, 0, ctypes.c_uint64(4096))
    torch.ones(250) + 1
    fake.fake_cuda_launch(7, b"_Z5alonePf", 30000, 8, 32)
    fake.fake_cuda_device_synchronize(0)

def alone(**options):
    with profile(activities=[ProfilerActivity.CUDA], **options) as prof:
        program()
        if "schedule" in options:
            prof.step()
    return prof

def theirs(*asked):
    flags = [name in asked for name in ("record_shapes", "profile_memory", "with_stack", "with_flops", "with_modules")]
    config = ProfilerConfig(ProfilerState.KINETO, *flags, torch._C._profiler._ExperimentalConfig(), "an id")
    _prepare_profiler(config, {ProfilerActivity.CUDA})
    _enable_profiler(config, {ProfilerActivity.CUDA})
    program()
    return _disable_profiler()
"""


def ran(script):
    return run_program(ALONE + script)


@pytest.mark.parametrize(
    "options",
    [
        "",
        "record_shapes=True, with_flops=True",
        "with_stack=True, with_modules=True",
        "schedule=schedule(wait=0, warmup=0, active=1, repeat=1)",
        "experimental_config=torch._C._profiler._ExperimentalConfig(profile_all_threads=True, verbose=True)",
    ],
)
def test_what_the_device_did_and_calls_of_cuda_are_left(options, tmp_path):
    path = tmp_path / "alone.json"
    names, categories = ran(f"""
prof = alone({options})
prof.export_chrome_trace({str(path)!r})
trace = prof.profiler.trace
print(json.dumps([sorted(e.name for e in prof.events()), sorted(set(trace.spans.text("category")))]))
""")
    assert names == sorted(
        ["scale(float*)", "alone(float*)", "Memset (Device)", "cudaMemsetAsync", "cudaDeviceSynchronize"]
        + ["cudaLaunchKernel"] * 2
    )
    assert categories == ["cuda_runtime", "gpu_memset", "kernel"]
    rows = json.loads(path.read_text())["traceEvents"]
    assert {row["cat"] for row in rows if row["ph"] == "X"} == {*categories, "Trace"}
    assert not any("External id" in row.get("args", {}) for row in rows)


def test_its_tables_are_torchs(tmp_path):
    path = tmp_path / "alone.json"
    start_ns, table = ran(f"""
prof = alone()
prof.export_chrome_trace({str(path)!r})
print(json.dumps([prof.profiler.kineto_results.trace_start_ns(), prof.key_averages().table(sort_by="cuda_time_total")]))
""")
    events = torchs_events(kineto_events(path), start_ns)
    assert table == events.key_averages().table(sort_by="cuda_time_total")
    assert "Self CUDA time total: " in table


@pytest.mark.parametrize("options", ["", "profile_memory", "profile_memory,record_shapes,with_stack"])
def test_of_the_host_it_has_what_torch_has(options, tmp_path):
    """torch's profiler itself, given CUDA alone as enableProfiler gets it, on the same program."""
    path = tmp_path / "alone.json"
    theirs, ours, categories = ran(f"""
asked = {[name for name in options.split(",") if name]!r}
def of_host(results):
    rows = [(e.name(), e.nbytes()) for e in results.events() if e.device_type() == DeviceType.CPU]
    return [row for row in rows if not row[0].startswith("cuda")]

program()  # what is done once is done
expected = of_host(theirs(*asked))
prof = alone(**{{name: True for name in asked}})
prof.export_chrome_trace({str(path)!r})
categories = sorted({{e["cat"] for e in json.load(open({str(path)!r}))["traceEvents"] if "cat" in e}})
print(json.dumps([expected, of_host(prof.profiler.kineto_results), categories]))
""")
    assert ours == theirs
    assert (len(ours) > 5) == bool(options)
    assert not {"cpu_op", "user_annotation", "cpu_instant_event", "python_function"} & set(categories)


def of_the_window(path):
    """What stands around the events in a file: the span of the window, its instants, names and order of the process."""
    rows = json.loads(path.read_text())["traceEvents"]
    pids = {row["pid"] for row in rows if row["ph"] == "M" and row["args"].get("labels") == "CPU"}
    assert len(pids) == 1
    shown = [row for row in rows if row["pid"] in {*pids, "Spans", "Traces", ""}]
    of_process = ("process_name", "process_labels", "process_sort_index")
    return [
        {key: value for key, value in row.items() if key not in ("ts", "dur")}
        for row in shown
        if row["ph"] == "i" or row.get("cat") == "Trace" or row["name"] in of_process
    ]


@pytest.mark.parametrize("saved", [False, True])
def test_its_file_has_kinetos_span_of_the_window(saved, tmp_path):
    ours, theirs, recording = tmp_path / "ours.json", tmp_path / "theirs.json", tmp_path / "alone.opscope"
    ran(f"""
theirs().save({str(theirs)!r})
prof = alone()
prof.save({str(recording)!r})
prof.export_chrome_trace({str(ours)!r})
print(0)
""")
    if saved:
        opscope.open(recording).export(ours, to="chrome")
    assert of_the_window(ours) == of_the_window(theirs)
    rows = json.loads(ours.read_text())["traceEvents"]
    window = next(row for row in rows if row.get("cat") == "Trace")
    works = [row for row in rows if row["ph"] == "X" and row is not window]
    assert len(works) == 7
    for row in works:
        assert window["ts"] <= row["ts"] and row["ts"] + row["dur"] <= window["ts"] + window["dur"] + 0.001


def test_toggling_cpu_activity_records_nothing_of_it():
    names, activities, use_cpu = ran("""
with profile(activities=[ProfilerActivity.CUDA], profile_memory=True) as prof:
    prof.toggle_collection_dynamic(True, [ProfilerActivity.CPU])
    program()
print(json.dumps([sorted({e.name for e in prof.events() if not e.name.startswith("cuda")}),
                  [a.name for a in prof.profiler.kineto_activities], prof.profiler.use_cpu]))
""")
    assert names == ["Memset (Device)", "[memory]", "alone(float*)", "scale(float*)"]
    assert activities == ["CUDA"]
    assert use_cpu is False


def test_a_filter_of_the_cpus_types_leaves_the_device_in_the_file(tmp_path):
    path = tmp_path / "filtered.json"
    ran(f"""
with profile(activities=[{{ProfilerActivity.CPU: ["CPU_OP"]}}, ProfilerActivity.CUDA]) as prof:
    program()
prof.export_chrome_trace({str(path)!r})
print(0)
""")
    rows = json.loads(path.read_text())["traceEvents"]
    categories = {row["cat"] for row in rows if row["ph"] == "X"} - {"Trace"}
    assert categories == {"cpu_op", "cuda_runtime", "kernel", "gpu_memset", "gpu_user_annotation"}
