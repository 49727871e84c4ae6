# SPDX-License-Identifier: Apache-2.0
"""tools/gpu_traces.py: what tools/gpu_check.py reads of traces, and how it compares them."""

import json
import random
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / "tools"
TRACE = ROOT / "tests/golden/chrome_json/device_tracks/input.json"
if not TOOLS.exists():
    pytest.skip("the tools are not here", allow_module_level=True)
sys.path.insert(0, str(TOOLS))
import gpu_traces  # noqa: E402  (the folder of tools is no package)

OPERATOR = {
    "ph": "X",
    "cat": "cpu_op",
    "name": "aten::mm",
    "pid": 1,
    "tid": 7,
    "ts": 0,
    "dur": 4,
    "args": {"External id": 3},
}


def events():
    return [OPERATOR, *gpu_traces.read_trace(TRACE)]


def missed(ours, theirs):
    checks = gpu_traces.compare(gpu_traces.facts_of(ours), gpu_traces.facts_of(theirs), most_apart=0.1)
    return [check.what for check in checks if not check.holds]


def changed(called, **members):
    """The events, the one of this name with other members."""
    return [{**event, **members} if event["name"] == called else event for event in events()]


def test_what_devices_did_is_read_of_a_trace():
    facts = gpu_traces.facts_of(events())
    assert facts.names == {"kernel gemm": 1, "gpu_memcpy Memcpy HtoD": 1, "gpu_memset Memset": 1}
    assert facts.launchers["aten::mm", "gemm"] == 1
    assert facts.launchers["", "Memset"] == 1
    assert facts.busy_us == {(0, 7): 5.0, (0, 20): 1.0}
    assert facts.before_call == 0


def test_arrows_of_graphs_are_looked_for():
    node = {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 1}
    nodes = [{**node, "args": {"graph node id": number, "correlation": 5}} for number in (1, 2, 3)]
    arrow = {"cat": "ac2g", "name": "ac2g", "pid": 0, "tid": 7}
    arrows = [{**arrow, "ph": ph, "id": (1 << 40) + i, "ts": ts} for i in (0, 1) for ph, ts in (("s", 2 + i), ("f", 3))]
    launch = [{**arrow, "ph": "s", "id": 5, "ts": 0}, {**arrow, "ph": "f", "id": 5, "ts": 1}]

    def missed_of(events):
        return [check.what for check in gpu_traces.watched_checks(events) if not check.holds]

    assert missed_of([*nodes, *launch, *arrows]) == []
    assert missed_of([*nodes, *launch, *arrows[:2]]) == ["arrows from node to node"]
    assert missed_of([*nodes, *arrows[:2], arrows[2], {**arrows[3], "ts": 2}]) == ["none of them leads back"]
    assert missed_of([]) == ["graphs ran"]


def of_launch(number, *, node=20, until=30):
    """Two kernels and what the CPU does between them."""
    spans = (("kernel", 10, 15), ("graph_host_node", node, until), ("kernel", 40, 45))
    return [
        {
            "ph": "X",
            "cat": cat,
            "name": cat,
            "pid": 0,
            "tid": 7,
            "ts": number * 1000 + start,
            "dur": end - start,
            "args": {"graph node id": 1 + at, "correlation": number},
        }
        for at, (cat, start, end) in enumerate(spans)
    ]


@pytest.mark.parametrize(
    ("events", "version", "what"),
    [
        ([*of_launch(1), *of_launch(2, node=-50, until=100)], 130100, []),
        ([*of_launch(1), *of_launch(2)[::2]], 130100, ["host nodes", "host nodes with the number of their launch"]),
        ([], 130100, ["graphs ran"]),
        (of_launch(1, node=-500), 130100, ["host nodes between the kernels"]),
        (of_launch(1, until=500), 130100, ["host nodes between the kernels"]),
        (
            [*of_launch(1)[::2], {**of_launch(1)[1], "args": {"graph node id": 2}}],
            130100,
            ["host nodes with the number of their launch", "host nodes between the kernels"],
        ),
        (of_launch(1)[::2], 130001, []),
        (of_launch(1), 130001, ["host nodes"]),
    ],
    ids=["all", "one is missing", "nothing", "early", "late", "no number", "old", "old and there"],
)
def test_host_nodes_are_looked_for(events, version, what):
    checks = gpu_traces.host_node_checks({"traceEvents": events, "cupti_version": version})
    assert [check.what for check in checks if not check.holds] == what


@pytest.mark.framework("torch")
@pytest.mark.parametrize("version", ["13.0", "13.5"])
def test_what_opscope_records_of_host_nodes_holds_on_a_simulated_device(version, tmp_path):
    pytest.importorskip("torch")
    from cuda_program import run_program

    run_program(
        f"""
import os; os.chdir({str(tmp_path)!r})
fake.fake_cuda_graph_add_kernel.argtypes = [ctypes.c_uint32, ctypes.c_char_p, ctypes.c_uint64]
fake.fake_cuda_graph_add_host.argtypes = [ctypes.c_uint32, ctypes.c_uint64]
graph = fake.fake_cuda_graph_create()
fake.fake_cuda_graph_add_kernel(graph, b"gemm", 5000)
fake.fake_cuda_graph_add_host(graph, 2000)
fake.fake_cuda_graph_add_kernel(graph, b"gemm", 5000)
config = opscope.torch._ExperimentalConfig(custom_profiler_config="cupti_monitor")
with profile(activities=[ProfilerActivity.CPU], experimental_config=config) as prof:
    for _ in range(3):
        fake.fake_cuda_graph_launch(graph, 7)
        fake.fake_cuda_device_synchronize(0)
prof.export_chrome_trace("nodes.json")
print(0)
""",
        scenario=f"version={version}",
    )
    checks = gpu_traces.host_node_checks(gpu_traces.read_document(tmp_path / "nodes.json.gz"))
    assert [check for check in checks if not check.holds] == []
    assert checks[0].words == "3 launches"
    assert len(checks) == (4 if version == "13.5" else 2)


def readings(name, *values, device=0, every_us=100_000):
    return [
        {"ph": "C", "name": name, "pid": device, "ts": at * every_us, "args": {"value": value}}
        for at, value in enumerate(values)
    ]


POWER, CLOCK = gpu_traces.READINGS
WORKED = [
    {"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 5, "dur": 10},
    *readings(POWER, 300, 301, 302),
    *readings(CLOCK, 1980, 1965, 1980),
    *readings("Power (W)", 310),
    *readings("SM Clock (MHz)", 1980, 1980),
    *readings(gpu_traces.CYCLES, 19800),
]


def without(*names):
    return [event for event in WORKED if event["name"] not in names]


@pytest.mark.parametrize(
    ("events", "what"),
    [
        (WORKED, []),
        (without("gemm"), ["a device worked"]),
        (without(POWER), [f"{POWER} of GPU 0"]),
        ([*without(POWER), *readings(POWER, 300, 0, 300)], [f"{POWER} of GPU 0"]),
        ([*without(POWER), *readings(POWER, *[300] * 9, every_us=10_000)], [f"{POWER} of GPU 0, how often"]),
        ([*without(POWER), *readings(POWER, 300, 300, device=1)], [f"{POWER} of GPU 0"]),
        (without("SM Clock (MHz)"), [f"{CLOCK} of GPU 0 as CUPTI says"]),
        ([*without("SM Clock (MHz)"), *readings("SM Clock (MHz)", 990)], [f"{CLOCK} of GPU 0 as CUPTI says"]),
        (without(gpu_traces.CYCLES), ["cycles of each kernel of GPU 0"]),
    ],
    ids=["all", "idle", "no power", "zero", "often", "another device", "CUPTI is mute", "clocks apart", "no cycles"],
)
def test_what_sensors_say_is_looked_for(events, what):
    checks = gpu_traces.sensor_checks(events, most_apart=0.25)
    assert [check.what for check in checks if not check.holds] == what


@pytest.mark.framework("torch")
def test_what_opscope_records_of_sensors_holds_on_a_simulated_device(tmp_path):
    pytest.importorskip("torch")
    from cuda_program import run_program

    run_program(
        f"""
import os; os.chdir({str(tmp_path)!r})
keys = json.dumps({{"backend": "cupti_monitor", "enable_environment_counters": True}})
config = opscope.torch._ExperimentalConfig(custom_profiler_config=keys)
fake.fake_cupti_calls.restype = ctypes.c_uint64
with profile(activities=[ProfilerActivity.CPU], experimental_config=config) as prof:
    torch.ops.simulated.scale(x)
    fake.fake_cuda_sense(0, 3, 300_500, 700_000)
    fake.fake_cuda_sense(0, 1, 1980, 2600)
    fake.fake_cuda_device_synchronize(0)
    while fake.fake_cupti_calls(b"nvmlDeviceGetPowerUsage") < 4:
        pass
prof.export_chrome_trace("busy.json")
print(0)
""",
        scenario="version=13.5",
    )
    checks = gpu_traces.sensor_checks(gpu_traces.read_trace(tmp_path / "busy.json.gz"), most_apart=0.25)
    assert [check for check in checks if not check.holds] == []
    assert len(checks) == 8


def test_busy_time_is_that_of_the_union():
    draw = random.Random(5)
    for _ in range(50):
        spans = [(start, start + draw.randrange(9)) for start in (draw.randrange(60) for _ in range(12))]
        covered = {at for start, end in spans for at in range(start, end)}
        assert gpu_traces.busy_us(spans) == len(covered)


def test_equal_recordings_hold():
    assert missed(events(), events()) == []


@pytest.mark.parametrize(
    ("ours", "what"),
    [
        (changed("gemm", name="add"), ["names and their counts", "who launched them"]),
        (changed("aten::mm", name="aten::add"), ["who launched them"]),
        (changed("gemm", dur=40), ["time of kernels that ran alone"]),
        (changed("cudaLaunchKernel", ts=6), ["nothing begins before its call"]),
        (
            [OPERATOR],
            [
                "something ran",
                "names and their counts",
                "who launched them",
                "streams",
                "time of kernels that ran alone",
            ],
        ),
    ],
    ids=["name", "operator", "busy", "early", "empty"],
)
def test_what_differs_is_named(ours, what):
    assert missed(ours, events()) == what


def test_torchs_numbers_stand_beside_ours():
    checks = gpu_traces.compare(gpu_traces.facts_of(events()), gpu_traces.facts_of([OPERATOR]), most_apart=0.1)
    for check in checks:
        assert ("torch 0" in check.words) or check.what in (
            "names and their counts",
            "who launched them",
            "time of kernels that ran alone",
        ), check


def test_a_torch_that_writes_no_nodes_of_graphs_is_no_difference():
    nodes = [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 1, "args": {}}]
    ours = [{**nodes[0], "args": {"graph node id": 5}}]
    assert "nodes of graphs" not in missed(ours, nodes)
    assert "nodes of graphs" in missed(nodes, ours)


@pytest.mark.parametrize(("ts", "held"), [("5.001", True), ("5.0010000001", True), ("5.002", False)])
def test_a_nanosecond_of_rounding_is_no_difference(ts, held):
    """The kernel begins at 5 us; so far behind it the call is that launched it."""
    for base in (0.0, 3e9):
        late = changed("cudaLaunchKernel", ts=float(ts))
        moved = [{**event, "ts": event["ts"] + base} for event in late if "ts" in event]
        assert (missed(moved, moved) == []) is held


def test_an_arrow_that_leads_back_by_a_nanosecond_of_rounding_leads_forward():
    node = {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 1}
    nodes = [{**node, "args": {"graph node id": number, "correlation": 5}} for number in (1, 2)]
    arrow = {"cat": "ac2g", "name": "ac2g", "pid": 0, "tid": 7, "id": 1 << 40}
    for begin, what in ((2.001, []), (2.003, ["none of them leads back"])):
        arrows = [{**arrow, "ph": "s", "ts": begin}, {**arrow, "ph": "f", "ts": 2}]
        checks = gpu_traces.watched_checks([*nodes, *arrows])
        assert [check.what for check in checks if not check.holds] == what


def works(*spans, category="kernel"):
    return [
        {"ph": "X", "cat": category, "name": name, "pid": 0, "tid": stream, "ts": start, "dur": end - start}
        for name, stream, start, end in spans
    ]


@pytest.mark.parametrize(
    "others",
    [
        works(("copy", 9, 200, 900), category="gpu_memcpy"),
        works(("a", 9, 200, 260), ("a", 10, 220, 900)),
        works(("b", 9, 200, 900)),
        works(("a", 7, 200, 900)),  # one of five was held up
    ],
    ids=["a copy", "overlap", "only one side has it", "outlier"],
)
def test_what_is_noisy_is_no_difference_of_kernels(others):
    kernels = works(*[("a", 7, at, at + 10) for at in (0, 20, 40, 60)])
    ours, theirs = (gpu_traces.facts_of(events) for events in ([*kernels, *others], kernels))
    assert gpu_traces.time_of_kernels(ours, theirs, most_apart=0.1).holds


def test_which_kernels_ran_alone_is_what_looking_at_every_pair_says():
    draw = random.Random(7)
    for _ in range(200):
        spans = [(start, start + draw.randrange(9), f"k{draw.randrange(3)}") for start in draw.sample(range(60), 8)]
        expected = {}
        for at, (start, end, name) in enumerate(spans):
            others = [span for number, span in enumerate(spans) if number != at]
            if all(other[1] <= start or end <= other[0] for other in others):
                expected.setdefault(name, []).append(end - start)
        found = gpu_traces.alone(spans)
        assert {name: sorted(durations) for name, durations in found.items()} == {
            name: sorted(durations) for name, durations in expected.items()
        }


def test_readings_of_a_device_that_was_idle_are_not_compared():
    cold = [300, 300, 300, 300, 300, 300, 1980, 1980]
    for cupti, what in (([300, 1980], []), ([1980, 300], [f"{CLOCK} of GPU 0 as CUPTI says"])):
        said = readings("SM Clock (MHz)", *cupti, every_us=700_000)
        events = [*without(CLOCK, "SM Clock (MHz)"), *readings(CLOCK, *cold), *said]
        checks = gpu_traces.sensor_checks(events, most_apart=0.25)
        assert [check.what for check in checks if not check.holds] == what


def test_a_gzipped_trace_is_read_alike(tmp_path):
    import gzip

    path = tmp_path / "trace.json.gz"
    path.write_bytes(gzip.compress(json.dumps(events()).encode()))
    assert gpu_traces.read_trace(path) == events()
