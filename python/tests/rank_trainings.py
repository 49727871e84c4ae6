# SPDX-License-Identifier: Apache-2.0
"""The ranks of a job: each a process that runs programs of examples/ one after the other, in the process group of its
variables. Run as ``rank_trainings.py RANKS MODULES PROGRAM...``; RANKS is a JSON list of variables.

Importing a trainer and torch's compiler takes ten seconds, so one process imports the modules and forks the ranks.
"""

import importlib
import json
import os
import runpy
import signal
import sys
import traceback


def run_rank(variables, programs):
    os.environ.update(variables)
    try:
        for program in programs:
            runpy.run_path(program, run_name="__main__")
        sys.stdout.flush()
        # Everything is written. Gloo's threads now and then end a process that tears its group down.
        os._exit(0)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


if __name__ == "__main__":
    ranks, modules, *programs = sys.argv[1:]
    for module in modules.split(","):
        importlib.import_module(module)
    running = set()
    for variables in json.loads(ranks):
        rank = os.fork()
        if rank == 0:
            run_rank(variables, programs)
        running.add(rank)
    while running:
        rank, status = os.wait()
        running.remove(rank)
        if status != 0:  # the other ranks would wait for this one
            for other in running:
                os.kill(other, signal.SIGKILL)
            sys.exit(1)
