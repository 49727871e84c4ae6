# SPDX-License-Identifier: Apache-2.0
"""custom_profiler_config with the cupti_monitor backend: what its keys show of a simulated device."""

import pytest

pytest.importorskip("torch")

from cuda_program import PROGRAM, run_program

pytestmark = pytest.mark.framework("torch")

# A graph of two kernels with a wait between them and an event behind them, instantiated; ``launch()`` runs it.
GRAPH = (
    PROGRAM
    + """
import gzip, os
from opscope.torch import _ExperimentalConfig
for name in ("add_kernel", "add_event", "add_wait", "add_host"):
    getattr(fake, "fake_cuda_graph_" + name).restype = ctypes.c_uint64
fake.fake_cuda_graph_add_kernel.argtypes = [ctypes.c_uint32, ctypes.c_char_p, ctypes.c_uint64]
fake.fake_cuda_graph_add_host.argtypes = [ctypes.c_uint32, ctypes.c_uint64]

def monitored(activities=(ProfilerActivity.CPU,), **keys):
    config = _ExperimentalConfig(custom_profiler_config=json.dumps({"backend": "cupti_monitor"} | keys))
    return profile(activities=list(activities), experimental_config=config)

def captured():
    made = fake.fake_cuda_graph_create()
    fake.fake_cuda_graph_add_kernel(made, b"first", 5000)
    fake.fake_cuda_graph_add_wait(made)
    fake.fake_cuda_graph_add_kernel(made, b"second", 5000)
    fake.fake_cuda_graph_add_event(made)
    return fake.fake_cuda_graph_instantiate(made)

def launched(prof, graph, times=2):
    with prof:
        for _ in range(times):
            fake.fake_cuda_graph_launch(graph, 7)
        fake.fake_cuda_sense(0, 3, 250500, 700000)
        fake.fake_cuda_sense(0, 1, 1500, 2600)
        fake.fake_cuda_sense(0, 2, 55, 9)
        fake.fake_cuda_sense(0, 4, 30, 9)
        fake.fake_cuda_sense(1, 2, 60, 9)
        fake.fake_cuda_device_synchronize(0)
    return prof

def file_of(prof):
    prof.export_chrome_trace("trace.json")
    with gzip.open("trace.json.gz") as file:
        return json.load(file)["traceEvents"]
"""
)


def run_graph(script, tmp_path, **options):
    return run_program(f"import os; os.chdir({str(tmp_path)!r})\n" + script, program=GRAPH, **options)


def test_the_device_is_recorded_without_being_among_the_activities(tmp_path):
    kernels, columns = run_graph(
        """
prof = launched(monitored(), captured())
print(json.dumps([[e["name"] for e in file_of(prof) if e.get("cat") == "kernel"],
                  "CUDA" in prof.key_averages().table()]))
""",
        tmp_path,
    )
    assert kernels == ["first", "second"] * 2
    assert not columns


def test_nodes_of_graphs_have_the_names_that_the_program_gives_them(tmp_path):
    named = run_graph(
        """
import types
annotations = {}
registry = types.ModuleType("torch.cuda._graph_annotations")  # as torch has it from 2.13 on
registry.get_kernel_annotations = lambda: annotations
sys.modules["torch.cuda._graph_annotations"] = registry
graph = captured()
node = graph << 32
annotations |= {node | 1: {"phase": "A", "rank": 3}, node | 3: ["x", {"y": 1}]}
events = file_of(launched(monitored(), graph, 1))
print(json.dumps({e["name"]: e["args"] for e in events if e.get("cat") == "kernel"}))
""",
        tmp_path,
    )
    assert (named["first"]["phase"], named["first"]["rank"]) == ("A", 3)
    assert named["second"]["annotation"] == '["x", {"y": 1}]'
    assert "annotation" not in named["first"] and "phase" not in named["second"]


def test_arrows_lead_from_node_to_node_and_from_the_launch_to_the_first(tmp_path):
    kernels, arrows, launches = run_graph(
        """
prof = monitored(enable_graph_dependencies=True)
events = file_of(launched(prof, captured()))
arrows = {}
for e in events:
    if e.get("cat") == "ac2g":
        arrows.setdefault(e["id"], {})[e["ph"]] = e["ts"]
print(json.dumps([[[e["name"], e["ts"], e["dur"]] for e in events if e.get("cat") == "kernel"],
                  [[a["s"], a["f"]] for a in arrows.values() if "f" in a],
                  [e["ts"] for e in events if e["name"] == "cudaGraphLaunch"]]))
""",
        tmp_path,
    )
    first, second, again, second_again = kernels
    ends = {tuple(arrow) for arrow in arrows}
    assert len(ends) == 4
    assert {round(start, 3) for start, end in ends if end in (second[1], second_again[1])} == {
        round(first[1] + first[2], 3),
        round(again[1] + again[2], 3),
    }
    assert {(launches[0], first[1]), (launches[1], again[1])} <= ends


def test_a_graph_that_was_made_before_the_profile_has_arrows_from_its_launch(tmp_path):
    ends = run_graph(
        """
graph = captured()
events = file_of(launched(monitored(enable_graph_dependencies=True), graph, 1))
print(json.dumps([e["id"] for e in events if e.get("cat") == "ac2g" and e["ph"] == "f"]))
""",
        tmp_path,
    )
    assert len(ends) == 2 and len(set(ends)) == 1


def test_nodes_that_record_events_are_there_with_their_numbers(tmp_path):
    graph, nodes, eager = run_graph(
        """
prof = monitored(enable_event_node_ids=True, enable_graph_dependencies=True)
graph = captured()
events = []
event = fake.fake_cuda_event_create()
with prof:
    fake.fake_cuda_event_record(event, 7)
    for _ in range(2):
        fake.fake_cuda_graph_launch(graph, 7)
    fake.fake_cuda_device_synchronize(0)
events = file_of(prof)
print(json.dumps([graph, [e for e in events if e.get("cat") == "graph_event_node"],
                  [e["name"] for e in events if e.get("cat") == "cuda_event"]]))
""",
        tmp_path,
    )
    assert [node["name"] for node in nodes] == ["EventRecord"] * 2
    assert [node["args"]["graph node id"] for node in nodes] == [graph << 32 | 4] * 2
    assert [node["dur"] for node in nodes] == [0, 0]
    assert nodes[0]["args"]["correlation"] != nodes[1]["args"]["correlation"]
    assert eager == []


HOST_NODES = """
prof = monitored(**KEYS)
made = fake.fake_cuda_graph_create()
fake.fake_cuda_graph_add_kernel(made, b"first", 5000)
node = fake.fake_cuda_graph_add_host(made, 40000)
fake.fake_cuda_graph_add_kernel(made, b"second", 5000)
launched(prof, made, 1)
events = file_of(prof)
problems = list(prof.trace.problems.text("message"))
"""


def test_functions_that_graphs_call_on_the_cpu_are_on_the_stream_that_waits(tmp_path):
    node, [host], kernels, arrows, listed, problems = run_graph(
        "KEYS = dict(enable_graph_dependencies=True)"
        + HOST_NODES
        + """
print(json.dumps([node, [e for e in events if e.get("cat") == "graph_host_node"],
                  [e for e in events if e.get("cat") == "kernel"],
                  [[e["ph"], e["ts"]] for e in events if e.get("cat") == "ac2g"],
                  [e.key for e in prof.key_averages()], problems]))
""",
        tmp_path,
        scenario="version=13.5",
    )
    assert (host["name"], host["pid"], host["tid"], host["dur"]) == ("HostNode", 0, 7, 40)
    args = host["args"]
    assert args["graph node id"] == node and args["graph id"] == node >> 32
    assert args["correlation"] == kernels[0]["args"]["correlation"] != 0
    assert args["host process"] + 1 == args["host thread"]  # as the simulated driver has it
    ends = {end for phase, end in arrows if phase == "f"}
    assert {kernel["ts"] for kernel in kernels} | {host["ts"]} <= ends
    assert "HostNode" not in listed  # torch's tables have no such rows
    assert problems == []


def test_an_older_cupti_costs_the_functions_on_the_cpu_alone_and_one_line_says_so(tmp_path):
    nodes, kernels, problems = run_graph(
        "KEYS = {}"
        + HOST_NODES
        + """
print(json.dumps([[e for e in events if e.get("cat") == "graph_host_node"],
                  [e["name"] for e in events if e.get("cat") == "kernel"], problems]))
""",
        tmp_path,
        scenario="version=13.0",
    )
    assert nodes == [] and kernels == ["first", "second"]
    assert len(problems) == 1
    assert "host nodes of graphs" in problems[0] and "older than 13.1" in problems[0]


def test_sensors_of_working_devices_are_counters(tmp_path):
    script = """
prof = launched(monitored(**KEYS), captured())
print(json.dumps([[e["name"], e["pid"], e["args"]["value"]] for e in file_of(prof)
                  if e["ph"] == "C" and not e["name"].startswith("GPU ")]))  # those are read of NVML
"""
    keys = 'KEYS = {"enable_environment_counters": True}\n'
    assert run_graph(keys + script, tmp_path, scenario="devices=2") == [
        ["Power (W)", 0, 250.5],
        ["SM Clock (MHz)", 0, 1500],
        ["Memory Clock (MHz)", 0, 2600],
        ["Temperature (C)", 0, 55],
        ["Fan Speed (%)", 0, 30],
        *[["Cycles (Current Kernel)", 0, 7500]] * 4,  # 5 us of 1,500 MHz
    ]
    assert run_graph("KEYS = {}\n" + script, tmp_path) == []


def test_sensors_that_cupti_refuses_are_a_problem_and_cost_only_themselves(tmp_path):
    problems, kernels = run_graph(
        """
prof = launched(monitored(enable_environment_counters=True), captured())
problems = list(prof.trace.problems.text("message"))
print(json.dumps([problems, [e["name"] for e in file_of(prof) if e.get("cat") == "kernel"]]))
""",
        tmp_path,
        scenario="version=13.5;fail=cuptiActivityEnable(20):27",
    )
    assert len(problems) == 1
    assert "environment" in problems[0] and "CUPTI_ERROR_NOT_SUPPORTED" in problems[0]
    assert len(kernels) == 4


def test_waits_are_recorded_where_the_key_asks_for_them(tmp_path):
    names = run_graph(
        """
events = file_of(launched(monitored(enable_cuda_sync_events=True), captured()))
print(json.dumps([e["name"] for e in events if e.get("cat") == "cuda_sync"]))
""",
        tmp_path,
    )
    assert names == ["Context Sync"]


def test_cupti_is_subscribed_to_for_as_long_as_a_profile_watches_graphs(tmp_path):
    held = run_graph(
        """
import gc
held = [fake.fake_cupti_subscribed()]
prof = monitored(enable_event_node_ids=True)
held.append(fake.fake_cupti_subscribed())
launched(prof, captured())
held.append(fake.fake_cupti_subscribed())
del prof
gc.collect()
held.append(fake.fake_cupti_subscribed())
fake.fake_cupti_violations.restype = ctypes.c_uint64
print(json.dumps(held + [fake.fake_cupti_violations()]))
""",
        tmp_path,
    )
    assert held == [0, 1, 1, 0, 0]


@pytest.mark.parametrize(
    ("scenario", "words"),
    [
        ("version=13.0;driver=none", "no driver"),
        ("version=13.5;holder=idle", "in use"),
        ("missing=cuptiEnableCallback", "too old"),
    ],
)
def test_graphs_that_cannot_be_watched_are_told_by_the_keys(scenario, words, tmp_path):
    told = run_graph(
        """
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    monitored(enable_graph_dependencies=True, enable_event_node_ids=True)
print(json.dumps([str(each.message) for each in caught]))
""",
        tmp_path,
        scenario=scenario,
    )
    assert len(told) == 1
    assert "enable_graph_dependencies and enable_event_node_ids cannot be done here" in told[0]
    assert words in told[0]


def test_without_a_gpu_the_keys_are_taken_and_one_line_says_why_nothing_is_recorded(tmp_path):
    told, operators = run_graph(
        """
if torch.cuda.is_available():
    print(json.dumps([None, []])); raise SystemExit
prof = monitored(enable_environment_counters=True, enable_cuda_sync_events=True, pftrace_compression_level=3)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    with prof:
        x + x
print(json.dumps([[str(each.message) for each in caught], [e["name"] for e in file_of(prof)]]))
""",
        tmp_path,
        named=False,
    )
    if told is None:
        pytest.skip("there is a CUDA device")
    assert len(told) == 1 and told[0].startswith("CUDA is not recorded: ")
    assert "aten::add" in operators
