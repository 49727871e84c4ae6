# SPDX-License-Identifier: Apache-2.0
"""The examples of MegEngine's guide run under both profilers and leave the same files with the same events."""

import collections
import json
import pathlib
import xml.etree.ElementTree as ElementTree

import pytest
from conftest import Timeline

DEMO = pathlib.Path(__file__).resolve().parents[3] / "examples/megengine_demo.py"
OURS = "from opscope.megengine import Profiler, profile, trace  # the line to change\n"
THEIRS = "from megengine.jit import trace\nfrom megengine.utils.profiler import Profiler, profile\n"


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """The folders of both runs: ours, the original's."""
    import os
    import subprocess
    import sys

    source = DEMO.read_text()
    assert source.count(OURS) == 1
    folders = []
    for name, text in {"ours": source, "theirs": source.replace(OURS, THEIRS)}.items():
        folder = tmp_path_factory.mktemp(name)
        program = folder / "demo.py"
        program.write_text(text)
        done = subprocess.run([sys.executable, str(program), "out"], cwd=folder, env=os.environ, timeout=200)
        assert done.returncode == 0
        folders.append(folder / "out")
    return folders


def timelines(both, name):
    for folder in both:
        [file] = (folder / name).iterdir()
        assert file.name.partition(".")[0].isdecimal()
        yield Timeline(file)


@pytest.mark.parametrize("name", ["decorated", "block"])
def test_a_training_step_has_the_originals_operators_scopes_tracks_and_counters(both, name):
    ours, theirs = timelines(both, name)
    assert sorted(ours.tracks.values()) == sorted(theirs.tracks.values()) == ["interpreter", "worker", "xpux:0"]
    for track in theirs.tracks.values():
        assert ours.begins(track) == theirs.begins(track), track
    assert theirs.begins("interpreter")["backward"] == theirs.begins("interpreter")["conv1"] == 1
    assert ours.counters == theirs.counters and "nr_alive_tensor" in theirs.counters
    flows = [
        collections.Counter((e.get("cat"), e["ph"]) for e in made.events if e["ph"] in "stf") for made in (ours, theirs)
    ]
    assert flows[0] == flows[1]


def test_operators_have_the_originals_parameters(both):
    def parameters(made):
        hidden = ("__id__", "__device__")
        return collections.Counter(
            json.dumps({key: value for key, value in event["args"].items() if key not in hidden}, sort_keys=True)
            for event in made.events
            if event["ph"] == "E" and event["name"] == "OpDispatch"
        )

    ours, theirs = timelines(both, "block")
    assert parameters(ours) == parameters(theirs)


def test_samples_of_memory_are_taken_as_often(both):
    ours, theirs = timelines(both, "block")
    name = "cpu0:0_alloc_mem"
    assert ours.counters[name] == theirs.counters[name] > 4


def test_the_picture_has_the_originals_rectangles(both):
    def rectangles(folder):
        [file] = (folder / "memory").iterdir()
        assert file.name.endswith(".memory_flow.svg")
        tag = "{https://megengine.org.cn}"
        rects = [rect for rect in ElementTree.parse(file).iter() if rect.get(f"{tag}type") == "tensor"]
        return collections.Counter(
            (rect.get(f"{tag}name"), rect.get(f"{tag}size"), rect.get(f"{tag}layout")) for rect in rects
        )

    assert rectangles(both[0]) == rectangles(both[1])


def test_the_graphs_profile_has_the_originals_operators(both):
    def types(folder):
        profile = json.loads((folder / "profiling.json").read_text())
        return collections.Counter(each["type"] for each in profile["graph_exec"]["operator"].values())

    assert types(both[0]) == types(both[1])
