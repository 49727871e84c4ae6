# SPDX-License-Identifier: Apache-2.0
"""``paddle.profiler.timer``: cost of batches and readers. Every Profiler measures it; with ``timer_only`` nothing else.

Paddle's data loaders report to its one ``benchmark()``, so this module uses it, with events of its own. Paddle's events
divide the time of n - 9 steps by n - 10, and never count the longest step so far as the shortest one
(docs/reference/paddle.md).
"""

from __future__ import annotations

from paddle.profiler import timer as _original
from paddle.profiler.timer import Benchmark, benchmark

__all__ = ["Benchmark", "Event", "begin", "benchmark"]


class Event(_original.Event):
    """Statistics of one profiler."""

    def record_batch(self, usetime, num_samples=None):
        """Adds a step that took ``usetime`` seconds; the first ten are left out of the summary."""
        if self.total_iters == self.skip_iter - 1:
            self._forget_while(lambda: super(Event, self).record_batch(usetime, num_samples))
        else:
            super().record_batch(usetime, num_samples)

    def _forget_while(self, record) -> None:
        batch, speed, samples = dict(self.batch_records), dict(self.speed_records), self.total_samples
        record()
        self.batch_records, self.speed_records, self.total_samples = batch, speed, samples

    def _update_records(self, current_record, records):
        records["min"] = min(records["min"], current_record)
        records["max"] = max(records["max"], current_record)
        if "total" in records:
            records["total"] += current_record


def begin() -> None:
    """``benchmark().begin()``, with our Event."""
    timer = benchmark()
    timer.begin()
    ours = Event()
    timer.events.items[-1] = timer.current_event = ours


def __getattr__(name: str):
    return getattr(_original, name)
