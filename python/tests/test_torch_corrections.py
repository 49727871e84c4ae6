# SPDX-License-Identifier: Apache-2.0
"""Where torch.profiler 2.13 is wrong, ours is right: the differences of docs/reference/torch_differences.md.

Others have their own places: RECORD to WARMUP in test_torch_profile.py, two profiles at once in
test_torch_two_profilers.py, names in files in test_torch_loaders.py and test_torch_record_function.py.
"""

import json
import subprocess
import sys
import warnings

import pytest

pytestmark = pytest.mark.framework("torch")

NAMES = [
    'say "hello"',
    "tab\there",
    "line\nbreak",
    "emoji \U0001f600",
    "bell\x07",
    "back\\slash",
    "zero width \u200b",
    "quote at the end \\",
    "控制",
]


@pytest.fixture(scope="module")
def labelled(tmp_path_factory):
    """A recording with a range of each name, and its trace file."""
    import torch

    import opscope.torch

    with opscope.torch.profile() as prof:
        for name in NAMES:
            with opscope.torch.record_function(name):
                torch.ones(1)
            handle = torch.ops.profiler._record_function_enter_new(name + " by operator", None)
            torch.ops.profiler._record_function_exit._RecordFunction(handle)
    path = tmp_path_factory.mktemp("names") / "x.json"
    prof.export_chrome_trace(str(path))
    return prof, json.loads(path.read_text(encoding="utf-8"))["traceEvents"]


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_in_the_events_the_table_and_the_file_as_it_was_given(labelled, name):
    prof, events = labelled
    for spelled in (name, name + " by operator"):
        assert [event.key for event in prof.events()].count(spelled) == 1
        assert [event["name"] for event in events].count(spelled) == 1
    if "\n" not in name:
        assert name in prof.key_averages().table(row_limit=-1, max_name_column_width=None)


def test_a_second_start_keeps_what_the_first_has_recorded():
    import torch

    import opscope.torch

    prof = opscope.torch.profile()
    prof.start()
    torch.ones(1)
    with pytest.raises(RuntimeError, match="already running"):
        prof.start()
    torch.zeros(1)
    prof.stop()
    assert {"aten::ones", "aten::zeros"} <= {event.name for event in prof.events()}


def test_an_inner_profile_takes_nothing_from_the_outer_one():
    import torch

    import opscope.torch

    with opscope.torch.profile() as outer:
        torch.ones(1)
        with opscope.torch.profile() as inner:
            torch.zeros(1)
        torch.eye(2)
    assert {"aten::ones", "aten::zeros", "aten::eye"} <= {event.name for event in outer.events()}
    names = {event.name for event in inner.events()}
    assert "aten::zeros" in names and not {"aten::ones", "aten::eye"} & names


def cells_of(table, row):
    """{column title: cell} of the row that begins with this name."""
    lines = table.splitlines()
    bars = lines[0].split("  ")
    ends, at = [], 0
    for bar in bars:
        if bar:
            ends.append((at, at + len(bar)))
        at += len(bar) + 2
    (line,) = [line for line in lines if line.strip().startswith(row)]
    return {lines[1][a:b].strip(): line[a:b].strip() for a, b in ends}


def test_flops_and_sources_stand_under_their_own_titles_and_swapped_for_compat():
    import torch

    import opscope.torch

    with opscope.torch.profile(record_shapes=True, with_flops=True) as prof:
        torch.ones(8, 8) @ torch.ones(8, 8)
    averages = prof.key_averages()
    for average in averages:
        average.stack = ["training/script.py(7):step"]
    ours = cells_of(averages.table(), "aten::mm")
    assert ours["Source Location"].startswith("training")
    flops = next(title for title in ours if "FLOPs" in title)
    assert float(ours[flops]) > 0
    with opscope.torch.compat():
        swapped = cells_of(averages.table(), "aten::mm")
    assert swapped[next(title for title in swapped if "FLOPs" in title)].startswith("training")
    assert float(swapped["Source Location"]) > 0


PROGRAM = """
import torch
import opscope.torch
with opscope.torch.profile(schedule=opscope.torch.schedule(wait=0, warmup=1, active=2, repeat=1)) as prof:
    for _ in range(4):
        torch.ones(1)
        prof.step()
prof.key_averages().table()
"""


def test_nothing_is_printed_at_start_and_stop():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout == "" and done.stderr == ""


def test_a_schedule_from_record_to_warmup_warns_and_goes_on():
    import torch

    import opscope.torch

    action = opscope.torch.ProfilerAction
    plan = [action.RECORD, action.WARMUP, action.RECORD, action.RECORD_AND_SAVE]
    seen = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with opscope.torch.profile(
            schedule=lambda step: plan[step] if step < len(plan) else action.NONE,
            on_trace_ready=lambda prof: seen.append({event.name for event in prof.events()}),
        ) as prof:
            for _ in plan:
                torch.ones(1)
                prof.step()
    assert any("RECORD followed by WARMUP" in str(w.message) for w in caught)
    assert len(seen) == 1 and {"aten::ones", "ProfilerStep*"} <= seen[0]


def test_an_export_may_be_repeated_and_follows_symbolic_links(tmp_path):
    import torch

    import opscope.torch

    with opscope.torch.profile() as prof:
        torch.ones(1)
    (tmp_path / "real").mkdir()
    (tmp_path / "latest.json").symlink_to("real/x.json")
    prof.export_chrome_trace(str(tmp_path / "latest.json"))
    prof.export_chrome_trace(str(tmp_path / "latest.json"))
    assert (tmp_path / "latest.json").is_symlink()
    assert "aten::ones" in (tmp_path / "real" / "x.json").read_text()
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["latest.json", "real", "x.json"]
