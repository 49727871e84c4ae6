# SPDX-License-Identifier: Apache-2.0
"""The source of Python's calls alone, on every Python of this machine that it is for."""

import ctypes
import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

import opscope
from opscope import _core
from opscope.adapters import python_calls
from opscope.adapters.adapter import LIBRARIES
from opscope.adapters.build import compile_library
from opscope.adapters.compiler import find_compiler

PROGRAM = Path(__file__).with_name("calls_program.py")
MODULES_PROGRAM = PROGRAM.with_name("module_calls_program.py")
PLACES_PROGRAM = PROGRAM.with_name("call_places_program.py")
OWN = "{}.{}".format(*sys.version_info)


def interpreters():
    """Version -> program: this one, and those of pyenv."""
    found = {OWN: sys.executable}
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    for version in ("3.10", "3.11", "3.12", "3.13"):
        for path in sorted(root.glob(f"versions/{version}.*/bin/python")):
            found.setdefault(version, str(path))
    return dict(sorted(found.items()))


@pytest.fixture(scope="session", params=interpreters().items(), ids=lambda item: item[0])
def python(request, tmp_path_factory):
    """(version, program, library of calls); the library is compiled where it is not that of the package."""
    version, program = request.param
    if version == OWN:
        return version, program, str(python_calls.adapter().ready())
    compiler = find_compiler()
    if compiler is None:
        pytest.skip("there is no C++ compiler for the library of another Python")
    ask = "import sysconfig; print(sysconfig.get_path('include'))"
    include = subprocess.run([program, "-c", ask], capture_output=True, text=True, check=True).stdout.strip()
    place = tmp_path_factory.mktemp(f"calls-{version}")
    recipe = replace(python_calls.recipe(Path(include)), what=f"the library for Python {version}")
    library = compile_library(recipe, compiler, place)
    return version, program, str(library)


@pytest.fixture
def run(python, tmp_path):
    """run(name) -> what the program answers, and the rows of its recording."""
    _, program, library = python

    def act(name):
        out = tmp_path / f"{name}.opscope"
        programs = {"modules": MODULES_PROGRAM, "places": PLACES_PROGRAM}
        code = programs.get(name.partition("_")[0], PROGRAM)
        command = [program, str(code), str(LIBRARIES / "libopscope_recorder.so.1"), library, str(out), name]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout), opscope.open(str(out)) if out.exists() else None

    act.folder = tmp_path
    return act


def called(trace, *, after=None):
    """(depth, name without file, line and address) of the calls below the first one whose name ends so."""
    names, spans = list(trace.spans.text("name")), trace.spans
    rows = [(depth, short(name), track) for name, depth, track in zip(names, spans.depth, spans.track, strict=True)]
    if after is None:
        return [(depth, name) for depth, name, _ in rows]
    at = next(i for i, (_, name, _) in enumerate(rows) if name == after)
    inside = []
    for depth, name, track in rows[at + 1 :]:
        if depth <= rows[at][0] or track != rows[at][2]:
            break
        inside.append((depth - rows[at][0], name))
    return inside


def short(name):
    name = re.sub(r"^.*\.py\(\d+\): ", "", name)
    return name.partition(" at 0x")[0]


def problems(trace):
    return {trace.problems.text("kind")[row]: trace.problems.count[row] for row in range(len(trace.problems))}


BODY = [
    *[(1, "generate"), (2, "leaf"), (3, "<built-in function len>")] * 2,
    (1, "generate"),
    *[(1, "fail"), (2, "fail"), (3, "fail")],
    (1, "<built-in function len>"),
    (1, "<built-in function next>"),
    *[(2, "generate"), (3, "leaf"), (4, "<built-in function len>")],
    (1, "<built-in method throw of generator object"),
    (2, "generate"),
    *[(1, "leaf"), (2, "<built-in function len>")],
]


def test_every_call_is_recorded_where_it_was_made(run):
    answer, trace = run("calls")
    assert answer == 0
    assert called(trace, after="body") == BODY
    assert problems(trace) == {}
    lines = [int(name.split("(")[1].split(")")[0]) for name in trace.spans.text("name") if name.endswith(": generate")]
    source = PROGRAM.read_text().splitlines()
    definition, pause = source.index("def generate(n):") + 1, source.index("        yield leaf([i])") + 1
    assert lines == [definition, pause, pause, definition, pause]  # where a generator goes on


@pytest.mark.parametrize("program", ["modules", "modules_by_function"])
def test_modules_alone_are_numbered_by_first_call(run, program):
    answer, trace = run(program)
    assert answer == 0
    names = [name.removeprefix("nn.Module: Module_") for _, name in called(trace)]
    assert names == ["0", "1", "1", "0", "2", "3", "4"]
    assert list(trace.python_calls.module_id) == [0, 1, 1, 0, 2, 3, 4]


def modules_in(trace):
    assert problems(trace) == {}
    return [(depth, int(name.removeprefix("nn.Module: Module_"))) for depth, name in called(trace)]


def test_modules_that_are_called_by_name_are_recorded(run):
    answer, trace = run("modules_by_name")
    assert answer is True
    assert modules_in(trace) == [(0, 0), (1, 0), (2, 0)]


def test_windows_of_modules_begin_and_end_within_modules(run):
    answer, trace = run("modules_at_start")
    assert answer == [0, 0]
    assert modules_in(trace) == [(0, 0), (1, 1), (1, 2)]
    second = opscope.open(str(run.folder / "modules_at_start.opscope.second"))
    assert modules_in(second) == [(0, 0), (1, 1), (1, 2), (1, 3), (0, 4)]


def test_greenlets_keep_their_modules_apart(run):
    answer, trace = run("modules_of_greenlets")
    if answer == "no greenlet":
        pytest.skip("this Python has no greenlet")
    assert len(trace.spans) == 2 and problems(trace) == {}


def test_modules_alone_outlive_a_fork_in_the_parent(run):
    answer, trace = run("modules_and_a_fork")
    assert answer == 0
    assert modules_in(trace) == [(0, 0), (0, 1)]
    assert modules_in(opscope.open(str(run.folder / "modules_and_a_fork.opscope.child"))) == [(0, 0)]


def test_threads_that_were_there_are_recorded(run):
    answer, trace = run("threads")
    assert answer == 0
    assert called(trace, after="early")[-2:] == [(1, "leaf"), (2, "<built-in function len>")]
    names = [name for _, name in called(trace)]
    assert names.count("waiting") == 1 and "late" not in names
    assert names.count("leaf") == 2  # early's and main's
    assert "stray_end" not in problems(trace)


def test_functions_with_equal_instructions_keep_their_names(run):
    _, trace = run("twins")
    names = [name for name in trace.spans.text("name") if name.endswith(": <genexpr>")]
    lines = [int(re.search(r"\((\d+)\): ", name)[1]) for name in names]
    assert len(lines) == 6 and len(set(lines)) == 2, names
    assert lines == sorted(lines)


def test_two_windows_have_each_their_own(run):
    answer, trace = run("two_windows")
    inner = opscope.open(str(run.folder / "two_windows.opscope.inner"))
    assert answer == 0
    names = [name for _, name in called(trace)]
    assert names.count("leaf") == 2 and names.count("fail") == 1
    assert problems(trace) == problems(inner) == {}
    inner_names = [name for _, name in called(inner)]
    assert inner_names.count("leaf") == 1 and "fail" not in inner_names


def test_cprofile_sees_what_it_sees_alone(run):
    answer, trace = run("beside_cprofile")
    assert answer["both"] == answer["alone"] != []
    assert problems(trace) == {}
    assert [call for call in called(trace, after="body") if "_lsprof" not in call[1]] == BODY


def test_a_profile_function_gets_every_event(run):
    answer, trace = run("beside_setprofile")
    assert len(answer["both"]) > 20
    assert answer["both"] == answer["alone"]
    assert answer["is_kept"] and answer["is_left"]
    assert problems(trace) == {}
    assert [call for call in called(trace, after="body") if call[1] != "hook"] == BODY


def test_a_profile_function_that_takes_the_place_is_told_and_left(run, python):
    answer, trace = run("replaced")
    assert answer["is_left"]
    names = [name for _, name in called(trace)]
    if python[0] in ("3.10", "3.11"):
        assert answer["replaced"] == 1 and names.count("leaf") == 1
    else:
        assert answer["replaced"] == 0 and names.count("leaf") == 2


def test_a_fork_goes_on_without_the_parents_recording(run):
    answer, trace = run("fork")
    assert answer == 0
    assert [name for _, name in called(trace)].count("leaf") == 2
    child = opscope.open(str(run.folder / "fork.opscope.child"))
    assert [name for _, name in called(child)].count("leaf") == 1


def test_frames_that_run_at_the_start_are_recorded(run):
    answer, trace = run("deep")
    assert answer == 0
    names = [name for _, name in called(trace)]
    # Beside Window.start; some are open to the end, and the callers stand around them all the same.
    assert [depth for depth, name in called(trace) if name == "down"] == list(range(128 - 1))
    assert names.count("start") == 1 and names.count("leaf") == 1
    starts = [trace.spans.start[row] for row, name in enumerate(names) if name == "down"]
    assert len(set(starts)) == 1
    assert "stray_end" not in problems(trace)


def test_the_collector_is_a_call(run):
    answer, trace = run("collector")
    assert answer == {"replaced": 0, "left": 0}
    names = [name for _, name in called(trace)]
    assert names.count("Python GC") == 1
    assert "Python GC" in [name for _, name in called(trace, after="<built-in function collect>")]


def test_greenlets_keep_their_calls_apart(run):
    answer, trace = run("greenlets")
    if answer == "no greenlet":
        pytest.skip("this Python has no greenlet")
    names = [name for _, name in called(trace)]
    assert names.count("leaf") == 3 and names.count("first") == names.count("second") == 1
    assert "stray_end" not in problems(trace)


def test_windows_come_and_go_under_load(run):
    answer, _ = run("under_load")
    assert answer == {"faults": [], "profile": "None", "collector": 0}
    for number in range(4):
        trace = opscope.open(str(run.folder / f"under_load.opscope.{number}"))  # the last window of each
        assert {"body", "nn.Module: Module_0", "leaf"} <= {name for _, name in called(trace)}


def test_an_interpreter_ends_while_it_is_recorded(run):
    answer, trace = run("dies_while_recording")
    assert answer == 0
    assert [name for _, name in called(trace)].count("leaf") >= 1


def test_a_recording_that_is_dropped_stops(tmp_path):
    def leaf():
        pass

    use = (_core.source_of(python_calls.calls_library().source()), ["calls"])
    recording = _core.Recording(sources=[use], record_to=str(tmp_path / "x.opscope"))
    recording.start()
    leaf()
    if sys.version_info >= (3, 12):
        assert "opscope" in tools_of_monitoring()
    del recording
    if sys.version_info >= (3, 12):
        assert "opscope" not in tools_of_monitoring()
    leaf()
    names = opscope.open(str(tmp_path / "x.opscope")).spans.text("name")
    assert [name.endswith(": leaf") for name in names].count(True) == 1


def tools_of_monitoring():
    return [sys.monitoring.get_tool(tool) for tool in range(6)]


def test_the_library_alone_is_a_source_and_its_flags_have_names(tmp_path):
    source = _core.load_source(python_calls.calls_library().__spec__.loader.path)
    assert (source.name, source.flags) == ("python", ["calls", "garbage", "one_thread", "places"])
    with pytest.raises(ValueError, match="has no flag"):
        _core.Recording(sources=[(source, ["colours"])])
    recording = _core.Recording(sources=[(source, ["calls", "one_thread"])])
    recording.start()
    len("abc")
    recording.stop()
    assert "<built-in function len>" in opscope.Trace(recording.trace()).spans.text("name")
    with pytest.raises(ValueError):
        _core.source_of(42)


def test_tables_of_equal_objects_are_one():
    library = python_calls.calls_library()
    code = called.__code__
    prefixes = ("/a/", "/b/")
    known = [library.source(path_prefixes=prefixes, module_code=code, tensor_types=(int,)) for _ in range(2)]
    other = library.source(path_prefixes=prefixes, module_code=code, tensor_types=(str,))
    address = ctypes.pythonapi.PyCapsule_GetPointer
    address.argtypes, address.restype = [ctypes.py_object, ctypes.c_char_p], ctypes.c_void_p
    one, same, another = (address(capsule, b"opscope.Source") for capsule in (*known, other))
    assert one == same != another


def test_for_another_python_the_library_is_compiled_once(tmp_path):
    if find_compiler() is None or python_calls.adapter().obstacle:
        pytest.skip("this Python has no headers, or there is no C++ compiler")
    script = (
        "from opscope.adapters import python_calls\n"
        "python_calls.carried = lambda: None\n"
        "python_calls.calls_library()\n"
        "print(python_calls.adapter().cached().library)\n"
    )
    environment = {**os.environ, "OPSCOPE_CACHE": str(tmp_path / "cache"), "OPSCOPE_LOG": "info"}
    first, second = (
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=True)
        for _ in range(2)
    )
    assert first.stdout == second.stdout and f"python-{OWN}-" in first.stdout
    assert "compiled" in first.stderr and "tested" in first.stderr
    assert "compiled" not in second.stderr


def test_a_library_that_records_nothing_is_not_used(tmp_path):
    from opscope.adapters import python_self_test

    assert python_self_test.record_one_call(Path(python_calls.calls_library().__spec__.loader.path)) == ""
    command = [sys.executable, "-m", "opscope.adapters.python_self_test", str(tmp_path / "none.so")]
    assert subprocess.run(command, capture_output=True).returncode != 0


def places_of(trace, folder):
    """[(name, CallFrom)] of the calls, by start."""
    trace.export(folder / "trace.json")
    events = json.loads((folder / "trace.json").read_text())["traceEvents"]
    calls = [event for event in events if event.get("cat") == "python_function"]
    calls.sort(key=lambda event: event["args"]["Python id"])
    return [(short(event["name"]), event["args"].get("CallFrom")) for event in calls]


@pytest.mark.parametrize("program", ["places", "places_of_two"])
def test_calls_say_from_which_line_they_come(run, program):
    lines, trace = run(program)
    places = places_of(trace, run.folder)
    assert [place for name, place in places if name == "told"] == [f"{PLACES_PROGRAM}:{line}" for line in lines]
    assert len(lines) == 13
    # A C function comes from where its caller stands, here within told() itself.
    within = 1 + PLACES_PROGRAM.read_text().splitlines().index("    lines.append(sys._getframe(1).f_lineno)")
    frames = [place for name, place in places if name == "<built-in function _getframe>"]
    assert frames == [f"{PLACES_PROGRAM}:{within}"] * len(lines)


def test_calls_that_were_open_come_from_where_their_callers_stood(run):
    (_, line), trace = run("places_of_open")
    places = dict(places_of(trace, run.folder))
    source = PLACES_PROGRAM.read_text().splitlines()
    assert places["told"] == f"{PLACES_PROGRAM}:{line}"
    assert places["inner"] == f"{PLACES_PROGRAM}:{1 + source.index('        window = inner()')}"
    assert places["outer"] == f"{PLACES_PROGRAM}:{1 + source.index('    outer().stop()')}"
    # The first frame has no caller: its place is its own.
    first = 1 + source.index("    main(globals())")
    assert places["<module>"] == f"{PLACES_PROGRAM}:{first}"


def test_without_all_calls_there_are_no_places(run):
    _, trace = run("places_unasked")
    assert places_of(trace, run.folder) == []
