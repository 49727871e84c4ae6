# SPDX-License-Identifier: Apache-2.0
"""ProfilerTarget.GPU on a libcupti with a simulated GPU: targets, tables, files, words where CUDA is missing."""

import collections
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from built import built
from paddle_protobuf import Invention
from test_paddle_files import assert_same_events
from test_paddle_summary import assert_same_texts, ours, run_oracle

import opscope
from opscope import _core

pytestmark = pytest.mark.framework("paddle")

FAKE = built("tests/fake_cupti/libfake_cupti.so")
PROGRAM = Path(__file__).with_name("paddle_gpu_program.py")


def run_program(*arguments, scenario="", named=True):
    """What the program prints last, as JSON."""
    if not FAKE.exists():
        pytest.skip(f"the simulated CUPTI was not built: {FAKE}")
    environment = {k: v for k, v in os.environ.items() if k not in ("OPSCOPE_CUPTI_LIB", "OPSCOPE_FAKE_CUPTI")}
    environment |= {"FAKE": str(FAKE), "OPSCOPE_FAKE_CUPTI": scenario}
    if named:
        environment["OPSCOPE_CUPTI_LIB"] = str(FAKE)
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        env=environment, capture_output=True, text=True, timeout=280, cwd=PROGRAM.parent, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gpu")
    targets = run_program(PROGRAM, folder)
    assert targets == ["ProfilerTarget.CPU", "ProfilerTarget.GPU", "ProfilerTarget.CUSTOM_DEVICE"]
    return folder


def test_tables_are_those_that_the_originals_statistics_make_of_the_same_result(recorded):
    of_ours, of_theirs = zip(*json.loads((recorded / "texts.json").read_text()), strict=True)
    assert_same_texts(of_ours, [text + "\n" for text in of_theirs])


def test_tables_tell_what_the_kernels_took(recorded):
    text = _core.paddle.summary(_core.open_trace(str(recorded / "gpu.opscope")), sorted_by=4, time_unit="ns")
    kernels = text[text.index("Kernel Summary") :]
    rows = [line.split() for line in kernels.splitlines() if " / " in line and "Total" not in line]
    told = {row[0]: (row[-10], row[-9]) for row in rows if row[0] in ("fill", "ncclDevKernel_AllReduce_Sum_f32")}
    assert told == {"fill": ("3", "15000.00"), "ncclDevKernel_AllReduce_Sum_f32": ("3", "90000.00")}
    assert "matmul(float*, float*)" in kernels
    for title in ("Device Summary", "Overview Summary", "Distribution Summary", "Memory Manipulation Summary"):
        assert title in text
    operators = text[text.index("Operator Summary") : text.index("Kernel Summary")]
    of_operators = [line.split()[0] for line in operators.splitlines() if " / " in line and line[0] not in " N"]
    assert of_operators == ["MatmulGradNode", "matmul", "full"], "by the time of their kernels: GPUTotal"


def test_the_original_opens_the_protobuf_and_prints_the_same(recorded, tmp_path):
    """Type 15 is OperatorInner there."""
    path = recorded / "gpu.pb"
    theirs = json.loads(run_oracle("tables", path, folder=tmp_path))[str(path)]
    assert theirs is not None
    kernels = [text[text.index("Kernel Summary") :] for text in (theirs[0], ours(path)[0])]
    assert kernels[0] == kernels[1]


def test_the_json_is_what_the_original_writes_of_the_protobuf(recorded, tmp_path):
    run_oracle("rewrite", recorded / "gpu.pb", folder=tmp_path)
    both = []
    for path in (recorded / "gpu.json", recorded / "gpu.pb.json"):
        document = json.loads(path.read_text())
        document.pop("deviceProperties", None)  # of builds with a device
        for event in document["traceEvents"]:
            if event.get("cat") == "DygraphKernelLaunch":  # which its reader does not know
                event["cat"] = "OperatorInner"
        both.append(tmp_path / path.name)
        both[-1].write_text(json.dumps(document))
    assert_same_events(*both)


def test_the_json_tells_of_devices_as_the_original_does(recorded):
    document = json.loads((recorded / "gpu.json").read_text())
    assert document["deviceProperties"][0]["name"] == "Simulated GPU"
    events = [event for event in document["traceEvents"] if event]
    counts = collections.Counter(event.get("cat") for event in events if event["ph"] == "X")
    assert (counts["Kernel"], counts["Memcpy"], counts["Memset"]) == (18, 3, 3)
    copy = next(event for event in events if event.get("cat") == "Memcpy")
    assert copy["name"].startswith("MEMCPY_HtoD[")
    assert (copy["pid"], copy["tid"], copy["args"]["bytes"]) == (0, 7, 4096)
    memory_set = next(event for event in events if event.get("cat") == "Memset")
    assert (memory_set["name"].split("[")[0], memory_set["args"]["value"]) == ("MEMSET", 3)
    kernel = next(event for event in events if event["name"].startswith("matmul(float*, float*)["))
    assert (kernel["dur"], kernel["args"]["grid"], kernel["args"]["block"]) == (70.0, [640, 1, 1], [128, 1, 1])
    occupied = min(16, 640 / 132) * 128 / 2048  # 640 blocks of 128 threads on the 132 multiprocessors of that device
    assert kernel["args"]["theoretical achieved occupancy %"] == pytest.approx(occupied * 100, abs=0.001)
    calls = {event["args"]["correlation id"]: event["name"] for event in events if event.get("cat") == "CudaRuntime"}
    assert calls[kernel["args"]["correlation id"]].startswith("cudaLaunchKernel_v7000[")


def test_nodes_of_devices_have_the_originals_attributes(tmp_path):
    """Of invented devices, as the original's loader has them."""
    paths = [tmp_path / f"{seed}.pb" for seed in range(4)]
    for seed, path in enumerate(paths):
        path.write_bytes(Invention(seed).file())
    both = run_program("-c", NODES, *paths)
    assert len(both[0]) > 20
    assert both[0] == both[1]


NODES = """
import json, sys
import paddle.profiler as original
import opscope.paddle as ours
NAMES = '''name type start_ns end_ns device_id context_id stream_id correlation_id block_x block_y block_z grid_x grid_y
grid_z shared_memory registers_per_thread blocks_per_sm warps_per_sm occupancy num_bytes value'''.split()
OF = {"Kernel": NAMES[:-2], "Memcpy": [*NAMES[:8], "num_bytes"], "Memset": [*NAMES[:8], "num_bytes", "value"]}
def walk(node, rows):
    for call in node.runtime_node:
        rows.append([call.name, call.correlation_id])
        for device in call.device_node:
            kind = str(device.type).rpartition(".")[2]
            values = [getattr(device, name) for name in OF[kind]]
            rows.append([round(v, 4) if isinstance(v, float) else str(v) for v in values])
    for child in node.children_node:
        walk(child, rows)
def rows(profiler):
    found = []
    for path in sys.argv[1:]:
        result = profiler.load_profiler_result(path)  # the original's nodes die with it
        for root in result.get_data().values():
            walk(root, found)
    return sorted(map(str, found))
print(json.dumps([rows(original), rows(ours)]))
"""

WINDOW = """
import json, warnings
import paddle
import paddle.profiler as original
import opscope.paddle as ours
def run(profiler, **arguments):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with profiler.Profiler(on_trace_ready=lambda _: None, **arguments) as prof:
            paddle.ones([2]) + 1
    told = [str(w.message) for w in caught if issubclass(w.category, UserWarning)]
    return told, [str(target) for target in sorted(prof.targets, key=str)], prof
"""


@pytest.mark.parametrize(
    ("scenario", "words"),
    [("version=12.9;driver=none", "no driver"), ("version=13.5;holder=recording", "in use")],
)
def test_what_is_not_recorded_is_said_once_and_the_rest_is_kept(scenario, words):
    told, names, problems = run_program(
        "-c",
        WINDOW + "told, _, prof = run(ours)\n"
        "print(json.dumps([told, [span['name'] for span in prof.trace.spans], "
        "{row['kind']: row['message'] for row in prof.trace.problems}]))",
        scenario=scenario,
    )
    assert len(told) == 1
    assert "CUDA" in told[0]
    assert words in told[0]
    assert words in problems["device_not_recorded"]
    assert any("add" in name for name in names)


def test_targets_that_name_the_cpu_alone_leave_cupti_alone():
    told, targets, kinds = run_program(
        "-c",
        WINDOW + "told, targets, prof = run(ours, targets=[ours.ProfilerTarget.CPU])\n"
        "print(json.dumps([told, targets, [row['kind'] for row in prof.trace.problems]]))",
        scenario="driver=none",
    )
    assert (told, targets, kinds) == ([], ["ProfilerTarget.CPU"], [])


def test_without_a_named_library_the_cpu_wheel_says_what_paddle_says():
    theirs, of_ours = run_program(
        "-c",
        WINDOW + "both = [original.ProfilerTarget.CPU, original.ProfilerTarget.GPU]\n"
        "print(json.dumps([run(profiler, targets=both)[:2] for profiler in (original, ours)]))",
        named=False,
    )
    assert theirs == of_ours
    if "ProfilerTarget.GPU" not in theirs[1]:
        assert theirs[0] == ["Profiling ProfilerTarget.GPU is not supported in current context."]


def test_a_trace_that_is_read_again_has_the_same_devices(recorded, tmp_path):
    opscope.open(recorded / "gpu.pb").export(tmp_path / "again.pb", to="paddle-protobuf")
    assert (tmp_path / "again.pb").read_bytes() == (recorded / "gpu.pb").read_bytes()
