# SPDX-License-Identifier: Apache-2.0
"""One rank of trainings: runs programs of examples/ one after the other, in the process group of the launcher's
variables. Run as ``two_rank_trainings.py PROGRAM...``.
"""

import os
import runpy
import sys

for program in sys.argv[1:]:
    runpy.run_path(program, run_name="__main__")
sys.stdout.flush()
# Everything is written. Gloo's threads now and then end a process that tears its group down.
os._exit(0)
