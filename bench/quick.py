# SPDX-License-Identifier: Apache-2.0
"""Rows once and small, as many side by side as there are cores: bench/quick.py NAME... (`bench/run --quick`)

This process imports torch and forks for every row, and a row for each of its fresh processes, because importing torch
takes longer than all that they do here. Prints the rows in the order of the names. When a row fails, its output is
shown and the others go on.
"""

import faulthandler
import gc
import os
import sys
import tempfile
from multiprocessing.connection import wait
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a thread of it would not survive the fork

import torch
import torch._dynamo  # noqa: F401  (every optimizer imports it)

import measure

HERE = Path(__file__).resolve().parent


class Row:
    """A file of rows that runs in a child; `sentinel` is ready when it has ended."""

    def __init__(self, name):
        self.name = name
        self._output, self._errors = (tempfile.TemporaryFile("w+") for _ in range(2))
        self._child = measure.start_script(str(HERE / f"{name}.py"), ["--quick"], self._output, self._errors)
        self.sentinel = self._child.sentinel

    def end(self):
        """The rows that it printed; None: it failed, and its output was shown."""
        self._child.join()
        self._output.seek(0)
        rows = self._output.read()
        if self._child.exitcode == 0 and rows:
            measure.say(self.name)
            return rows
        self._errors.seek(0)
        measure.say(f"{self.name} failed, exit status {self._child.exitcode}\n{self._errors.read()}")
        return None


def run_all(names):
    """{name: the rows that it printed, or None}"""
    waiting, running, ended = list(reversed(names)), [], {}
    while waiting or running:
        while waiting and len(running) < (os.cpu_count() or 2):
            running.append(Row(waiting.pop()))
        ready = wait([row.sentinel for row in running])
        for row in [row for row in running if row.sentinel in ready]:
            running.remove(row)
            ended[row.name] = row.end()
    return ended


def main():
    faulthandler.enable()  # a row that is ended by SIGSEGV prints its Python stack
    measure.forks_are_enough = True
    torch.set_num_threads(1)
    gc.freeze()  # else each child walks, and so copies, all objects of torch
    os.chdir(HERE.parent / "build" / "bench")
    rows = run_all(sys.argv[1:])
    for name in sys.argv[1:]:
        print(rows[name] or "", end="")
    failed = [name for name, printed in rows.items() if printed is None]
    if failed:
        sys.exit(f"bench: failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
