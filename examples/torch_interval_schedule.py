# SPDX-License-Identifier: Apache-2.0
"""A schedule by time interval: one training step is recorded every `seconds`, however long steps take.

    python torch_interval_schedule.py
"""

import time

import torch

from opscope.torch import ProfilerAction, profile


# [interval]
def every(seconds, clock=time.monotonic):
    """Records one step, then none until `seconds` have passed since that step began."""
    due = clock()

    def schedule(step):
        nonlocal due
        now = clock()
        if now < due:
            return ProfilerAction.NONE
        due = now + seconds
        return ProfilerAction.RECORD_AND_SAVE

    return schedule
# [interval]


def main(seconds=0.05, steps=200):
    model = torch.nn.Linear(64, 64)
    recorded = []

    def report(prof):
        averages = prof.key_averages()
        slowest = max(averages, key=lambda row: row.self_cpu_time_total)
        recorded.append((prof.step_num - 1, slowest.key))  # step_num is already that of the next step

    with profile(schedule=every(seconds), on_trace_ready=report) as prof:
        for _ in range(steps):
            model(torch.randn(256, 64)).sum().backward()
            prof.step()
    print(f"{len(recorded)} of {steps} steps were recorded")
    for step, slowest in recorded[:5]:
        print(f"step {step}: most time in {slowest}")


if __name__ == "__main__":
    main()
