# SPDX-License-Identifier: Apache-2.0
"""A framework in 150 lines of C++ and 150 of Python (examples/framework), recorded beside its own profiler."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import opscope
from opscope.adapters.compiler import find_compiler

FOLDER = Path(__file__).parents[2] / "examples/framework"
pytestmark = pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler for the adapter")


@pytest.fixture(scope="module")
def toynet(tmp_path_factory):
    """The installed framework: a folder with its library, its Python and opscope's skin for it."""
    folder = tmp_path_factory.mktemp("toynet")
    for path in FOLDER.iterdir():
        if path.is_file():
            shutil.copy(path, folder)
    command = [*find_compiler().command, "-O2", "-shared", "-fPIC", "-o", "libtoynet.so", "toynet.cc"]
    subprocess.run(command, cwd=folder, check=True, timeout=120)
    return folder


@pytest.fixture(scope="module")
def run(toynet, tmp_path_factory):
    """run(program, **environment) -> what it prints, as JSON; a cache and a working folder of their own."""
    cache = tmp_path_factory.mktemp("cache") / "opscope"

    def act(program, *, folder=None, **more):
        path = os.pathsep.join([str(toynet), *filter(None, [os.environ.get("PYTHONPATH")])])
        environment = {**os.environ, "PYTHONPATH": path, "OPSCOPE_CACHE": str(cache), **more}
        done = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, timeout=300, env=environment, cwd=folder
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1]), done.stderr

    return act


UNDER_BOTH = """
import json, toynet, opscope_toynet

def program(profiler):
    with profiler:
        for step in range(6):
            for op in ("conv", "relu", "conv"):
                toynet.run(op, 50000)
            profiler.step()

told = []
arguments = dict(skip=2, record=3, inner=INNER)
theirs = toynet.Profiler(**arguments, on_ready=lambda profiler: told.append("theirs"))
ours = opscope_toynet.Profiler(**arguments, on_ready=lambda profiler: told.append("ours"))
program(theirs)
program(ours)
both = [theirs.table(), ours.table(), told]
"""


@pytest.mark.parametrize("inner", [False, True])
def test_it_records_what_the_frameworks_own_profiler_does(run, inner):
    print_it = "print(json.dumps([*both, [op for op, _ in theirs.rows], list(ours.trace.spans.text('name'))]))"
    (theirs, ours, told, rows, spans), _ = run(UNDER_BOTH.replace("INNER", str(inner)) + print_it)
    assert Counter(rows) == Counter(spans) and len(rows) == 3 * (7 if inner else 3)
    assert told == ["theirs", "ours"]
    layout = re.compile(r"[\d ]+us")
    assert sorted(layout.sub("", ours).splitlines()) == sorted(layout.sub("", theirs).splitlines())
    assert {len(line) for line in ours.splitlines()[1:]} == {len(line) for line in theirs.splitlines()[1:]}


def test_the_adapter_is_compiled_and_tried_once(run):
    program = "import opscope_toynet\nwith opscope_toynet.Profiler(): pass\nprint(1)"
    run(program)
    _, second = run(program, OPSCOPE_LOG="info")
    assert "compiling" not in second and "the adapter for toynet 1.0 is " in second


def test_the_patched_framework_is_recorded_by_opscope(run):
    (kinds, undone), _ = run(
        "import json, toynet, opscope_toynet\n"
        "with opscope_toynet.patch():\n"
        "    with toynet.Profiler() as profiler:\n        toynet.run('conv')\n"
        "print(json.dumps([[row['kind'] for row in profiler.trace.summary(group_by=['kind'])],\n"
        "                  toynet.Profiler is not opscope_toynet.Profiler]))"
    )
    assert (kinds, undone) == (["operator"], True)


def test_what_every_front_end_has_works_for_it(run, tmp_path):
    program = """
import json, threading, toynet, opscope_toynet
profiler = opscope_toynet.Profiler(record_to="live.opscope", dump_to="dump.opscope", inner=True)
profiler.start()
toynet.run("conv")
thread = threading.Thread(target=toynet.run, args=("pad",))
thread.start(); thread.join()
dump = profiler.dump()
try:
    profiler.start()
except RuntimeError as error:
    again = str(error)
profiler.stop()
toynet.run("relu")
profiler.save("saved.opscope")
print(json.dumps([dump, again, profiler.profiler.counts()["recorded"], repr(profiler)]))
"""
    (dump, again, recorded, shown), _ = run(program, folder=tmp_path)
    files = ("live.opscope", "saved.opscope", dump)
    names = [sorted(opscope.open(tmp_path / name).spans.text("name")) for name in files]
    assert names == [["conv", "matmul", "pad", "pad"]] * 3
    assert again.startswith("the profiler is already running") and recorded == 4
    assert shown == "<opscope_toynet.Profiler: 4 events on 2 threads>"
