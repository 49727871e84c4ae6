# SPDX-License-Identifier: Apache-2.0
"""A flight recorder in a training loop: the newest of what happened, as a file, when something goes wrong.

    python torch_flight_recorder.py [FOLDER]

The loop hangs once, in a queue that stays empty, and is woken by a dump that the watchdog wrote. Then a signal
requests another dump, as `kill -USR1 PID` from a shell would.
"""

import os
import queue
import signal
import sys
import threading

import torch

import opscope
from opscope.torch import profile, record_function


def train(model, steps, prof):
    for _ in range(steps):
        with record_function("forward and backward"):
            model(torch.randn(64, 64)).sum().backward()
        prof.step()


def open_spans(path):
    """Names of the ranges that were open when the dump was written, outermost first."""
    spans = opscope.open(path).spans
    return [name for name, flags in zip(spans.text("name"), spans["flags"], strict=True) if flags & 1]


def wait_for_dump(prof, count, done):
    while len(prof.dumps) < count:
        threading.Event().wait(0.01)
    done.put("go on")


def main(folder="."):
    model = torch.nn.Linear(64, 64)
    # [flight]
    prof = profile(
        max_bytes=64 << 20,
        at_cap="keep_newest",
        dump_to=os.path.join(folder, "flight-{pid}-{number}.opscope"),
        dump_on_signal=signal.SIGUSR1,
        dump_on_exception=True,
        dump_if_no_step_for=1.0,
    )
    # [flight]
    with prof:
        train(model, 50, prof)
        batches = queue.Queue()
        threading.Thread(target=wait_for_dump, args=(prof, 1, batches)).start()
        with record_function("wait for a batch"):
            batches.get()
        prof.step()
        with record_function("checkpoint"):
            os.kill(os.getpid(), signal.SIGUSR1)
            wait_for_dump(prof, 2, batches)
    for path in prof.dumps:
        print(f"{os.path.basename(path).replace(str(os.getpid()), 'PID')}: open were {', '.join(open_spans(path))}")


if __name__ == "__main__":
    main(*sys.argv[1:])
