# SPDX-License-Identifier: Apache-2.0
"""Stacks and modules of recordings: those that torch.profiler has of the same program."""

import ast
import json
import re
import subprocess
import sys

import pytest
from torch_oracle import decodable

pytestmark = pytest.mark.framework("torch")


def profile_with(module, program, *, verbose=False, **arguments):
    from torch.profiler import ProfilerActivity, _ExperimentalConfig

    config = _ExperimentalConfig(verbose=verbose)
    with module.profile(activities=[ProfilerActivity.CPU], experimental_config=config, **arguments) as prof:
        program()
    return prof


def both(program, **arguments):
    """(torch's profile, ours)."""
    import torch.profiler

    import opscope.torch

    program()
    return [
        decodable(lambda module=module: profile_with(module, program, **arguments))
        for module in (torch.profiler, opscope.torch)
    ]


def without_address(text):
    return re.sub(r" at 0x\w+", "", text)


def below(events, name):
    """The event of this name and all that lies in it, in the order of the list."""
    events = list(events)
    outer = next(event for event in events if event.name.endswith(name))
    inside = {id(outer)}
    for event in events:
        if event.cpu_parent is not None and id(event.cpu_parent) in inside:
            inside.add(id(event))
    return [event for event in events if id(event) in inside]


def rows(prof, name):
    return [
        (without_address(event.name), event.is_python_function, [without_address(frame) for frame in event.stack])
        for event in below(prof.events(), name)
    ]


@pytest.fixture(scope="module")
def training():
    import torch
    from torch.profiler import record_function

    net = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))

    def train_step():
        with record_function("a range"):
            loss = net(torch.ones(3, 4)).sum()
        loss.backward()

    return train_step


@pytest.mark.torch_has("FunctionEvent.is_python_function")
@pytest.mark.parametrize("verbose", [True, False])
def test_stacks_of_events_are_torchs(training, verbose):
    theirs, ours = (rows(prof, "): train_step") for prof in both(training, with_stack=True, verbose=verbose))
    assert len(theirs) > 100
    assert any(stack for _, _, stack in theirs) == verbose
    assert ours == theirs


def test_an_empty_file_of_stacks_is_explained(training, tmp_path):
    from opscope.torch import profile

    with profile(with_stack=True) as prof:
        training()
    with pytest.warns(UserWarning, match=r"stacks\.txt is empty: .*verbose=True"):
        prof.export_stacks(str(tmp_path / "stacks.txt"))


@pytest.mark.torch_has("FunctionEvent.is_python_function")
def test_exported_stacks_are_torchs(training, tmp_path):
    paths = []
    for number, prof in enumerate(both(training, with_stack=True, verbose=True)):
        prof.export_stacks(str(tmp_path / str(number)))
        paths.append(
            {
                without_address(line.rsplit(" ", 1)[0].replace("_at_0x", " at 0x"))
                for line in (tmp_path / str(number)).read_text().splitlines()
                if "train_step" in line
            }
        )
    # A line takes a microsecond, which depends on the run.
    assert len(paths[0] & paths[1]) > 20
    frames = [{frame for path in side for frame in path.split(";")} for side in paths]
    assert len(frames[0] & frames[1]) > 20


@pytest.mark.parametrize("verbose", [True, False])
def test_members_of_the_trace_are_torchs(training, tmp_path, verbose):
    found = []
    for number, prof in enumerate(both(training, with_stack=True, verbose=verbose)):
        prof.export_chrome_trace(str(tmp_path / f"{number}.json"))
        # torch writes names of some C functions from memory that was freed meanwhile.
        trace = json.loads((tmp_path / f"{number}.json").read_text(errors="replace"), strict=False)
        assert trace["with_stack"] == 1
        events = [event for event in trace["traceEvents"] if event.get("cat") in ("cpu_op", "python_function")]
        found.append(
            {
                without_address(event["name"]): set(event["args"])
                for event in events
                if event["cat"] == "cpu_op" or "nn/modules" in event["name"] or "nn.Module" in event["name"]
            }
        )
        numbers = {event["args"]["Python id"]: event for event in events if event["cat"] == "python_function"}
        for event in numbers.values():
            caller = event["args"].get("Python parent id")
            assert caller is None or numbers[caller]["ts"] <= event["ts"]
    assert len(found[0]) > 20
    assert found[1] == found[0]


def calls_from_everywhere():
    """Calls over several lines, by C functions, of generators and modules, from a comprehension."""
    import torch

    def called(x):
        return x

    def some():
        yield called(1)
        yield from (called(each) for each in (2, 3))

    net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.ReLU())

    def program():
        called(
            len(
                [called(1)],
            ),
        )
        assert [called(each) for each in some()] == [1, 2, 3]
        sorted([2, 1], key=called)
        net(torch.ones(2)).add_(1)
        for _ in range(3):
            called(0), called(1)

    program()
    return program


def places_of_calls(prof, path):
    """(name, from where) of what the program called, in the order of the calls."""
    prof.export_chrome_trace(str(path))
    events = [event for event in json.loads(path.read_text())["traceEvents"] if event.get("cat") == "python_function"]
    inside, found = set(), []
    for event in sorted(events, key=lambda event: event["args"]["Python id"]):
        number, caller = event["args"]["Python id"], event["args"].get("Python parent id")
        if caller in inside or event["name"].endswith(": program"):
            inside.add(number)
            found.append((without_address(event["name"]), event["args"].get("CallFrom")))
    return found


def test_calls_come_from_where_torch_says(tmp_path):
    from opscope.torch.features import behaves

    theirs, ours = (
        places_of_calls(prof, tmp_path / f"{number}.json")
        for number, prof in enumerate(both(calls_from_everywhere(), with_stack=True))
    )
    assert len(theirs) > 40
    assert all((place is not None) == behaves("records_call_sites") for _, place in theirs)
    assert ours == theirs


def test_what_is_open_at_the_start_comes_from_where_torch_says(tmp_path):
    """The lines where the callers stand then; the first frame of all stands where it is itself."""
    found = []
    for number, prof in enumerate(both(calls_from_everywhere(), with_stack=True)):
        prof.export_chrome_trace(str(tmp_path / f"{number}.json"))
        events = json.loads((tmp_path / f"{number}.json").read_text())["traceEvents"]
        calls = {event["args"]["Python id"]: event for event in events if event.get("cat") == "python_function"}
        program = next(event for event in calls.values() if event["name"].endswith(": program"))
        stack = [program]
        while (caller := stack[-1]["args"].get("Python parent id")) is not None:
            stack.append(calls[caller])
        # Torch 2.8 has each of them a second time, as a C function: <function program at 0x7f...>.
        stack = [event for event in stack if not event["name"].startswith("<function ")]
        found.append([(event["name"], event["args"].get("CallFrom")) for event in stack])
    assert len(found[0]) > 10
    assert found[1] == found[0]


@pytest.mark.torch_does("records_call_sites")
def test_a_new_chunk_says_where_calls_come_from(tmp_path):
    """A place is written once in each chunk of the recording, whose threads fill many of them here."""

    def called(_):
        pass

    def program():
        for each in range(20000):
            called(each)
            called(each)

    from opscope.torch import profile

    with profile(with_stack=True) as prof:
        program()
    places = [place for name, place in places_of_calls(prof, tmp_path / "trace.json") if name.endswith(": called")]
    lines = [int(place.rpartition(":")[2]) for place in places]
    assert lines == [lines[0], lines[0] + 1] * 20000


def scripted(x):
    y = x * 2
    return y.add(1)


def script_program():
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.fc = torch.nn.Linear(4, 4)

        def forward(self, x):
            return torch.relu(self.fc(x))

    function, net = torch.jit.script(scripted), torch.jit.script(Net())

    def run_scripts():
        function(torch.ones(2, 4))
        net(torch.ones(2, 4))

    with torch.no_grad():
        for _ in range(4):  # the interpreter makes its plans
            run_scripts()
    return run_scripts


@pytest.mark.torch_has("FunctionEvent.is_python_function")
def test_stacks_and_modules_of_torchscript_are_torchs(tmp_path):
    import torch

    program = script_program()
    found = []
    with torch.no_grad():
        profiles = both(program, with_stack=True, with_modules=True)
    for number, prof in enumerate(profiles):
        prof.export_chrome_trace(str(tmp_path / f"{number}.json"))
        events = json.loads((tmp_path / f"{number}.json").read_text())["traceEvents"]
        ops = [event for event in events if event.get("cat") == "cpu_op"]
        found.append([(op["name"], op["args"].get("Call stack"), op["args"].get("Module Hierarchy")) for op in ops])
        stacks = [(event.name, event.stack) for event in prof.events() if not event.is_python_function]
        found[-1].append(stacks)
    assert any("scripted" in (stack or "") for _, stack, _ in found[0][:-1])
    assert any("fc(Linear)::forward" in (modules or "") for _, _, modules in found[0][:-1])
    assert found[1] == found[0]


def test_stacks_of_torchscript_stay_with_their_operators_when_there_is_a_backward_pass(training):
    """torch.profiler 2.13 shifts them to other operators."""
    import opscope.torch

    program = script_program()

    def run():
        training()
        program()

    prof = profile_with(opscope.torch, run, with_stack=True)
    of_scripts = [event for event in prof.events() if event.stack]
    assert {event.name for event in of_scripts} >= {"aten::mul", "aten::add", "aten::linear", "aten::relu"}
    assert all("Backward" not in event.name and "Accumulate" not in event.name for event in of_scripts)


WINDOW_INSIDE_OF_A_SCRIPT = """
import torch
import opscope.torch
prof = opscope.torch.profile(activities=[opscope.torch.ProfilerActivity.CPU], with_stack=True)
@torch.jit.ignore
def begin() -> None:
    prof.start()
@torch.jit.script
def scripted(x: torch.Tensor):
    begin()
    y = x * 2
    return y.relu()
scripted(torch.ones(4))
prof.stop()
print([(e.name, *e.stack) for e in prof.events() if e.name in ("aten::mul", "aten::relu")])
"""


def test_a_window_that_begins_inside_of_the_first_script_of_a_process_knows_where_it_stands(programs):
    outcome = programs.run(WINDOW_INSIDE_OF_A_SCRIPT)
    assert outcome.status == 0, outcome.stderr
    found = eval(outcome.stdout)
    assert [name for name, *_ in found] == ["aten::mul", "aten::relu"]
    assert [re.sub(r"^.*/", "", place) for _, place in found] == [
        "program.py(11): scripted",
        "program.py(12): scripted",
    ]


@pytest.mark.torch_has("FunctionEvent.is_python_function")
def test_modules_alone_are_no_events_but_are_known(training):
    import opscope.torch

    prof = profile_with(opscope.torch, training, with_modules=True)
    assert not any(event.is_python_function for event in prof.events())
    assert not any("nn.Module" in row.key for row in prof.key_averages())
    lines = prof.module_table().splitlines()
    assert [line.split()[0] for line in lines] == ["Module", "(all)", "Sequential_0", "Linear_0", "ReLU_0", "Linear_1"]
    rows = {row["module"]: row for row in prof.trace.modules()}
    for name in ("Linear_0", "ReLU_0", "Linear_1"):
        assert rows[f"Sequential_0.{name}"]["backward_ns"] > 0
    assert rows["Sequential_0"]["calls"] == 1


def test_a_flame_graph_goes_through_python(training, tmp_path):
    import opscope.torch

    prof = profile_with(opscope.torch, training, with_stack=True)
    prof.export_flamegraph(tmp_path / "x.folded", metric="count")
    paths = (tmp_path / "x.folded").read_text()
    assert re.search(r"train_step;.*nn\.Module: Linear_0;.*aten::linear;aten::addmm", paths)


FIRST_WINDOW = """
import torch, opscope.torch
with opscope.torch.profile(with_stack=True) as prof:
    torch.ones(2)
print([name for name in prof.trace.spans.text("name") if ".py(" in name])
"""


def test_the_first_window_of_a_program_holds_no_loading_of_opscopes():
    """Of what opscope does in Python to begin and to end it there are a few calls, as of torch's own."""
    done = subprocess.run([sys.executable, "-c", FIRST_WINDOW], capture_output=True, text=True, timeout=300, check=True)
    names = ast.literal_eval(done.stdout.splitlines()[-1])
    assert any("opscope/torch/profile.py" in name for name in names)
    assert [name for name in names if not re.search(r"opscope/|enum\.py", name)] == []
    assert len(names) < 60
