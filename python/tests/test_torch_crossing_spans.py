# SPDX-License-Identifier: Apache-2.0
"""No two complete events of a thread cross in an exported Chrome trace, however the program enters and leaves ranges.

Perfetto drops an event that crosses the end of another of its thread. Random programs enter and leave ranges and steps
in all the ways that Python has, with calls of Python recorded; every pair of events of every row is looked at.
"""

import collections
import json
import threading

import pytest

pytestmark = pytest.mark.framework("torch")

FURTHER_ROWS = range(10**9, 10**9 + 1000)  # of spans that cross others


def program_of(seed):
    import range_programs

    import opscope.torch

    return range_programs.Program(seed, opscope.torch)


def rows_of(path):
    """(start, end, name) of the complete events of each process and thread, in nanoseconds."""
    rows = collections.defaultdict(list)
    for event in json.loads(path.read_text(), parse_float=str)["traceEvents"]:
        if event["ph"] == "X":
            start, duration = (round(1000 * float(event[key])) for key in ("ts", "dur"))
            rows[event["pid"], event["tid"]].append((start, start + duration, event["name"]))
    return rows


def names_of(trace):
    return list(trace.spans.text("name"))


def threads_of(trace):
    tids = trace.tracks["tid"]
    rows = zip(names_of(trace), trace.spans["track"], strict=True)
    return collections.Counter((name, tids[track]) for name, track in rows)


def crossing(events):
    events = sorted(events, key=lambda event: event[0])
    found = []
    for i, (start, end, name) in enumerate(events):
        for other_start, other_end, other in events[i + 1 :]:
            if other_start >= end:
                break
            if start < other_start and other_end > end:
                found.append((name, other))
    return found


def exported(prof, path):
    prof.export_chrome_trace(str(path))
    rows = rows_of(path)
    assert {row: found for row, events in rows.items() if (found := crossing(events))} == {}
    return rows


@pytest.mark.parametrize("seed", range(8))
def test_events_of_a_thread_do_not_cross_however_ranges_are_entered(seed, tmp_path):
    import opscope
    import opscope.torch

    program = program_of(seed)
    with opscope.torch.profile(with_stack=True) as prof:
        for _ in range(3):
            program.run(4)
    rows = exported(prof, tmp_path / "ours.json")
    written = collections.Counter(name for events in rows.values() for _, _, name in events)
    assert written - collections.Counter({"PyTorch Profiler (0)": 1}) == collections.Counter(names_of(prof.trace))

    # Reading puts the spans back on their threads.
    again = opscope.open(tmp_path / "ours.json")
    assert {row for row, count in threads_of(prof.trace).items() if threads_of(again)[row] < count} == set()
    again.export(tmp_path / "again.json", to="chrome")
    assert rows_of(tmp_path / "again.json") == rows


@pytest.mark.torch_has("_ExperimentalConfig(profile_all_threads)")
def test_events_of_many_threads_do_not_cross(tmp_path):
    import opscope.torch

    config = opscope.torch._ExperimentalConfig(profile_all_threads=True)
    with opscope.torch.profile(with_stack=True, experimental_config=config) as prof:
        threads = [threading.Thread(target=program_of(seed).run, args=(4,)) for seed in range(100, 104)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    rows = exported(prof, tmp_path / "ours.json")
    opscope.open(tmp_path / "ours.json").export(tmp_path / "again.json", to="chrome")
    assert rows_of(tmp_path / "again.json") == rows


def test_steps_and_what_runs_in_them_stay_on_their_thread(tmp_path):
    """The calls in which a step begins or ends leave the row, the step stays above its operators."""
    import opscope.torch

    seen = []

    def handler(prof):
        rows = exported(prof, tmp_path / f"{len(seen)}.json")
        seen.append(
            [row[1] for row, events in rows.items() for event in events if event[2].startswith("ProfilerStep#")]
        )
        assert set(seen[-1]) == {threading.get_native_id()}
        aside = {name for (_, row), events in rows.items() if row in FURTHER_ROWS for _, _, name in events}
        assert any("profile.py" in name and name.endswith(": step") for name in aside), aside
        assert not any(name.startswith("aten::") for name in aside)

    program = program_of(7)
    options = {"with_stack": True, "schedule": opscope.torch.schedule(wait=1, warmup=1, active=3, repeat=2)}
    with opscope.torch.profile(on_trace_ready=handler, **options) as prof:
        for _ in range(12):
            program.with_way("work", 2)
            prof.step()
    assert len(seen) == 2 and all(len(steps) == 3 for steps in seen)
