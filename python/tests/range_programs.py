# SPDX-License-Identifier: Apache-2.0
"""Random programs that enter and leave ranges in all the ways that Python has.

python/tests/test_torch_crossing_spans.py looks at their events itself, tools/viewers/crossing_compare.py asks Perfetto.
"""

import contextlib
import random
import types

import torch.profiler

WAYS = (
    "with", "explicit", "callee", "stack", "contextmanager", "decorator", "generator", "crossed", "raising", "torchs",
    "left_open", "coroutines",
)  # fmt: skip


class Program:
    """Calls itself with random ways to enter a range around less and less."""

    def __init__(self, seed, profiler, ways=WAYS):
        """`profiler`: opscope.torch or torch.profiler, whose ranges are entered."""
        self.random = random.Random(seed)
        self.ways = ways
        self.range, self.original_range = profiler.record_function, torch.profiler.record_function
        self.names = 0
        self.open = []

    def run(self, depth):
        torch.ones(2).add(1)
        for _ in range(self.random.randrange(3) if depth else 0):
            self.names += 1
            getattr(self, self.random.choice(self.ways) + "_way")(f"range {self.names}", depth - 1)

    def with_way(self, name, depth):
        with self.range(name):
            self.run(depth)

    def torchs_way(self, name, depth):
        with self.original_range(name):
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
