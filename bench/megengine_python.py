# SPDX-License-Identifier: Apache-2.0
"""Files of this folder that measure MegEngine run a part of themselves in its own Python."""

import importlib.util
import json
import os
import pathlib
import subprocess
import tempfile

PYTHON = pathlib.Path(__file__).parents[1] / ".venv-megengine/bin/python"
SIDES = {"opscope": "opscope.megengine", "torch": "megengine.utils.profiler"}  # as the rows call them


def in_megengines_python(script, arguments, under=(), environment=os.environ):
    """Runs `script --one ARGUMENTS` there and returns the object that it prints last; `under`: words of a program that
    runs it.
    """
    package = pathlib.Path(importlib.util.find_spec("opscope").origin).parent
    with tempfile.TemporaryDirectory() as place:  # the package alone: what lies beside it is of another Python
        (pathlib.Path(place) / "opscope").symlink_to(package)
        done = subprocess.run(
            [*under, PYTHON, script, "--one", json.dumps(arguments)],
            env={**environment, "PYTHONPATH": place, "MEGENGINE_LOGGING_LEVEL": "ERROR"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL if under else None,
            check=True,
            text=True,
        )
    return json.loads(done.stdout.splitlines()[-1])
