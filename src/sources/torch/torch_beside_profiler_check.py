# SPDX-License-Identifier: Apache-2.0
"""The PyTorch source before, while and after torch.profiler runs in the same process; real torch, by ctypes.

CTest runs it when OPSCOPE_TORCH_DIR is set; by hand: OPSCOPE_BUILD=build/dev python torch_beside_profiler_check.py
"""

import pathlib
import sys
import threading
import unittest

import torch
from torch.profiler import ProfilerActivity, profile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "python" / "tests"))
import raw_window  # noqa: E402
import torch_compare  # noqa: E402
import torch_programs  # noqa: E402


def add(times=1):
    x = torch.ones(2)
    for _ in range(times):
        torch.add(x, x)


def names_of(window):
    return [r["name"] for r in window.ranges()]


def adds_in(names):
    return sum(name == "aten::add" for name in names)


class BesideTorchProfiler(unittest.TestCase):
    def test_each_sees_all_of_its_own_window_however_they_overlap(self):
        for order in ("ours inside", "theirs inside", "ours first", "theirs first"):
            with self.subTest(order):
                ours, theirs = raw_window.Window(), profile(activities=[ProfilerActivity.CPU])
                first, second = (
                    (ours, theirs) if order.startswith("ours f") or order == "theirs inside" else (theirs, ours)
                )
                last_stopped = first if "inside" in order else second
                first.start()
                add(2)
                second.start()
                add(3)
                (second if last_stopped is first else first).stop()
                add(4)
                last_stopped.stop()
                expected = {"inside": 3 if second is ours else 9, "first": 5 if first is ours else 7}
                self.assertEqual(adds_in(names_of(ours)), expected["inside" if "inside" in order else "first"])
                events = theirs.profiler.kineto_results.events()
                expected = {"inside": 3 if second is theirs else 9, "first": 5 if first is theirs else 7}
                self.assertEqual(
                    adds_in(e.name() for e in events), expected["inside" if "inside" in order else "first"]
                )
                ours.free()

    def test_works_again_after_many_of_both(self):
        for _ in range(70):  # more windows than there are callback instances
            with profile(activities=[ProfilerActivity.CPU]):
                add()
            window = raw_window.Window(raw_window.INPUTS)
            with window:
                add()
            self.assertEqual(adds_in(names_of(window)), 1)
            window.free()

    def test_the_range_of_a_fork_that_ends_after_the_window_does_no_harm(self):
        @torch.jit.script
        def slow(x):
            for _ in range(2000):
                x = torch.relu(x + 1)
            return x

        window = raw_window.Window(raw_window.INPUTS)
        window.start()
        future = torch.jit.fork(slow, torch.ones(64, 64))
        window.stop()
        seen = len(window.ranges())
        following = raw_window.Window()
        with following:
            add()
            torch.jit.wait(future)
        self.assertEqual(len(window.ranges()), seen)
        self.assertEqual(
            adds_in(r["name"] for r in following.ranges() if r["thread"] != raw_window.source.source.thread_number()), 0
        )
        window.free()
        following.free()

    def test_a_thread_stopped_by_another_records_nothing_more(self):
        started, stopped = threading.Event(), threading.Event()
        window = raw_window.Window()

        def worker():
            window.start()
            add(5)
            started.set()
            stopped.wait()
            add(7)

        thread = threading.Thread(target=worker)
        thread.start()
        started.wait()
        window.stop()
        stopped.set()
        thread.join()
        self.assertEqual(adds_in(names_of(window)), 5)
        window.free()

    def test_a_tensor_that_cannot_tell_its_sizes_costs_only_its_arguments(self):
        class Mute(torch.Tensor):
            @staticmethod
            def __new__(cls):
                return torch.Tensor._make_wrapper_subclass(cls, (2,), dispatch_sizes_strides_policy="sizes")

            @classmethod
            def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
                if "size" in str(function):
                    raise ValueError("no sizes today")
                return torch.ones(2)

        mute, before = Mute(), raw_window.source.source.failures()
        window = raw_window.Window(raw_window.INPUTS)
        with window:
            torch.ops.aten.neg(mute)
        ranges = [r for r in window.ranges() if r["name"] == "aten::neg"]
        self.assertEqual([r["arguments"] for r in ranges], [[]])
        self.assertGreater(raw_window.source.source.failures(), before)
        window.free()

    def test_the_programs_are_seen_alike(self):
        for name, make in torch_programs.PROGRAMS.items():
            with self.subTest(name):
                window = raw_window.Window(raw_window.INPUTS | raw_window.OVERLOAD_NAMES)
                events = torch_compare.run_with_both(make(), window)
                matched, _, differences = torch_compare.compare(window.ranges(), events)
                self.assertEqual(differences, [])
                self.assertEqual(matched, len(events))
                window.free()


if __name__ == "__main__":
    torch.set_num_threads(1)
    unittest.main()
