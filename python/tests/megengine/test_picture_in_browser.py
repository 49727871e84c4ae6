# SPDX-License-Identifier: Apache-2.0
"""memory_flow.svg in a real browser: it opens soon, and a pointer on a tensor shows its operator and scope."""

import json
import pathlib
import subprocess
import sys

import pytest

TOOL = pathlib.Path(__file__).parents[3] / "tools/browse_svg.py"
NO_BROWSER = 3
PROGRAM = """
held = []
profiler = Profiler("out", format="memory_flow.svg")
with profiler, scope("outer"):
    for _ in range(COUNT):
        with scope("inner"):
            held.append(F.add(x, x))
        del held[:-40]
profiler.dump()
"""


def seen(run, count):
    """What the browser makes of so many tensors."""
    ran = run(PROGRAM.replace("COUNT", str(count)))
    (picture,) = ran.folder.glob("out/*.svg")
    command = [sys.executable, TOOL, picture, "--over", "rect[tag\\:type=tensor]", "--shot", ran.folder / "shot.png"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == NO_BROWSER:
        pytest.skip(done.stderr.strip())
    assert done.returncode == 0, done.stderr
    assert (ran.folder / "shot.png").stat().st_size > 10_000, "nothing is drawn"
    return json.loads(done.stdout)


def test_a_pointer_on_a_tensor_shows_its_operator_and_scope(run):
    told = seen(run, 300)
    assert told["elements"] > 200
    operator, _, scopes = told["shown"].partition(" | in ")
    assert operator.split(" ")[0].rpartition(".")[2] == "ADD:0"
    assert scopes.startswith("outer") and "inner" in scopes


@pytest.mark.measures
def test_a_picture_of_100_000_tensors_opens_in_less_than_two_seconds(run):
    told = seen(run, 100_000)
    assert told["shown"]
    assert told["seconds"] < 2
