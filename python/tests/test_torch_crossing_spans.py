# SPDX-License-Identifier: Apache-2.0
"""No two complete events of a thread cross in an exported Chrome trace, however the program enters and leaves ranges.

Perfetto drops an event that crosses the end of another of its thread. Random programs enter and leave ranges and steps
in all the ways that Python has, with calls of Python recorded; every pair of events of every row is looked at.
"""

import collections
import contextlib
import json
import random
import threading
import types

import pytest

pytestmark = pytest.mark.framework("torch")

WAYS = (
    "with", "explicit", "callee", "stack", "contextmanager", "decorator", "generator", "crossed", "raising", "torchs",
    "left_open", "coroutines",
)  # fmt: skip


class Program:
    """Calls itself with random ways to enter a range around less and less."""

    def __init__(self, seed):
        import torch.profiler

        import opscope.torch

        self.random = random.Random(seed)
        self.range, self.torchs_range = opscope.torch.record_function, torch.profiler.record_function
        self.names = 0
        self.open = []

    def run(self, depth):
        import torch

        torch.ones(2).add(1)
        for _ in range(self.random.randrange(3) if depth else 0):
            self.names += 1
            getattr(self, self.random.choice(WAYS) + "_way")(f"range {self.names}", depth - 1)

    def with_way(self, name, depth):
        with self.range(name):
            self.run(depth)

    def torchs_way(self, name, depth):
        with self.torchs_range(name):
            self.run(depth)

    def explicit_way(self, name, depth):
        entered = self.range(name)
        entered.__enter__()
        self.run(depth)
        entered.__exit__(None, None, None)

    def enter(self, label, calls):
        if calls:
            return self.enter(label, calls - 1)
        label.__enter__()
        return self.run(0)  # operators of the call that lie in the range

    def leave(self, label, calls):
        self.run(0)
        self.leave(label, calls - 1) if calls else label.__exit__(None, None, None)

    def callee_way(self, name, depth):
        """As Lightning does: the range begins in one call and ends in another."""
        label = self.range(name)
        self.enter(label, self.random.randrange(4))
        self.run(depth)
        self.leave(label, self.random.randrange(4))

    def stack_way(self, name, depth):
        with contextlib.ExitStack() as stack:
            stack.enter_context(self.range(name))
            self.run(depth)
            stack.enter_context(self.range(name + " second"))

    def contextmanager_way(self, name, depth):
        @contextlib.contextmanager
        def labelled():
            with self.range(name):
                yield self.run(0)

        with labelled():
            self.run(depth)

    def decorator_way(self, name, depth):
        self.range(name)(self.run)(depth)

    def generator_way(self, name, depth):
        @self.range(name)
        def items():
            yield self.run(depth)
            yield self.run(0)

        for _ in items():
            self.run(0)

    def coroutines_way(self, name, depth):
        @types.coroutine
        def suspended():
            yield

        @self.range(name)
        async def work():
            self.run(depth)
            await suspended()
            self.run(0)

        taking_turns = [work(), work()]
        while taking_turns:
            coroutine = self.random.choice(taking_turns)
            try:
                coroutine.send(None)
            except StopIteration:
                taking_turns.remove(coroutine)

    def crossed_way(self, name, depth):
        first, second = self.range(name), self.range(name + " crossing")
        first.__enter__()
        self.run(0)
        self.enter(second, self.random.randrange(2))
        self.run(depth)
        first.__exit__(None, None, None)
        self.leave(second, self.random.randrange(2))

    def raising_way(self, name, depth):
        with contextlib.suppress(KeyError), self.range(name):
            self.run(depth)
            raise KeyError

    def left_open_way(self, name, depth):
        self.open.append(self.range(name))
        self.open[-1].__enter__()
        if len(self.open) > 2:
            self.open.pop(0).__exit__(None, None, None)


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

    program = Program(seed)
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
        threads = [threading.Thread(target=Program(seed).run, args=(4,)) for seed in range(100, 104)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    exported(prof, tmp_path / "ours.json")


def test_steps_and_what_runs_in_them_stay_on_their_thread(tmp_path):
    """The calls in which a step begins or ends leave the row, the step stays above its operators."""
    import opscope.torch

    seen = []

    def handler(prof):
        rows = exported(prof, tmp_path / f"{len(seen)}.json")
        seen.append(
            [row[1] for row, events in rows.items() for event in events if event[2].startswith("ProfilerStep#")]
        )
        (tid,) = {tid for tid in seen[-1] if isinstance(tid, int)}
        assert set(seen[-1]) == {tid}
        aside = {name for (_, row), events in rows.items() if row == f"{tid} crossing" for _, _, name in events}
        assert any("profile.py" in name and name.endswith(": step") for name in aside), aside
        assert not any(name.startswith("aten::") for name in aside)

    program = Program(7)
    options = {"with_stack": True, "schedule": opscope.torch.schedule(wait=1, warmup=1, active=3, repeat=2)}
    with opscope.torch.profile(on_trace_ready=handler, **options) as prof:
        for _ in range(12):
            program.with_way("work", 2)
            prof.step()
    assert len(seen) == 2 and all(len(steps) == 3 for steps in seen)
