# SPDX-License-Identifier: Apache-2.0
"""The adapter is compiled once where the package has none for the torch that is installed.

One compilation here is a real one (all of them with OPSCOPE_SOAK=1); the others copy its result, because
they are about who compiles, not about what.
"""

import contextlib
import hashlib
import json
import os
import platform
import re
import shutil
import signal

import bare_package
import pytest
from bare_package import ONE_OPERATOR, RECORDED, Compiler, doctor_of_torch, giving, run, start
from waiting import wait_for

pytestmark = pytest.mark.framework("torch")
PROCESSES = 8


@pytest.fixture(scope="module")
def made(site, tmp_path_factory):
    """Eight processes that started at once with an empty cache, and what they left: (results, compiler, cache)."""
    if shutil.which("g++") is None:
        pytest.skip("no g++ on this machine")
    folder = tmp_path_factory.mktemp("made")
    compiler = Compiler(folder / "compiler", bare_package.REAL)
    cache = folder / "cache"
    ranks = [start(ONE_OPERATOR, site, cache, CXX=str(compiler.path), OPSCOPE_LOG="info") for _ in range(PROCESSES)]
    return [rank.wait(300) for rank in ranks], compiler, cache


@pytest.fixture(scope="module")
def library(made):
    (library,) = made[2].glob("*/*.so")
    return library


@pytest.fixture
def acts(library):
    return bare_package.REAL if "OPSCOPE_SOAK" in os.environ else giving(library)


@pytest.fixture
def compiler(tmp_path, acts):
    return Compiler(tmp_path / "compiler", acts)


def names_in(folder):
    return sorted(path.name for path in folder.glob("*/*"))


def test_of_eight_processes_one_compiles_and_all_record(made):
    results, compiler, _ = made
    for done in results:
        assert (done.stdout, done.status) == (RECORDED, 0), done.stderr
    assert len(compiler.calls) == 1
    compiled = [done.stderr for done in results if "compiled the adapter" in done.stderr]
    assert len(compiled) == 1
    assert "tested the adapter" in compiled[0]


def test_the_first_compilation_says_how_long_it_took_and_later_programs_nothing(site, compiler, tmp_path):
    told = [run(ONE_OPERATOR, site, tmp_path / "cache", CXX=str(compiler.path)).stderr for _ in range(2)]
    # A busy machine is a line of progress every few seconds, too.
    lines = [line for line in told[0].splitlines() if not re.search(r"\(\d+ s\)$", line)]
    assert len(lines) == 2
    assert re.fullmatch(r"opscope: compiling the adapter for torch \S+, once; this takes some seconds \(.*\)", lines[0])
    assert re.fullmatch(r"opscope: compiled the adapter for torch \S+ in \d+\.\d s, once", lines[1])
    assert told[1] == ""
    quiet = run(ONE_OPERATOR, site, tmp_path / "another", CXX=str(compiler.path), OPSCOPE_LOG="error")
    assert (quiet.stdout, quiet.stderr) == (RECORDED, "")


def test_the_cache_is_private_and_holds_nothing_unfinished(made, library):
    cache = made[2]
    assert {oct(path.stat().st_mode & 0o777) for path in (cache, library.parent)} == {"0o700"}
    assert library.stat().st_mode & 0o077 == 0
    assert names_in(cache) == sorted([library.name, library.with_suffix(".json").name, "lock"])


def test_another_process_takes_it_from_the_cache_even_without_a_compiler(made, site):
    _, compiler, cache = made
    calls = compiler.calls
    for more in ({"CXX": str(compiler.path)}, {"CXX": "/none"}):
        done = run(ONE_OPERATOR, site, cache, **more)
        assert (done.stdout, done.stderr, done.status) == (RECORDED, "", 0)
    assert compiler.calls == calls


@pytest.mark.parametrize("damage", ["cut", "other bytes", "no note", "not a library"])
def test_a_broken_entry_is_made_anew(damage, made, site, acts, tmp_path):
    compiler = made[1]
    shutil.copytree(made[2], tmp_path / "cache")
    (path,) = (tmp_path / "cache").glob("*/*.so")
    note = path.with_suffix(".json")
    size = path.stat().st_size
    if damage == "cut":
        os.truncate(path, size // 2)
    elif damage == "other bytes":
        path.write_bytes(bytes(size))
    elif damage == "no note":
        note.unlink()
    else:  # whole, and yet the loader refuses it
        path.write_bytes(b"abcd")
        note.write_text(json.dumps({"bytes": 4, "sha256": hashlib.sha256(b"abcd").hexdigest()}))
    compiler.act(acts)
    calls = len(compiler.calls)
    done = run(ONE_OPERATOR, site, tmp_path / "cache", CXX=str(compiler.path))
    assert (done.stdout, done.status) == (RECORDED, 0), done.stderr
    assert len(compiler.calls) == calls + 1
    assert path.stat().st_size == size


def test_build_adapter_makes_a_sound_entry_anew_when_asked(site, compiler, tmp_path):
    code = "import opscope.torch as t; print(t.build_adapter()); print(t.build_adapter({}))"
    cache = tmp_path / "cache"
    kept = run(code.format(""), site, cache, CXX=str(compiler.path)).stdout.split()
    assert len(compiler.calls) == 1
    assert kept[0] == kept[1]
    assert run(code.format("rebuild=True"), site, cache, CXX=str(compiler.path)).stdout.split() == kept
    assert len(compiler.calls) == 2


def test_a_killed_compilation_leaves_the_next_process_free(site, compiler, acts, tmp_path):
    cache = tmp_path / "cache"
    compiler.act("exec sleep 600")
    killed = start(ONE_OPERATOR, site, cache, CXX=str(compiler.path))
    try:
        wait_for(lambda: compiler.calls, "the compiler was not started")
        killed.kill()
        killed.wait()
        assert any(name.startswith(".building-") for name in names_in(cache))
        compiler.act(acts)
        done = run(ONE_OPERATOR, site, cache, CXX=str(compiler.path), OPSCOPE_LOG="info")
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(compiler.calls[0], signal.SIGKILL)
    assert (done.stdout, done.status) == (RECORDED, 0), done.stderr
    assert not any(name.startswith(".building-") for name in names_in(cache))
    assert len(compiler.calls) == 2


IMPATIENT = "import opscope.adapters.cache as cache, opscope.adapters.adapter as adapter\ncache.FIRST_NOTICE_S = 0.05\n"


def test_a_process_that_waits_says_so_and_gives_up_at_its_limit(site, compiler, tmp_path):
    cache = tmp_path / "cache"
    compiler.act("exec sleep 600")
    holder = start(ONE_OPERATOR, site, cache, CXX=str(compiler.path))
    try:
        wait_for(lambda: compiler.calls, "the compiler was not started")
        done = run(IMPATIENT + "adapter.WAIT_LIMIT_S = 0.5\n" + ONE_OPERATOR, site, cache, CXX=str(compiler.path))
    finally:
        holder.kill()
        holder.wait()
        os.kill(compiler.calls[0], signal.SIGKILL)
    assert done.status == 1
    assert f"opscope: waiting for process {holder.pid} on " in done.stderr
    assert f"process {holder.pid} on " in done.stderr.splitlines()[-1]
    assert "OPSCOPE_CACHE" in done.stderr
    assert len(compiler.calls) == 1


def test_when_it_fails_those_who_wait_fail_with_it(site, compiler, tmp_path):
    cache = tmp_path / "cache"
    compiler.act("while [ ! -e go ]; do sleep 0.05; done; echo 'x.cc:7: error: planted' >&2; exit 1")
    ranks = [start(IMPATIENT + ONE_OPERATOR, site, cache, CXX=str(compiler.path)) for _ in range(3)]
    wait_for(lambda: sum("waiting for" in rank.told for rank in ranks) == 2, "no process waits")
    (compiler.folder / "go").touch()
    for done in [rank.wait(120) for rank in ranks]:
        assert done.status == 1
        assert "CompilationFailed" in done.stderr
        assert "x.cc:7: error: planted" in done.stderr
    assert len(compiler.calls) == 1
    assert run(ONE_OPERATOR, site, cache, CXX=str(compiler.path)).status == 1
    assert len(compiler.calls) == 2  # a later job tries again


def test_a_library_that_does_not_work_is_never_used(site, compiler, tmp_path):
    cache = tmp_path / "cache"
    compiler.act(giving(site / "opscope/lib/libopscope_recorder.so.1"))
    done = run(ONE_OPERATOR, site, cache, CXX=str(compiler.path))
    assert done.status == 1
    assert "is not a source" in done.stderr.splitlines()[-1]
    assert not list(cache.glob("*/*.so"))


def test_without_a_compiler_it_names_the_line_that_installs_one(site, tmp_path):
    done = run(ONE_OPERATOR, site, tmp_path / "cache", PATH="/none")
    assert done.status == 1
    told = done.stderr.splitlines()[-1]
    assert "there is no C++ compiler (looked for g++, c++, clang++ on PATH)" in told
    assert any(line in told for line in ("apt-get install g++", "dnf install gcc-c++", "apk add g++", "pacman -S gcc"))
    assert not (tmp_path / "cache").exists()


RANGES = """
import torch, opscope.torch
from torch.profiler import profile
with profile() as theirs:
    with opscope.torch.record_function("before", "text"):
        torch.ones(1)
    with opscope.torch.record_function("over") as over:
        {between}
    with opscope.torch.record_function("after"):
        torch.ones(1)
names = [event.name for event in theirs.events()]
print([name in names for name in ("before", "over", "after")])
"""


def test_ranges_reach_torchs_profiler_before_there_is_an_adapter(site, compiler, tmp_path):
    for between in ("pass", "opscope.torch.build_adapter()"):
        done = run(RANGES.format(between=between), site, tmp_path / "cache", CXX=str(compiler.path))
        assert (done.stdout, done.status) == ("[True, True, True]\n", 0), done.stderr


def test_the_carried_adapter_is_taken_where_it_fits(tmp_path):
    from opscope.adapters.installed import package_folder
    from opscope.adapters.torch_adapter import carried
    from opscope.adapters.torch_build import read_torch

    path = carried(read_torch(package_folder("torch")))
    if path is None:
        pytest.skip("this package carries no adapter for this torch")
    done = run(ONE_OPERATOR, "", tmp_path / "cache", PATH="/none", OPSCOPE_LOG="info")
    assert (done.stdout, done.status) == (RECORDED, 0), done.stderr
    assert done.stderr.count(str(path)) == 1
    assert not (tmp_path / "cache").exists()


BUILD = """
import opscope.torch as t
{first}
print(t.build_adapter())
print(t.build_adapter({arguments}))
"""


def test_build_adapter_returns_the_carried_adapter_and_compiles_only_to_rebuild(carrying, compiler, tmp_path):
    (carried,) = (carrying / "opscope/lib").glob("libopscope_torch*.so")
    cache = tmp_path / "cache"
    for first in ("", "with t.profile(): pass"):
        done = run(BUILD.format(first=first, arguments=""), carrying, cache, CXX=str(compiler.path))
        assert (done.stdout.split(), done.status) == ([str(carried)] * 2, 0), done.stderr
        assert compiler.calls == []
    done = run(BUILD.format(first="", arguments="rebuild=True"), carrying, cache, CXX=str(compiler.path))
    kept, rebuilt = done.stdout.split()
    assert (kept, len(compiler.calls)) == (str(carried), 1), done.stderr
    assert rebuilt.startswith(str(cache))


def test_build_adapter_compiles_where_the_carried_adapter_does_not_load(carrying, compiler, tmp_path):
    (carried,) = (carrying / "opscope/lib").glob("libopscope_torch*.so")
    carried.write_bytes(b"no library")
    done = run(BUILD.format(first="", arguments=""), carrying, tmp_path / "cache", CXX=str(compiler.path))
    assert len(set(done.stdout.split())) == 1 and str(tmp_path / "cache") in done.stdout, done.stderr
    assert len(compiler.calls) == 1


ROUTE = (
    ONE_OPERATOR
    + """
print(prof.trace.info["options"]["torch_route"])
"""
)


@pytest.fixture
def carrying(library, tmp_path):
    """A package that carries an adapter for the installed torch, which was not tried where it was built."""
    from opscope.adapters.installed import package_folder
    from opscope.adapters.torch_build import read_torch

    build = read_torch(package_folder("torch"))
    site = bare_package.make(tmp_path / "carrying")
    carried = site / "opscope/lib/libopscope_torch_9_99.so"
    shutil.copy(library, carried)
    facts = {"version": build.version, "git": build.git, "cxx11_abi": build.cxx11_abi}
    carried.with_suffix(".json").write_text(json.dumps(facts))
    return site


def test_a_carried_adapter_that_nobody_tried_is_tried_at_its_first_use(carrying, tmp_path):
    if platform.machine() != "x86_64":
        pytest.skip("hooks were tried on x86-64 alone")
    cache = tmp_path / "cache"
    assert doctor_of_torch(carrying, cache)["can_be_profiled"] is None
    ranks = [start(ROUTE, carrying, cache, CXX="/none", OPSCOPE_TORCH_ROUTE="") for _ in range(3)]
    told = [rank.wait(300) for rank in ranks]
    told.append(run(ROUTE, carrying, cache, CXX="/none", OPSCOPE_TORCH_ROUTE=""))
    for done in told:
        assert (done.stdout, done.status) == (RECORDED + "hooks\n", 0), done.stderr
    assert sum("testing the carried adapter" in done.stderr for done in told) == 1
    shown = doctor_of_torch(carrying, cache)
    assert (shown["adapter"], shown["can_be_profiled"], shown["left_out"]) == ("prebuilt", True, {})


def test_what_kept_the_test_of_a_carried_adapter_from_running_is_not_its_verdict(carrying, tmp_path):
    hook, cache = carrying / "sitecustomize.py", tmp_path / "cache"
    hook.write_text("import sys; sys.orig_argv[-1].endswith('torch_self_test') and sys.modules.update(torch=None)")
    done = run(ONE_OPERATOR, carrying, cache, CXX="/none")
    assert done.status == 1
    assert "import of torch halted" in done.stderr
    assert doctor_of_torch(carrying, cache)["can_be_profiled"] is None
    hook.unlink()
    done = run(ONE_OPERATOR, carrying, cache, CXX="/none")
    assert (done.stdout, done.status) == (RECORDED, 0), done.stderr


def test_a_carried_adapter_that_would_crash_is_not_loaded(carrying, compiler, tmp_path):
    cache = tmp_path / "cache"
    (note,) = (carrying / "opscope/lib").glob("libopscope_torch_*.json")
    found = {"operators": "", "stacks": "the self-test ended with signal 11"}
    note.write_text(json.dumps({**json.loads(note.read_text()), "parts": found}))
    done = run(ONE_OPERATOR, carrying, cache, CXX=str(compiler.path))
    assert (done.stdout, done.status) == (RECORDED, 0), done.stderr
    assert len(compiler.calls) == 1
