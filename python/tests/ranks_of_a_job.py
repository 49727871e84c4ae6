# SPDX-License-Identifier: Apache-2.0
"""Runs a program as the ranks of a job."""

import subprocess
import sys


def run_ranks(arguments_of, limit_s, ranks=2):
    """Starts ``python *arguments_of(rank)`` for each rank and waits; all must succeed."""
    started = [
        subprocess.Popen(
            [sys.executable, *map(str, arguments_of(rank))],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(ranks)
    ]
    try:
        outputs = [rank.communicate(timeout=limit_s)[0] for rank in started]
    finally:
        for rank in started:
            rank.kill()
    assert [rank.returncode for rank in started] == [0] * ranks, outputs
