# SPDX-License-Identifier: Apache-2.0
"""Operators recorded by hooks in the GOT entries of torch (src/sources/torch/hooks/capture_mode.h).

Most other tests with torch are recorded by them too; here they are compared with torch.profiler in a run of its own,
because a run under both takes torch's way, and their absence is.
"""

import json
import os
import subprocess
import sys

import pytest
from opscope_command import answer

pytestmark = pytest.mark.framework("torch")

WAY = "hooks"
MOST_BELOW_THE_CAP = 1 << 15  # a record has 32 bytes
FORBIDDEN = os.environ.get("OPSCOPE_TORCH_ROUTE") == "callbacks"


def run_python(code, **environment):
    """What the program prints last, from JSON."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "KINETO_LOG_LEVEL": "6", **environment},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


RECORD = """
import json, torch, opscope.torch
with opscope.torch.profile() as prof:
    torch.add(torch.ones(2), 1)
print(json.dumps([prof.trace.info["options"]["torch_route"], [event.name for event in prof.events()]]))
"""


def rows(events):
    """Per thread, the busiest first: what must be equal, and numbers of sequences that go on from run to run."""
    threads = {}
    for event in events:
        threads.setdefault(event.thread, []).append(event)
    found = []
    for of_thread in sorted(threads.values(), key=len, reverse=True):
        numbers = [event.sequence_nr for event in of_thread if event.sequence_nr >= 0]
        least = min(numbers, default=0)
        for event in of_thread:
            number = event.sequence_nr - least if event.sequence_nr >= 0 else -1
            found.append(
                (event.name, number, event.fwd_thread is not None, event.is_async, event.scope, depth_of(event))
                + (event.input_shapes,)
            )
    return found


def depth_of(event):
    depth = 0
    while event.cpu_parent is not None:
        event, depth = event.cpu_parent, depth + 1
    return depth


def rows_of_both(program, arguments):
    """Of opscope and of torch.profiler, each in a run of its own."""
    import torch.profiler

    import opscope.torch

    for _ in range(3):
        program()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], **arguments) as theirs:
        program()
    with opscope.torch.profile(activities=[opscope.torch.ProfilerActivity.CPU], **arguments) as ours:
        program()
    assert FORBIDDEN or ours.trace.info["options"]["torch_route"] == WAY
    return rows(ours.events()), rows(theirs.events())


@pytest.mark.parametrize("arguments", [{}, {"record_shapes": True}], ids=str)
@pytest.mark.parametrize("name", ["resnet18", "transformer", "mlp"])
def test_a_run_of_its_own_is_what_torch_profiler_sees_in_another(name, arguments):
    from torch_programs import PROGRAMS

    mine, expected = rows_of_both(PROGRAMS[name](), arguments)
    assert len(mine) == len(expected) > 100
    assert [(a, b) for a, b in zip(mine, expected, strict=True) if a != b] == []


def many_nodes():
    """More kinds of nodes than are kept, and a node that runs the engine within the engine."""
    import torch
    import torch.utils.checkpoint

    functions = [
        type(
            f"Made{i}",
            (torch.autograd.Function,),
            {"forward": staticmethod(lambda ctx, x: x + 1), "backward": staticmethod(lambda ctx, grad: grad)},
        )
        for i in range(1300)
    ]

    def run():
        x = torch.ones(3, requires_grad=True)
        y = torch.utils.checkpoint.checkpoint(lambda a: (a * a).relu(), x, use_reentrant=True)
        for function in functions:
            y = function.apply(y)
        y.sum().backward()

    return run


@pytest.mark.parametrize("arguments", [{}, {"record_shapes": True, "profile_memory": True}], ids=str)
def test_nodes_of_autograd_have_their_names_however_many_there_are(arguments):
    mine, expected = rows_of_both(many_nodes(), arguments)
    names = {row[0] for row in mine}
    assert {f"autograd::engine::evaluate_function: Made{i}Backward" for i in range(1300)} < names
    assert {f"Made{i}Backward" for i in range(1300)} < names
    assert [(a, b) for a, b in zip(mine, expected, strict=True) if a != b] == []


@pytest.mark.parametrize("arguments", [{}, {"record_shapes": True}], ids=str)
@pytest.mark.parametrize("name", ["mlp", "transformer", "odd"])
def test_past_the_cap_as_many_are_counted_as_torch_profiler_sees(name, arguments):
    """Operators past it are counted where they ask for callbacks, without a range."""
    import torch.profiler
    from torch_programs import PROGRAMS, odd

    import opscope.torch

    try:
        program = {**PROGRAMS, "odd": odd}[name]()
    except TypeError as error:  # an older torch
        pytest.skip(str(error))
    for _ in range(6):
        program()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU], **arguments) as theirs:
        for _ in range(5):
            program()
    seen = len(theirs.profiler.kineto_results.events())  # with those that events() leaves out
    enough = 1 + 2 * MOST_BELOW_THE_CAP // seen
    with opscope.torch.profile(max_bytes=1 << 20, **arguments) as ours:
        for _ in range(5 * enough):
            program()
    counts = ours.profiler.counts()
    assert counts["dropped"] > counts["recorded"] > 0
    counted = counts["recorded"] + counts["dropped"]
    most = 61 if name == "odd" else 0  # too many, where TorchScript runs on several threads (call_site_cache.h)
    assert enough * seen <= counted <= enough * seen + most


def test_the_odd_cases_are_whole():
    """TorchScript, fork and wait, custom functions, sparse, nested, futures, other threads: as by callbacks."""
    code = """
import collections, json, sys, warnings
warnings.simplefilter("ignore")
sys.path.insert(0, %r)
import torch_programs, opscope.torch
try:
    program = torch_programs.odd()
except TypeError as error:  # an older torch
    sys.exit(print(json.dumps([str(error), None])))
for _ in range(6):
    program()
with opscope.torch.profile(record_shapes=True) as prof:
    program()
names = sorted(collections.Counter((e.name, str(e.input_shapes)) for e in prof.events()).items())
print(json.dumps([prof.trace.info["options"]["torch_route"], names]))
"""
    code %= os.path.dirname(os.path.abspath(__file__))
    way, ours = run_python(code)
    if ours is None:
        pytest.skip(way)
    by_callbacks, expected = run_python(code, OPSCOPE_TORCH_ROUTE="callbacks")
    assert FORBIDDEN or way == WAY
    assert by_callbacks == "callbacks: OPSCOPE_TORCH_ROUTE=callbacks"
    by_mistake, _ = run_python(RECORD, OPSCOPE_TORCH_ROUTE="call")
    assert by_mistake == "callbacks: OPSCOPE_TORCH_ROUTE: unknown value; the only one is 'callbacks'"
    assert sum(count for _, count in ours) > 2000
    assert ours == expected


def test_a_recording_says_which_way_its_operators_took(tmp_path):
    import torch

    import opscope.torch

    path = tmp_path / "recording.opscope"
    with opscope.torch.profile(record_to=str(path)) as prof:
        torch.ones(2)
    assert prof.trace.info["options"]["torch_route"].startswith("callbacks" if FORBIDDEN else WAY)
    assert answer("info", path)["options"]["torch_route"] == prof.trace.info["options"]["torch_route"]


def test_a_window_of_all_threads_takes_the_callbacks():
    import torch

    import opscope.torch

    try:
        config = opscope.torch._ExperimentalConfig(profile_all_threads=True)
    except TypeError as error:
        pytest.skip(f"torch {torch.__version__}: {error}")
    with opscope.torch.profile(experimental_config=config) as prof:
        torch.ones(2)
    if not FORBIDDEN:
        assert prof.trace.info["options"]["torch_route"] == "callbacks: all threads are recorded"
    assert "aten::ones" in [event.name for event in prof.events()]


def test_an_adapter_that_was_not_tried_and_cannot_be_takes_the_callbacks():
    from opscope.adapters.installed import package_folder
    from opscope.adapters.torch_adapter import carried
    from opscope.adapters.torch_build import read_torch

    if carried(read_torch(package_folder("torch"))) is None:
        pytest.skip("the package carries no adapter for this torch, and none is compiled without a cache")
    code = "from opscope.adapters import parts\nparts.read_parts = lambda library: None\n" + RECORD
    way, names = run_python(code, OPSCOPE_TORCH_ROUTE="", OPSCOPE_CACHE="/dev/null/none")
    assert way == "callbacks: this build of the adapter was not tried on its torch"
    assert names == ["aten::ones", "aten::empty", "aten::fill_", "aten::add", "aten::to", "aten::_to_copy",
                     "aten::empty_strided", "aten::copy_"]  # fmt: skip


def test_a_self_test_that_fails_is_kept_beside_the_adapter():
    code = "from opscope.adapters import parts\n"
    code += "parts.read_parts = lambda library: {'operators': '', 'hooks': 'no such luck'}\n"
    way, names = run_python(code + RECORD, OPSCOPE_TORCH_ROUTE="")
    assert way == "callbacks: no such luck"
    assert "aten::add" in names


def test_the_self_test_says_what_it_found():
    from opscope.adapters.installed import package_folder
    from opscope.adapters.parts import parse_parts, read_parts
    from opscope.adapters.torch_adapter import carried
    from opscope.adapters.torch_build import read_torch

    path = carried(read_torch(package_folder("torch")))
    if path is None:
        pytest.skip("this package carries no adapter for this torch")
    command = [sys.executable, "-m", "opscope.adapters.torch_self_test", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    assert parse_parts(done.stdout)["hooks"] == read_parts(path)["hooks"] == ""
    command = [sys.executable, "-m", "opscope", "doctor"]
    environment = {**os.environ, "OPSCOPE_TORCH_ROUTE": ""}
    shown = subprocess.run(command, capture_output=True, text=True, env=environment).stdout
    assert "operators by hooks" in " ".join(shown.split())


def test_a_process_without_room_for_variables_of_threads_takes_the_callbacks():
    way, names = run_python(RECORD, GLIBC_TUNABLES="glibc.rtld.optional_static_tls=0", OPSCOPE_TORCH_ROUTE="")
    assert way == "callbacks: the process has no static TLS left"
    assert "aten::add" in names


def test_a_process_that_binds_at_once_takes_the_hooks():
    """With all slots filled in at the start, as libraries that are linked with -z now have theirs."""
    way, names = run_python(RECORD, LD_BIND_NOW="1", OPSCOPE_TORCH_ROUTE="")
    assert way == WAY
    assert "aten::add" in names


# Counts the streams that anybody begins.
COUNTING_STREAMS = """
#include <dlfcn.h>
#include <stddef.h>
static int streams = 0;
int streams_begun(void) { return streams; }
void _ZNSt8ios_baseC2Ev(void* stream) {
  static void (*begin)(void*) = NULL;
  if (begin == NULL) begin = (void (*)(void*))dlsym(dlopen("libstdc++.so.6", RTLD_LAZY), "_ZNSt8ios_baseC2Ev");
  ++streams;
  begin(stream);
}
"""

COUNT_STREAMS = """
import ctypes, json, torch, opscope.torch
begun = ctypes.CDLL(None).streams_begun
x = torch.ones(2, requires_grad=True)
(x * 2).exp().sum().backward()
with opscope.torch.profile() as prof:
    (x * 2).exp().sum().backward()
    loss = (x * 2).exp().sum()
    before = begun()
    loss.backward()
    after = begun()
nodes = [event.name for event in prof.events() if event.name.startswith("autograd::engine::evaluate_function: ")]
print(json.dumps([after - before, nodes]))
"""


def compiled_library(tmp_path, name, code):
    from opscope.adapters.compiler import find_compiler

    compiler = find_compiler()
    if compiler is None:
        pytest.skip("there is no C++ compiler for a library of this test")
    source, library = tmp_path / f"{name}.c", tmp_path / f"lib{name}.so"
    source.write_text(code)
    command = [*compiler.command, "-x", "c", "-shared", "-fPIC", "-o", str(library), str(source)]
    subprocess.run(command, check=True, capture_output=True)
    return library


@pytest.mark.skipif(FORBIDDEN, reason="by callbacks torch makes them")
def test_names_of_nodes_are_not_put_together_anew(tmp_path):
    library = str(compiled_library(tmp_path, "counting", COUNTING_STREAMS))
    ours, nodes = run_python(COUNT_STREAMS, LD_PRELOAD=library)
    by_callbacks, expected = run_python(COUNT_STREAMS, LD_PRELOAD=library, OPSCOPE_TORCH_ROUTE="callbacks")
    assert nodes == expected
    assert (ours, by_callbacks, len(nodes)) == (0, 4, 8)  # of sum, exp, mul and a leaf


# Refuses to make a page writable once the test says so.
REFUSING_MPROTECT = """
#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
int refuses_writing = 0;
int mprotect(void* place, size_t bytes, int rights) {
  if (refuses_writing && (rights & PROT_WRITE)) {
    errno = EACCES;
    return -1;
  }
  return (int)syscall(SYS_mprotect, place, bytes, rights);
}
"""


def test_a_process_that_may_not_write_the_slots_takes_the_callbacks(tmp_path):
    """The linker has made the pages of some slots read-only; what was pointed before the refusal is put back."""
    library = compiled_library(tmp_path, "refusing", REFUSING_MPROTECT)
    refuse = "import ctypes, opscope.torch; ctypes.c_int.in_dll(ctypes.CDLL(None), 'refuses_writing').value = 1\n"
    again = RECORD.replace("print(", "_ = (").rstrip() + "\n" + RECORD  # the refusal is remembered
    way, names = run_python(refuse + again, LD_PRELOAD=str(library), OPSCOPE_TORCH_ROUTE="")
    assert way == "callbacks: a GOT entry of torch's libraries cannot be written"
    assert "aten::add" in names


def test_a_torch_without_these_slots_takes_the_callbacks(tmp_path):
    """As where torch is part of a program: no library of its name calls through slots."""
    from opscope.adapters.installed import package_folder

    library = package_folder("torch") / "lib" / "libtorch_cpu.so"
    (tmp_path / "libtorch_in_another_file.so").symlink_to(library)
    # Who asks for libtorch_cpu.so from here on gets this one, by the name that stands in it.
    code = f"import ctypes; ctypes.CDLL({str(tmp_path / 'libtorch_in_another_file.so')!r})\n"
    site = library.parent.parent.parent  # a build for CUDA finds its libraries beside it, as torch's Python does
    folders = {library.parent, *(path.parent for path in site.glob("nvidia/**/*.so*")), site / "cusparselt" / "lib"}
    way, names = run_python(code + RECORD, LD_LIBRARY_PATH=":".join(map(str, folders)), OPSCOPE_TORCH_ROUTE="")
    assert way == "callbacks: libtorch_cpu.so does not call its range functions through GOT entries"
    assert "aten::add" in names


def test_an_execution_trace_that_begins_meanwhile_has_all_its_operators(tmp_path):
    import torch
    from torch.profiler import ExecutionTraceObserver

    import opscope.torch

    def work():
        for _ in range(20):
            torch.add(torch.ones(2), torch.ones(2))

    counts = []
    for number in range(2):
        path = tmp_path / f"{number}.json"
        observer = ExecutionTraceObserver().register_callback(str(path))
        prof = opscope.torch.profile() if number else None
        if prof is not None:
            prof.start()
            work()
        observer.start()
        work()
        observer.stop()
        if prof is not None:
            work()
            prof.stop()
        observer.unregister_callback()
        nodes = json.loads(path.read_text())["nodes"]
        counts.append(sum(node["name"] == "aten::add" for node in nodes))
    assert counts == [20, 20]
    assert sum(event.name == "aten::add" for event in prof.events()) == 60
