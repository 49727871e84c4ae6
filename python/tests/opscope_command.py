# SPDX-License-Identifier: Apache-2.0
"""Runs the command line of the package that is tested: ``python -m opscope``."""

import json
import subprocess
import sys


def run(*arguments, code=0, **options):
    """``opscope ARGUMENTS``, which must exit with `code` (None: with any), as a CompletedProcess with texts."""
    command = [sys.executable, "-m", "opscope", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, **options)
    assert code in (None, done.returncode), (done.returncode, done.stdout, done.stderr)
    return done


def answer(*arguments, code=0):
    """The object that ``opscope ARGUMENTS --json`` prints."""
    return json.loads(run(*arguments, "--json", code=code).stdout)
