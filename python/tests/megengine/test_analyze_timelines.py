# SPDX-License-Identifier: Apache-2.0
"""profile_analyze of what ran, against the original's of the same timeline, turned into a graph's profile by hand."""

import collections
import gzip
import itertools
import json
import random
import subprocess
import sys

import pytest
from conftest import OURS, START, THEIRS, Timeline
from test_profile_analyze import printed_by_opscope, printed_by_original

PROGRAM = """
import numpy, megengine.optimizer as optim
from megengine.autodiff import GradManager

class Net(M.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.fc1, self.fc2 = M.Conv2d(1, 4, 3), M.Linear(400, 32), M.Linear(32, 10)

    def forward(self, x):
        x = F.flatten(F.relu(self.conv1(x)), 1)
        return self.fc2(F.relu(self.fc1(x)))

net = Net()
gm = GradManager().attach(net.parameters())
opt = optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
data, label = mge.tensor(numpy.ones((8, 1, 12, 12), "float32")), mge.tensor(numpy.arange(8, dtype="int32"))

def train():
    with gm:
        gm.backward(F.nn.cross_entropy(net(data), label))
    opt.step().clear_grad()

train()
profiler = Profiler("out")
with profiler:
    train()
    train()
    (x + 1).numpy()
profiler.dump()
"""
BYTES = {"Float32": 4, "Int32": 4, "Bool": 1}
LINES = [
    ("-t", "0"),
    ("-t", "0", "--show-host"),
    ("-t", "-60", "--order-by", "opr_id"),
    ("--aggregate-by", "type", "--aggregate", "sum", "--show-host"),
    ("--aggregate-by", "type", "--aggregate", "max", "--order-by", "memory"),
    ("--aggregate", "mean", "--print-only", "device"),
    ("-t", "0", "--opr-name", "fc[12]", "--dump-only-opr", "--order-by", "+opr_id"),
    ("-t", "0", "--opr-name", "backward.MatrixMulBackward", "--print-only", "device"),
    ("-t", "0", "--type", "Convolution", "--type", "MatrixMul"),
    ("-t", "0", "--input-dtype", "Int32"),
    ("-t", "0", "--top-end-key", "kern", "--show-host"),
    ("-t", "0", "--min-time", "1e-5", "--max-time", "1e-3"),
    ("-t", "0", "--order-by", "bandwidth"),
    ("-t", "0", "--order-by", "in_shapes"),
    ("--type", "Copy", "--copy-time"),
    ("--print-only", "summary"),
]
CHOICES = [
    [("-t", "0"), ("-t", "7"), ("-t", "-3"), ()],
    [("--aggregate", "sum"), ("--aggregate", "max", "--aggregate-by", "type"), (), ()],
    [("--order-by", "time"), ("--order-by", "+memory"), ("--order-by", "bandwidth"), ("--order-by", "flops"), ()],
    [("--opr-name", "backward"), ("--opr-name", ".*ADD"), (), ()],
    [("--type", "ADD", "--type", "MUL"), (), ()],
    [("--input-dtype", "Float32"), ("--input-dtype", "Int32"), (), ()],
    [("--top-end-key", "kern"), (), ()],
    [("--min-time", "2e-6"), ("--max-time", "1e-4"), ()],
    [("--show-host",), ("--dump-only-opr",), ("--wiki",), ()],
]


def shape(text):
    return [int(size) for size in text.strip("{}").split(",") if size]


def nanoseconds(event):
    return round(event["ts"] * 1000)


def ranges_of_the_worker(timeline):
    """(the names around it, its B, its E) of each range, in the order of their begins."""
    worker = next(tid for tid, name in timeline.tracks.items() if name == "worker")
    found, opened = [], []
    for event in timeline.events:
        if event.get("tid") != worker or event["ph"] not in "BE":
            continue
        if event["ph"] == "B":
            entry = [[begin["name"] for _, begin, _ in opened], event, None]
            found.append(entry)
            opened.append(entry)
        else:
            opened.pop()[2] = event
    return found


def graph_profile(timeline):
    """What get_profile() would give, had it recorded each call of the timeline as an operator of a graph."""
    operators, variables, places = {}, {}, {"device": {}, "host": {}}
    prints, launches = {}, {}
    ranges = ranges_of_the_worker(timeline)
    for at, (around, begin, end) in enumerate(ranges):
        if "__id__" not in end.get("args", {}):
            continue
        number = str(end["args"]["__id__"])
        launches[number] = nanoseconds(begin)
        tensors = {"Input": [], "Output": []}
        for names, inner, inner_end in ranges[at + 1 :]:
            if len(names) <= len(around):
                break
            kind = inner["name"].split()[0]
            if kind in tensors:
                tensors[kind].append(inner["args"])
            if kind == "Input":
                launches[number] = nanoseconds(inner_end)
        inputs = [f"{number}.{i}" for i in range(len(tensors["Input"]))]
        for name, told in zip(inputs, tensors["Input"], strict=True):
            variables[name] = {"mem_plan": {"layout": {"dtype": told["dtype"]}}}
        operators[number] = {
            "node_type": "operator",
            "id": number,
            "name": ".".join([*around, begin["name"]]),
            "type": begin["name"],
            "input": inputs,
            "output": [],
        }
        start, stop = nanoseconds(begin), nanoseconds(end)
        places["host"][number] = {
            "worker": {"start": 0, "kern": (launches[number] - start) / 1e9, "end": (stop - start) / 1e9}
        }
        prints[number] = {
            "computation": None,
            "memory": sum(told["nr_elements"] * BYTES[told["dtype"]] for told in tensors["Input"] + tensors["Output"]),
            "in_shapes": [shape(told["shape"]) for told in tensors["Input"]],
            "out_shapes": [shape(told["shape"]) for told in tensors["Output"]],
            "param": {},
        }
    # A device's clock is early where kernels begin before their launches, by the most that one does.
    arrows = {"s": {}, "f": {}}
    for event in timeline.events:
        if event.get("cat") == "KernelLaunch":
            arrows[event["ph"]][event["id"]] = nanoseconds(event)
    late = max(0, *(arrows["s"][number] - end for number, end in arrows["f"].items()))
    begun = []  # one of no length may lie where the next one begins
    for event in timeline.events:
        if event.get("cat") == "Kernel":
            if event["ph"] == "B":
                begun.append(nanoseconds(event))
            else:
                number, start = str(event["args"]["__id__"]), begun.pop()
                places["device"][number] = {
                    "xpux:0": {
                        "start": 0.0,
                        "kern": max(start + late - launches[number], 0) / 1e9,
                        "end": (nanoseconds(event) - start) / 1e9,
                    }
                }
    return {
        "graph_exec": {"operator": operators, "var": variables, "mem_chunk": {}, "comp_seq": []},
        "profiler": {**places, "opr_footprint": prints, "opr_internal_pf": {}},
    }


@pytest.fixture(scope="module", params=["theirs", "ours"])
def recorded(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    names = THEIRS if request.param == "theirs" else OURS
    saving = "" if request.param == "theirs" else 'profiler.save("x.opscope")\n'
    subprocess.run([sys.executable, "-c", START + names + PROGRAM + saving], cwd=folder, check=True, timeout=120)
    timeline = next((folder / "out").glob("*.chrome_timeline.json"))
    by_hand = folder / "graph.json"
    by_hand.write_text(json.dumps(graph_profile(Timeline(timeline))))
    return timeline, by_hand


def test_a_timeline_is_answered_as_the_graph_of_its_calls(recorded, capfd):
    timeline, by_hand = recorded
    for arguments in LINES:
        want = printed_by_original([str(by_hand), *arguments])
        code, printed = printed_by_opscope([str(timeline), *arguments], capfd)
        assert code == 0, (arguments, printed.err)
        if want is None:  # it compares what is not known, and takes the mean of no copies
            assert {"--copy-time", "max", "in_shapes"} & set(arguments), arguments
            assert "N/A" in printed.out
        else:
            assert printed.out == want, arguments


def test_any_combination_of_options_is_answered_of_a_timeline(recorded, capfd):
    timeline, by_hand = recorded
    chance = random.Random(5)
    answered = 0
    for _ in range(150):
        arguments = tuple(itertools.chain.from_iterable(map(chance.choice, CHOICES)))
        want = printed_by_original([str(by_hand), *arguments])
        code, printed = printed_by_opscope([str(timeline), *arguments], capfd)
        assert code == 0, (arguments, printed.err)
        if want is not None:
            answered += 1
            assert printed.out == want, arguments
    assert answered > 60


@pytest.mark.parametrize("recorded", ["ours"], indirect=True)
def test_a_recording_lists_the_same_calls_as_its_timeline(recorded, capfd):
    timeline, _ = recorded
    recording = timeline.parent.parent / "x.opscope"
    listed = ["-t", "0", "--dump-only-opr", "--order-by", "opr_id", "--print-only", "device"]
    code, of_timeline = printed_by_opscope([str(timeline), *listed], capfd)
    code_too, of_recording = printed_by_opscope([str(recording), *listed], capfd)
    assert (code, code_too) == (0, 0)
    assert len(of_timeline.out.splitlines()) > 100
    assert of_timeline.out == of_recording.out


def test_what_a_timeline_does_not_say_is_told_in_one_line(recorded, capfd):
    timeline, _ = recorded
    code, printed = printed_by_opscope([str(timeline), "--order-by", "flops"], capfd)
    assert code == 0
    said = printed.err.splitlines()
    lines = collections.Counter(line.split(": ", 2)[2].partition(":")[0] for line in said)
    assert lines == {
        "a timeline does not say what operators compute": 1,
        "operators left out, as the program's own thread computed them, of which there are no times": 1,
    }
    assert said[1].endswith(": 1")  # of x + 1


def test_a_timeline_of_nothing_that_megengine_ran_is_refused(tmp_path, capfd):
    other = tmp_path / "other.json"
    other.write_text('{"traceEvents": [{"name": "aten::add", "ph": "X", "ts": 1, "dur": 2, "pid": 1, "tid": 1}]}')
    code, printed = printed_by_opscope([str(other)], capfd)
    assert (code, printed.out) == (1, "")
    assert printed.err == (
        f"opscope: {other}: neither the output of MegEngine's get_profile() nor a timeline of its operators\n"
    )


def test_a_timeline_that_is_cut_is_answered_as_far_as_it_goes(recorded, tmp_path, capfd):
    timeline, _ = recorded
    outputs = [begin["name"] for _, begin, _ in ranges_of_the_worker(Timeline(timeline)) if "Output" in begin["name"]]
    text = timeline.read_text()
    packed = gzip.compress(text[: text.index(f'"{outputs[len(outputs) // 2]}"')].encode(), mtime=0)
    cut = tmp_path / "cut.json.gz"
    cut.write_bytes(packed[:-4])  # in what gzip ends with
    code, printed = printed_by_opscope([str(cut), "-t", "0", "--dump-only-opr", "--print-only", "host"], capfd)
    assert code == 3
    whole, all_of_it = printed_by_opscope([str(timeline), "-t", "0", "--dump-only-opr", "--print-only", "host"], capfd)
    assert whole == 0
    assert 20 < len(printed.out.splitlines()) < len(all_of_it.out.splitlines())
    assert f"opscope: {cut}: at byte " in printed.err
