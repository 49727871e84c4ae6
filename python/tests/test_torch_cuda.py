# SPDX-License-Identifier: Apache-2.0
"""ProfilerActivity.CUDA on a libcupti with a simulated GPU: tables, files, and the words where CUDA is not recorded."""

import json
import os
import subprocess
import sys

import pytest

pytest.importorskip("torch")

from cuda_program import FAKE, run_program

import opscope


def test_operators_have_the_time_of_the_kernels_that_they_launched():
    rows = run_program("""
events = run().key_averages()
print(json.dumps({e.key + ("" if e.device_type == DeviceType.CPU else " on the device"):
                  [e.device_time_total, e.self_device_time_total, e.count] for e in events}))
""")
    assert rows["simulated::scale"][:2] == pytest.approx([70.0, 70.0])
    assert rows["scale(float*) on the device"] == pytest.approx([70.0, 70.0, 1])
    assert rows["alone(float*) on the device"] == pytest.approx([30.0, 30.0, 1])
    assert rows["Memcpy HtoD (Pageable -> Device) on the device"][2] == 1
    assert rows["a range"] == pytest.approx([70.0, 0.0, 1])
    assert rows["a range on the device"] == pytest.approx([70.0, 70.0, 1])


def test_tables_have_the_columns_of_the_device():
    table = run_program("""
prof = run()
print(json.dumps(prof.key_averages().table(sort_by="cuda_time_total")))
""")
    assert "Self CUDA %" in table
    assert "CUDA time avg" in table
    assert "Self CUDA time total: " in table


def test_files_have_what_kinetos_have(tmp_path):
    path = tmp_path / "trace.json"
    run_program(f"run().export_chrome_trace({str(path)!r}); print(0)")
    document = json.loads(path.read_text())
    by_category = {}
    for event in document["traceEvents"]:
        by_category.setdefault(event.get("cat"), []).append(event)
    kernel = next(event for event in by_category["kernel"] if event["name"] == "scale(float*)")
    operator = next(event for event in by_category["cpu_op"] if event["name"] == "simulated::scale")
    call = next(
        event for event in by_category["cuda_runtime"] if event["args"]["correlation"] == kernel["args"]["correlation"]
    )
    assert (kernel["pid"], kernel["tid"], kernel["dur"]) == (0, 7, 70.0)
    assert kernel["args"]["External id"] == operator["args"]["External id"] == call["args"]["External id"]
    assert kernel["args"]["grid"] == [640, 1, 1]
    assert kernel["args"]["est. achieved occupancy %"] > 0
    assert operator["ts"] <= call["ts"] <= kernel["ts"]
    ends = {(event["ph"], event["pid"]) for event in by_category["ac2g"] if event["id"] == call["args"]["correlation"]}
    assert ends == {("s", call["pid"]), ("f", 0)}
    copy = by_category["gpu_memcpy"][0]
    assert copy["args"]["bytes"] == 4096
    assert copy["args"]["memory bandwidth (GB/s)"] == pytest.approx(4096 / (copy["dur"] * 1000))
    annotation = by_category["gpu_user_annotation"][0]
    assert annotation["name"] == "a range"
    assert annotation["dur"] == pytest.approx(70.002)
    assert document["deviceProperties"][0]["name"] == "Simulated GPU"
    assert document["cupti_version"] > 0
    labels = {
        event["pid"]: event["args"]["labels"] for event in document["traceEvents"] if event["name"] == "process_labels"
    }
    assert labels[0] == "GPU 0"


def test_a_file_that_is_read_again_has_the_same_device(tmp_path):
    first, again = tmp_path / "first.json", tmp_path / "again.json"
    same = run_program(f"""
import opscope
prof = run()
prof.export_chrome_trace({str(first)!r})
opscope.open({str(first)!r}).export({str(again)!r}, to="chrome")
def device(path):
    kinds = ("kernel", "gpu_", "cuda_", "ac2g")
    rows = [e for e in json.load(open(path))["traceEvents"] if str(e.get("cat", "")).startswith(kinds)]
    return sorted(json.dumps(row, sort_keys=True) for row in rows)
print(json.dumps([device({str(first)!r}) == device({str(again)!r}), len(device({str(first)!r}))]))
""")
    assert same[0]
    assert same[1] >= 10


def test_power_and_clocks_are_counters_of_the_device(tmp_path):
    first, saved, again = tmp_path / "first.json", tmp_path / "saved.opscope", tmp_path / "again.json"
    run_program(
        f"""
import opscope
fake.fake_cupti_calls.restype = ctypes.c_uint64
with profile(activities=[ProfilerActivity.CUDA]) as prof:
    torch.ops.simulated.scale(x)
    fake.fake_cuda_device_synchronize(0)
    while fake.fake_cupti_calls(b"nvmlDeviceGetPowerUsage") < 5:
        pass
prof.export_chrome_trace({str(first)!r})
prof.save({str(saved)!r})
opscope.open({str(saved)!r}).export({str(again)!r}, to="chrome")
print(0)
""",
        scenario="devices=2",
    )
    counters = [e for e in json.loads(first.read_text())["traceEvents"] if e["ph"] == "C"]
    of = {(e["name"], e["pid"]): [] for e in counters}
    for e in counters:
        of[e["name"], e["pid"]].append(*e["args"].values())
    assert set(of) == {(name, device) for name in ("GPU power (W)", "GPU SM clock (MHz)") for device in (0, 1)}
    assert of["GPU power (W)", 0][:2] == [300, 301]
    assert of["GPU power (W)", 1][:2] == [400, 401]
    assert of["GPU SM clock (MHz)", 1][:2] == [1980, 1965]
    assert [e for e in json.loads(again.read_text())["traceEvents"] if e["ph"] == "C"] == counters
    opscope.open(first).export(tmp_path / "third.json", to="chrome")
    third = json.loads((tmp_path / "third.json").read_text())["traceEvents"]
    assert [e for e in third if e["ph"] == "C"] == counters


@pytest.mark.parametrize(
    ("scenario", "words"),
    [
        ("version=12.9;driver=none", "no driver"),
        ("version=13.5;driver=none", "no driver"),
        ("fail=cuptiActivityEnable(10):35", "permission"),
        ("version=13.5;holder=recording", "in use"),
    ],
)
def test_what_is_not_recorded_is_said_once_and_the_rest_is_kept(scenario, words):
    told, problems, operators = run_program(
        """
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    prof = run()
trace = prof.profiler.trace
problems = dict(zip(trace.problems.text("kind"), trace.problems.text("message")))
told = [str(w.message) for w in caught if issubclass(w.category, UserWarning) and "CUDA" in str(w.message)]
print(json.dumps([told, problems, [e.key for e in prof.key_averages()]]))
""",
        scenario=scenario,
    )
    assert len(told) == 1
    assert words in told[0]
    assert words in problems["device_not_recorded"]
    assert "simulated::scale" in operators


@pytest.mark.parametrize("profiled_before", [False, True])
def test_a_profiler_of_torch_that_is_over_is_no_obstacle_where_cupti_cannot_be_asked(profiled_before):
    told, kernels = run_program(
        f"""
if {profiled_before}:
    with torch.profiler.profile(activities=[ProfilerActivity.CPU]):
        x + x
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    prof = run()
print(json.dumps([[str(w.message) for w in caught if "CUDA" in str(w.message)],
                  [e.key for e in prof.key_averages() if e.device_type != DeviceType.CPU]]))
""",
        scenario="version=13.0;holder=idle",
    )
    if profiled_before:
        assert told == []
        assert "scale(float*)" in kernels
    else:
        assert len(told) == 1
        assert "in use" in told[0]
        assert kernels == []


def test_a_profiler_of_torch_that_records_is_one():
    told = run_program(
        """
with torch.profiler.profile(activities=[ProfilerActivity.CPU]):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        run()
print(json.dumps([str(w.message) for w in caught if "CUDA" in str(w.message)]))
""",
        scenario="version=13.0;holder=idle",
    )
    assert len(told) == 1
    assert "in use" in told[0]


@pytest.mark.framework("torch")
@pytest.mark.torch_has("LegacyProfile.toggle_collection_dynamic")
def test_cuda_is_toggled_without_the_operators_and_they_without_cuda():
    operators, kernels = run_program("""
cpu, cuda = [ProfilerActivity.CPU], [ProfilerActivity.CUDA]
with profile(activities=cpu + cuda) as prof:
    fake.fake_cuda_launch(7, b"before", 1000, 8, 32)
    prof.toggle_collection_dynamic(False, cuda)
    x.neg()
    fake.fake_cuda_launch(7, b"meanwhile", 1000, 8, 32)
    prof.toggle_collection_dynamic(True, cuda)
    prof.toggle_collection_dynamic(False, cpu)
    x.abs()
    fake.fake_cuda_launch(7, b"without_operators", 1000, 8, 32)
    prof.toggle_collection_dynamic(False, cuda)
    fake.fake_cuda_launch(7, b"nothing", 1000, 8, 32)
    prof.toggle_collection_dynamic(True, cpu + cuda)
    x.sign()
    fake.fake_cuda_launch(7, b"after", 1000, 8, 32)
    fake.fake_cuda_device_synchronize(0)
names = [[e.name for e in prof.events() if (e.device_type == DeviceType.CPU) == is_cpu] for is_cpu in (True, False)]
print(json.dumps(names))
""")
    assert [name for name in operators if name.startswith("aten::")] == ["aten::neg", "aten::sign"]
    assert kernels == ["before", "without_operators", "after"]
    assert operators.count("cudaLaunchKernel") == 3


def test_without_a_named_library_the_cpu_wheel_says_what_torch_says():
    told = run_program(
        """
import torch
if torch.cuda.is_available():
    print(json.dumps(None)); raise SystemExit
def words(module):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with module.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as prof:
            x + x
    return [str(w.message) for w in caught if "CUDA" in str(w.message)]
print(json.dumps([words(torch.profiler), words(opscope.torch)]))
""",
        named=False,
    )
    if told is None:
        pytest.skip("there is a CUDA device")
    assert told[0] == told[1]


@pytest.mark.parametrize(("scenario", "words"), [("", ""), ("version=13.0;driver=none", "no driver")])
def test_the_doctor_says_whether_cuda_can_be_recorded(scenario, words):
    if not FAKE.exists():
        pytest.skip(f"the simulated CUPTI was not built: {FAKE}")
    environment = os.environ | {"OPSCOPE_CUPTI_LIB": str(FAKE), "OPSCOPE_FAKE_CUPTI": scenario}
    done = subprocess.run(
        [sys.executable, "-m", "opscope", "doctor", "--json"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    machine = json.loads(done.stdout)["machine"]
    assert machine["cupti"] == str(FAKE)
    assert machine["cupti_version"] == 130001
    assert machine["cuda_can_be_recorded"] == (words == "")
    assert machine["cuda_detail"] == "" if not words else words in machine["cuda_detail"]
