# SPDX-License-Identifier: Apache-2.0
"""A copy of the package as it is where it was built without torch, and compilers whose outcome the test chooses."""

import atexit
import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from program_server import ProgramServer

import opscope
from opscope import _core

PACKAGE = pathlib.Path(opscope.__file__).parent
ENGINE = pathlib.Path(_core.__file__).parent

ONE_OPERATOR = """
import torch
from opscope.torch import profile
x = torch.ones(2, 3)
with profile(record_shapes=True) as prof:
    torch.add(x, x)
print([event.name for event in prof.events()], prof.events()[0].input_shapes[:2])
"""
RECORDED = "['aten::add'] [[2, 3], [2, 3]]\n"


def make(folder):
    """The package in folder/opscope, without the adapter that it was built with."""
    package = folder / "opscope"
    for origin in {ENGINE, PACKAGE}:
        shutil.copytree(
            origin, package, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__", "libopscope_torch*")
        )
    brought = ENGINE.parent / "opscope.libs"  # what a wheel of auditwheel carries of the system it was made on
    if brought.exists():
        shutil.copytree(brought, folder / brought.name)
    return folder


def environment(site, cache, **more):
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("OPSCOPE_CACHE", "OPSCOPE_LOG", "CXX", "PYTHONPATH")
    }
    path = os.pathsep.join([str(site), *([os.environ["PYTHONPATH"]] if "PYTHONPATH" in os.environ else [])])
    return {**kept, "PYTHONPATH": path, "OPSCOPE_CACHE": str(cache), "PYTHONDONTWRITEBYTECODE": "1", **more}


@functools.cache
def _programs():
    server = ProgramServer()
    atexit.register(server.close)
    return server


def start(code, site, cache, **more):
    """A Program (program_server.py) with that package, cache and environment."""
    folder = pathlib.Path(tempfile.mkdtemp(dir=_programs().folder))
    return _programs().start(code, folder, environment(site, cache, **more))


def run(code, site, cache, **more):
    """Its Outcome."""
    return start(code, site, cache, **more).wait(300)


def doctor_of_torch(site, cache, **more):
    """What `opscope doctor` says of torch."""
    command = [sys.executable, "-m", "opscope", "doctor", "--json"]
    around = environment(site, cache, **more)
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, env=around)
    (torch,) = [row for row in json.loads(done.stdout)["frameworks"] if row["name"] == "torch"]
    return torch


# An adapter is compiled as two units, side by side, and linked: the first one is noted. What does not end by itself, or
# fails, is that one too.
_COMPILER = """#!/bin/sh
case "$*" in
  --version) echo test compiler; exit 0;;
  *adapter.cc*) echo $$ >>{calls};;
  *beside.cc*) grep -q 'exec g++\\|cp ' {folder}/acts || exit 0;;
esac
cd {folder}; . {folder}/acts
"""


class Compiler:
    """A program for CXX: notes each compilation in `calls`, then does what `acts` says in shell."""

    def __init__(self, folder, acts):
        self.folder = folder
        folder.mkdir()
        self.path = folder / "c++"
        self._calls = folder / "calls"
        self.path.write_text(_COMPILER.format(folder=folder, calls=self._calls))
        self.path.chmod(0o755)
        self.act(acts)

    def act(self, acts):
        """Changes what it does; it stays the same compiler."""
        (self.folder / "acts").write_text(acts)

    @property
    def calls(self):
        """The process numbers of the compilations so far."""
        return [int(line) for line in self._calls.read_text().split()] if self._calls.exists() else []


def giving(library):
    """What a compiler does that only copies a finished library to its output."""
    return f'while [ "$1" != -o ]; do shift; done; cp {library} "$2"'


REAL = 'exec g++ "$@"'
