# SPDX-License-Identifier: Apache-2.0
"""opscope.paddle beside paddle.profiler: the same training loop, the same names, the same answers to mistakes."""

import inspect
import json
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from paddle_runs import run_original

pytestmark = pytest.mark.framework("paddle")

PROFILED = Path(__file__).with_name("paddle_profiled.py")
# What of summary() is a number of this very run; FLOPs stand in the last column, where the original has 0 for want of
# shapes.
NUMBER = re.compile(r"-?\d+\.\d+|^(Peak (Allocated|Reserved) Memory): \d+$|(?<= )\d+ *$", re.MULTILINE)


def run_alone(command, folder):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=folder)
    assert done.returncode == 0, done.stderr
    return done.stdout


def under_both(*arguments, folder):
    """What ours and theirs print last, each in a process of its own: ``arguments`` of Python, in which PROFILER stands
    for the module.
    """

    def command(module):
        return [sys.executable, *(argument.replace("PROFILER", module) for argument in arguments)]

    printed = run_alone(command("opscope.paddle"), folder), run_original(command("paddle.profiler"), cwd=folder)
    return [json.loads(text.splitlines()[-1]) for text in printed]


def tables(summary):
    """Titles, headers and rows of each table, without numbers; rows in alphabetical order, for they go by time."""
    blocks = re.split(r"\n\n\n", NUMBER.sub("#", summary))
    return [sorted(re.sub(r"[ -]+", " ", line) for line in block.splitlines()) for block in blocks]


PERIOD = 'scheduler={"closed": 1, "ready": 1, "record": 2, "repeat": 2}'


@pytest.mark.parametrize(
    "arguments",
    [
        ("mlp",),
        ("mlp", "scheduler=[2, 5]"),
        ("mlp", PERIOD, "record_shapes=true"),
        ("lenet", "scheduler=[0, 3]", "profile_memory=true"),
        ("lenet", "scheduler=[1, 4]", "profile_memory=true", "record_shapes=true", "with_flops=true"),
        ("mlp", "timer_only=true"),
    ],
    ids=lambda arguments: " ".join(arguments),
)
def test_a_training_loop_is_seen_as_the_original_sees_it(arguments, tmp_path):
    ours, theirs = under_both(str(PROFILED), "PROFILER", *arguments, folder=tmp_path)
    assert ours["states"] == theirs["states"]
    assert ours["told"] == theirs["told"]
    assert ours["periods"] == theirs["periods"]
    assert tables(ours["summary"]) == tables(theirs["summary"])
    if "timer_only=true" not in arguments:
        assert sum(ours["periods"][0][0].values()) > 100


@pytest.fixture(scope="module")
def both():
    import paddle.profiler as original

    import opscope.paddle as ours

    return ours, original


def test_every_public_name_of_the_original_is_there(both):
    ours, original = both
    for name in (*original.__all__, "TracerEventType"):
        assert hasattr(ours, name), name
    for module in ("profiler", "utils", "timer", "profiler_statistic"):
        there = getattr(original, module)
        public = [name for name, value in vars(there).items() if getattr(value, "__module__", "") == there.__name__]
        assert public
        for name in public:
            assert hasattr(getattr(ours, module), name), f"{module}.{name}"


def test_enumerations_and_schedulers_are_paddles_own(both):
    ours, original = both
    for name in ("ProfilerState", "ProfilerTarget", "SortedKeys", "SummaryView", "TracerEventType", "make_scheduler"):
        assert getattr(ours, name) is getattr(original, name)


OWN = {"record_to", "max_bytes", "at_cap"}


@pytest.mark.parametrize(
    "name",
    ["Profiler.__init__", "RecordEvent.__init__", "RecordEvent.begin", "RecordEvent.end", "make_scheduler"]
    + [f"Profiler.{method}" for method in ("start", "stop", "step", "step_info", "export", "summary")]
    + ["export_chrome_tracing", "export_protobuf", "load_profiler_result", "utils.in_profiler_mode"],
)
def test_signatures_are_the_originals(both, name):
    def parameters(module):
        found = module
        for part in name.split("."):
            found = getattr(found, part)
        return {key: (p.kind, p.default) for key, p in inspect.signature(found).parameters.items() if key not in OWN}

    ours, original = both
    assert parameters(ours) == parameters(original)


def test_our_own_arguments_stand_beside(both):
    assert OWN <= set(inspect.signature(both[0].Profiler).parameters)


def test_a_type_checker_accepts_a_handler_of_the_class_that_paddle_names(both):
    """`export_chrome_tracing` is typed as a handler of paddle's own Profiler, which is no base class of ours."""
    annotation = inspect.signature(both[0].Profiler).parameters["on_trace_ready"].annotation
    assert annotation.replace("typing.", "").startswith("Callable[..., ")


def run_ours(program, folder):
    return json.loads(run_alone([sys.executable, "-c", program], folder).splitlines()[-1])


MISTAKES = """
import paddle, PROFILER as profiler, json, warnings
warnings.simplefilter("ignore")
def told(act):
    try:
        act()
    except BaseException as error:
        return type(error).__name__ + ": " + str(error)[:60]
quiet = dict(on_trace_ready=lambda prof: None)
found = {}
found["scheduler of one"] = told(lambda: profiler.Profiler(scheduler=(3,), **quiet))
found["scheduler backwards"] = told(lambda: profiler.Profiler(scheduler=(5, 2), **quiet))
found["scheduler below 0"] = told(lambda: profiler.Profiler(scheduler=(-3, 0), **quiet))
found["positional"] = told(lambda: profiler.Profiler([profiler.ProfilerTarget.CPU]))
found["record 0"] = told(lambda: profiler.make_scheduler(closed=1, ready=1, record=0))
cpu = [profiler.ProfilerTarget.CPU]
beside = dict(custom_device_types=["npu"], targets=cpu)
found["a device beside the targets"] = told(lambda: profiler.Profiler(**beside, **quiet))
first = profiler.Profiler(**quiet)
first.start(); first.stop()
found["views"] = [(told(lambda: first.summary(views=views)) or "").partition(":")[0] for views in ("x", 3, ["x"], [])]
found["format"] = told(lambda: first.export("x.json", "xyz"))
found["path"] = (told(lambda: first.export(None)) or "").partition(":")[0]
found["stop again"] = bool(told(first.stop))
found["no step"] = first.summary(views=profiler.SummaryView.ModelView)
del first
found["mode"] = profiler.utils.in_profiler_mode()
odd = profiler.Profiler(scheduler=lambda step: 7, **quiet)
odd.start()
found["states"] = [told(odd.step) is None, told(odd.stop) is None]
del odd
marked = profiler.Profiler(emit_nvtx=True, timer_only=True, **quiet)
marked.start()
found["mode of emit_nvtx"] = profiler.utils.in_profiler_mode()
marked.stop()
del marked
unstarted = profiler.Profiler(**quiet)
found["stop without start"] = bool(told(unstarted.stop))
found["nothing yet"] = [unstarted.export("x.json"), unstarted.summary()]
found["step_info"] = bool(told(unstarted.step_info))
found["no file"] = profiler.load_profiler_result("none.pb")
del unstarted
found["no such device"] = told(lambda: profiler.Profiler(custom_device_types=["npu"], **quiet))[:44]
print(json.dumps(found))
"""


def test_mistakes_are_answered_as_the_original_does(tmp_path):
    ours, theirs = under_both("-c", MISTAKES, folder=tmp_path)
    assert ours == theirs


def test_a_star_import_keeps_the_name_of_the_module(both):
    ours, original = both
    assert set(original.__all__) <= set(ours.__all__)
    assert not {"profiler", "utils", "timer", "profiler_statistic"} & set(ours.__all__)


def test_targets_that_are_not_there_are_told_and_left_out(both):
    ours, original = both
    for module in (original, ours):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            prof = module.Profiler(targets=[module.ProfilerTarget.CPU, module.ProfilerTarget.GPU], on_trace_ready=print)
        assert "Profiling ProfilerTarget.GPU is not supported in current context." in [str(w.message) for w in told]
        assert prof.targets == {module.ProfilerTarget.CPU}
        del prof


FILES = """
import paddle, opscope, opscope.paddle as profiler, json, glob, os
with profiler.Profiler(profile_memory=True, record_shapes=True) as prof:
    paddle.matmul(paddle.ones([2, 3]), paddle.ones([3, 4]))
prof.export("p.pb", format="pb")
prof.save("t.opscope")
theirs = paddle.profiler.load_profiler_result("p.pb")
ours = profiler.load_profiler_result(file_name="p.pb")
def names(nodes):
    return [[node.name, names(node.children_node)] for node in nodes]
def trees(result):
    return [names(root.children_node) for root in result.get_data().values()]
chrome = json.load(open(*glob.glob("profiler_log/*.paddle_trace.json")))
open("cut.pb", "wb").write(open("p.pb", "rb").read()[:-200])
cut = profiler.load_profiler_result("cut.pb")
try:
    prof.export("nowhere/x.json")
except OSError as error:
    refused = error.filename
print(json.dumps({
    "trees": [trees(ours) == trees(theirs) == trees(prof.profiler_result), len(trees(ours)[0])],
    "file": os.path.basename(glob.glob("profiler_log/*")[0]), "host": [os.uname().nodename, os.getpid()],
    "chrome": [chrome["schemaVersion"], chrome["span_index"], len(chrome["traceEvents"])],
    "extra": [ours.get_extra_info() == theirs.get_extra_info(), ours.get_version(), ours.get_span_index()],
    "cut": len(cut.get_data()), "refused": refused, "saved": len(opscope.open("t.opscope").spans),
    "shapes": [node.input_shapes for root in prof.profiler_result.get_data().values()
               for step in root.children_node for outer in step.children_node for node in outer.children_node
               if node.name == "matmul dygraph"],
}))
"""


def test_files_are_those_that_the_original_writes_and_reads(tmp_path):
    found = run_ours(FILES, tmp_path)
    assert found["trees"] == [True, 1]
    host, pid = found["host"]
    assert re.fullmatch(rf"host_{re.escape(host)}pid_{pid}_time_[\d_]+\.paddle_trace\.json", found["file"])
    assert found["chrome"][0] == "1.0.2" and found["chrome"][2] > 10
    assert found["extra"] == [True, "1.0.2", 0]
    assert found["cut"] == 1 and found["saved"] > 5
    assert found["refused"] == "nowhere/x.json"
    assert found["shapes"] == [{"x": [[2, 3]], "y": [[3, 4]]}]


RANGES = """
import paddle, opscope.paddle as profiler, json, threading
@profiler.RecordEvent("again")
def again(depth):
    return again(depth - 1) if depth else None
with profiler.RecordEvent("idle"):
    pass
with profiler.Profiler(on_trace_ready=lambda prof: None) as prof:
    again(2)
    thread = threading.Thread(target=again, args=(1,)); thread.start(); thread.join()
    crossing = profiler.RecordEvent("crossing"); crossing.begin()
    prof.step()
    crossing.end(); crossing.end()
    open_at_the_end = profiler.RecordEvent("open"); open_at_the_end.begin()
used = paddle.profiler.utils._is_profiler_used, paddle.profiler.RecordEvent.__module__
print(json.dumps([sorted(prof.trace.spans.text("name")), used, profiler.utils._is_profiler_used]))
"""


def test_ranges_nest_cross_and_stay_open(tmp_path):
    names, used, live = run_ours(RANGES, tmp_path)
    assert names == ["ProfileStep#0", "ProfileStep#1", *["again"] * 5, "crossing", "open"]
    assert used == [False, "paddle.profiler.utils"] and live is False


COPIES = """
import copy, json, paddle, pickle, opscope.paddle as profiler
class Layer(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.range = profiler.RecordEvent("layer", profiler.TracerEventType.Forward)
        self.range.note = [1]
layer = Layer()
copies = [copy.deepcopy(layer).range, copy.copy(layer.range), pickle.loads(pickle.dumps(layer.range))]
with profiler.Profiler(on_trace_ready=lambda prof: None) as prof:
    for each in copies:
        with each:
            pass
print(json.dumps([list(prof.trace.spans.text("name")).count("layer"), [[each.name, each.note] for each in copies],
                  [each.event_type == profiler.TracerEventType.Forward for each in copies]]))
"""


def test_a_range_can_be_copied_and_pickled(tmp_path):
    assert run_ours(COPIES, tmp_path) == [3, [["layer", [1]]] * 3, [True] * 3]


DERIVED = """
import json, opscope.paddle as profiler
class Timed(profiler.RecordEvent):
    def end(self):
        super().end()
        return "seconds"
with profiler.Profiler(on_trace_ready=lambda prof: None):
    try:
        with Timed("timed"):
            raise KeyError("of the block")
    except KeyError as error:
        print(json.dumps(str(error)))
    else:
        print(json.dumps("suppressed"))
"""


def test_a_result_of_a_derived_ranges_end_suppresses_no_exception(tmp_path):
    assert run_ours(DERIVED, tmp_path) == "'of the block'"


def test_a_config_file_makes_a_profiler(both, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    described = {
        "targets": ["CPU"],
        "scheduler": {"make_scheduler": {"module": "paddle.profiler", "use_direct": False, "args": [],
                                         "kwargs": {"closed": 1, "ready": 1, "record": 2}}},
        "on_trace_ready": {"export_protobuf": {"module": "paddle.profiler", "use_direct": False, "args": ["log"],
                                               "kwargs": {}}},
        "timer_only": "yes",
    }  # fmt: skip
    (tmp_path / "config.json").write_text(json.dumps(described))
    prof = both[0].profiler.get_profiler("config.json")
    assert [prof.scheduler(step).name for step in range(4)] == ["CLOSED", "READY", "RECORD", "RECORD_AND_RETURN"]
    assert prof.targets == {both[0].ProfilerTarget.CPU} and (tmp_path / "log").is_dir()
    assert capsys.readouterr().out == "Set timer_only parameter error, use default parameter instead.\n"
    del prof
    assert both[0].profiler.get_profiler("none.json").scheduler(0) is both[0].ProfilerState.RECORD


LOADERS = """
import os, json, paddle, opscope.paddle as profiler
class Data(paddle.io.Dataset):
    def __getitem__(self, at):
        with profiler.RecordEvent("in the worker"):
            paddle.ones([1])
        return float(at)
    def __len__(self):
        return 12
with profiler.Profiler(on_trace_ready=profiler.export_protobuf("log")) as prof:
    loader = paddle.io.DataLoader(Data(), batch_size=2, num_workers=2)
    batches = [batch for batch in loader]
names = list(prof.trace.spans.text("name"))
print(json.dumps([len(batches), names.count("_DataLoaderIterMultiProcess"), "in the worker" in names,
                  os.listdir("log"), profiler.load_profiler_result("log/" + os.listdir("log")[0]) is not None]))
"""


def test_workers_of_a_data_loader_write_nothing(tmp_path):
    batches, calls, is_seen, files, is_read = run_ours(LOADERS, tmp_path)
    assert (batches, is_seen, is_read) == (6, False, True)
    assert calls >= batches
    assert len(files) == 1
