# SPDX-License-Identifier: Apache-2.0
"""Flame graphs: of files, and of recordings of opscope.torch with and without Python frames."""

import gzip
import json
import re
import xml.etree.ElementTree as ElementTree

import pytest

import opscope


@pytest.fixture
def trace(tmp_path):
    def span(name, start, duration):
        return {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": start, "dur": duration}

    events = [span("outer", 0, 100), span("inner <&>", 10, 30), span("outer", 200, 50)]
    (tmp_path / "trace.json").write_text(json.dumps({"traceEvents": events}))
    return opscope.open(tmp_path / "trace.json")


def test_folded_stacks_are_lines_of_flamegraph_pl(trace):
    assert trace.folded_stacks() == "outer 120000\nouter;inner <&> 30000\n"
    assert trace.folded_stacks("count") == "outer 2\nouter;inner <&> 1\n"
    assert trace.folded_stacks("flops") == ""


def test_the_svg_holds_every_path(trace, tmp_path):
    for width in (0, -1, float("nan"), float("inf")):
        with pytest.raises(ValueError, match="width must be a finite number above 0"):
            trace.export_flamegraph(tmp_path / "x.svg", width=width)
    trace.export_flamegraph(tmp_path / "x.svg", title="Söme <title>", width=800)
    root = ElementTree.parse(tmp_path / "x.svg").getroot()
    names = [group.get("data-name") for group in root.iter("{http://www.w3.org/2000/svg}g") if group.get("data-name")]
    assert names == ["all", "outer", "inner <&>"]
    assert root.get("width") == "800.00"
    assert "Söme <title>" in [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]


def test_another_name_gets_the_folded_stacks(trace, tmp_path):
    trace.export_flamegraph(tmp_path / "x.txt", metric="count")
    assert (tmp_path / "x.txt").read_text() == trace.folded_stacks("count")


def test_a_name_in_capitals_or_compressed_is_what_it_says(trace, tmp_path):
    trace.export_flamegraph(tmp_path / "x.svg", title="t")
    trace.export_flamegraph(tmp_path / "x.SVG", title="t")
    trace.export_flamegraph(tmp_path / "x.svg.gz", title="t")
    trace.export_flamegraph(tmp_path / "x.folded.gz")
    svg = (tmp_path / "x.svg").read_bytes()
    assert (tmp_path / "x.SVG").read_bytes() == svg
    assert gzip.decompress((tmp_path / "x.svg.gz").read_bytes()) == svg
    assert gzip.decompress((tmp_path / "x.folded.gz").read_bytes()).decode() == trace.folded_stacks()


def test_faults_are_told_and_leave_nothing(trace, tmp_path):
    before = sorted(tmp_path.iterdir())
    for path in (tmp_path, tmp_path / "missing" / "x.svg"):
        with pytest.raises(OSError, match=re.escape(str(path))):
            trace.export_flamegraph(path)
    for name in ("x.html", "x.png.gz"):
        with pytest.raises(ValueError, match=rf"{name}: no known ending; .svg is a graph"):
            trace.export_flamegraph(tmp_path / name)
    with pytest.raises(ValueError, match="metric should be one of: .'time', "):
        trace.export_flamegraph(tmp_path / "x.svg", metric="self_cpu_time_total")
    with pytest.raises(ValueError, match="metric should be one of: "):
        trace.folded_stacks("speed")
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.framework("torch")
def test_a_profile_without_frames_shows_which_operators_called_which(tmp_path):
    import torch

    import opscope.torch

    with opscope.torch.profile(activities=[opscope.torch.ProfilerActivity.CPU]) as prof:
        torch.nn.functional.linear(torch.ones(2, 3), torch.ones(4, 3), torch.ones(4))
    prof.export_flamegraph(tmp_path / "x.folded", metric="count")
    lines = (tmp_path / "x.folded").read_text().splitlines()
    assert "aten::linear 1" in lines
    assert any(line.startswith("aten::linear;aten::addmm") for line in lines)
    prof.export_flamegraph(str(tmp_path / "x.svg"), title="ours")
    assert "aten::addmm" in (tmp_path / "x.svg").read_text()
    with pytest.raises(ValueError, match="metric should be one of: "):
        prof.export_flamegraph(tmp_path / "y.svg", metric="time")
    with pytest.raises(AssertionError, match="must be initialized"):
        opscope.torch.profile().export_flamegraph(tmp_path / "y.svg")
