# SPDX-License-Identifier: Apache-2.0
"""HTA, beside which some files of this folder measure: a Python of its own that has it, and the part of a file that
runs there.

A file runs there as `FILE --one JSON` and prints its result as JSON (`answer`).
"""

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

import measure

PACKAGES = ("traceinsight", "pandas<3")


def python_of(options):
    """The Python with HTA: that of --peers, or the one in build/bench/peers, where the first run installs it. None: it
    could not be installed, or --quick, which does not install.
    """
    place = Path("peers").resolve()
    python = place / "bin" / "python"
    if options.peers:
        return options.peers
    if options.quick:
        return None
    if not (place / "ready").exists():
        measure.say("installing " + " ".join(PACKAGES))
        made = subprocess.run([sys.executable, "-m", "venv", str(place)], check=False).returncode == 0
        install = [str(python), "-m", "pip", "install", "-q", *PACKAGES]
        if not made or subprocess.run(install, check=False, stdout=sys.stderr).returncode != 0:
            return None
        (place / "ready").touch()
    return str(python)


def command(python, script, arguments):
    return [python, script, "--one", json.dumps(arguments)]


def answer(output):
    """What a file printed there."""
    return json.loads(output.splitlines()[-1])


def ask(python, script, arguments):
    """Runs the file there. None: HTA failed."""
    done = subprocess.run(command(python, script, arguments), stdout=subprocess.PIPE, check=False, text=True)
    if done.returncode != 0:
        measure.say(f"{os.path.basename(script)}: HTA failed")
        return None
    return answer(done.stdout)


@contextlib.contextmanager
def silence():
    """Drops what is written to standard output in the block, because HTA prints."""
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)
