# SPDX-License-Identifier: Apache-2.0
"""The same training loop under MegEngine's profiler and ours, with each option."""

import pytest
from conftest import OURS, THEIRS, Timeline

MLP = """
import numpy as np
from megengine.autodiff import GradManager
from megengine.optimizer import Adam

class Net(M.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = M.Linear(32, 64), M.Linear(64, 4)

    def forward(self, data):
        return self.second(F.relu(self.first(data)))

net = Net()
gm, optimizer = GradManager().attach(net.parameters()), Adam(net.parameters(), lr=0.01)
data, label = mge.tensor(np.ones((32, 32), "float32")), mge.tensor(np.zeros(32, "int32"))
profiler = Profiler("out", **OPTIONS)
for step in range(3):
    with profiler:
        with gm:
            loss = F.loss.cross_entropy(net(data), label)
            gm.backward(loss)
        with scope("update"):
            optimizer.step().clear_grad()
        profiler.step()
        loss.numpy()
profiler.dump()
print(os.getpid())
"""
OPTIONS = {
    "defaults": {},
    "no device": {"profile_device": 0},
    "samples": {"sample_rate": 1},
    "backtraces": {"with_backtrace": True},
    "scopes": {"with_scopes": True},
}
MODULES = {"Linear", "ReLU"}  # scopes that the original loses


@pytest.mark.parametrize("name", OPTIONS)
def test_a_training_loop_leaves_what_the_original_leaves(run, name):
    program = MLP.replace("OPTIONS", repr(OPTIONS[name]))
    made = []
    for names, folder in ((OURS, "ours"), (THEIRS, "theirs")):
        ran = run(program, names=names, folder=folder)
        assert ran.files == [f"out/{ran.printed.split()[0]}.chrome_timeline.json"]
        made.append(Timeline(ran.folder / ran.files[0]))
    ours, theirs = made
    assert set(ours.content) == set(theirs.content) == {"traceEvents", "metadata"}
    assert sorted(ours.tracks.values()) == sorted(theirs.tracks.values())
    for track in theirs.tracks.values():
        more = ours.begins(track) - theirs.begins(track)
        assert theirs.begins(track) - ours.begins(track) == {}, track
        assert set(more) <= (MODULES if name == "scopes" else set()), track
    assert (ours.begins("interpreter")["Linear"] == 2) == (name == "scopes")
    assert ours.begins("worker")["update"] == theirs.begins("worker")["update"] == 1
    assert ours.counters == theirs.counters
    assert sum(e["ph"] == "i" and e["name"] == "StopStep" for e in ours.events) == 2
    members = [{(e["ph"], e.get("cat"), tuple(sorted(e))) for e in each.events} for each in made]
    assert members[0] == members[1]
    arguments = [{key for e in each.events for key in e.get("args", ())} for each in made]
    assert arguments[0] == arguments[1]


def test_the_file_of_a_window_with_steps_leaves_nothing_out(run):
    program = "profiler = Profiler('out')\nwith profiler:\n    (x + 1).numpy()\n    profiler.step()\nprofiler.dump()\n"
    ran = run(program)
    assert len(ran.files) == 1
    assert "Warning" not in ran.told
