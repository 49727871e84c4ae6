# SPDX-License-Identifier: Apache-2.0
"""Parts of the adapter that do not fit a torch are left out, and what is left works."""

import json

import bare_package
import pytest
from bare_package import ONE_OPERATOR, Compiler, doctor_of_torch, giving, run

pytestmark = pytest.mark.framework("torch")


# Refuses one source, in the words of a compiler, until it is left out; else as REAL.
REFUSING = """
case "$*" in
  *{define}*) exec g++ "$@";;
  *{unit}.cc*) echo "/s/sources/torch/{source}:7:1: error: planted" >&2; exit 1;;
esac
exec g++ "$@"
"""

PARTS = """
import json, torch
from torch._C._profiler import _RecordFunctionFast
from opscope.torch import profile
with profile(profile_memory=True) as prof:
    with _RecordFunctionFast("fast"):
        torch.ones(2)
names = [event.name for event in prof.events() if event.name[0] != "["]
print(names, names.count("fast"))
print({problem["kind"]: problem["count"] for problem in prof.trace.problems}, len(prof.trace.allocations))
"""


@pytest.mark.parametrize(("part", "source", "unit"), [("profiler_state", "profiler_state.cc", "beside")])
def test_a_part_that_does_not_compile_is_left_out_and_told(part, source, unit, site, tmp_path):
    refusing = REFUSING.format(define=f"OPSCOPE_WITHOUT_{part.upper()}", unit=unit, source=source)
    compiler = Compiler(tmp_path / "compiler", refusing)
    done = run(PARTS, site, tmp_path / "cache", CXX=str(compiler.path))
    assert done.status == 0, done.stderr
    assert f"{source}:7:1: error: planted" in done.stderr
    names, problems = done.stdout.splitlines()
    assert "'aten::ones'" in names
    assert names.endswith("] 0"), "torch's fast ranges need this part"
    assert problems.startswith("{'part_left_out': 1}")
    (note,) = (tmp_path / "cache").glob("*/*.json")
    parts = json.loads(note.read_text())["parts"]
    assert "planted" in parts.pop(part)
    assert set(parts.values()) == {""}


STACKS = """
import torch
from opscope.torch import profile
with profile(with_stack=True, profile_memory=True) as prof:
    torch.ones(2)
print("aten::ones" in [event.name for event in prof.events()], len(prof.trace.allocations) > 0)
print({problem["kind"]: problem["count"] for problem in prof.trace.problems})
"""
IN_THE_PART = "void AddScriptStack(uint32_t flags, uint64_t window, std::string* members) {"


def test_a_part_that_crashes_its_self_test_is_left_out_and_told(tmp_path):
    site = bare_package.make(tmp_path / "site")
    source = site / "opscope/adapter_source/sources/torch/calls/script_stack.cc"
    text = source.read_text()
    assert IN_THE_PART in text
    source.unlink()  # it may be a second name of the installed one
    source.write_text(text.replace(IN_THE_PART, IN_THE_PART + "__builtin_trap();"))
    cache, compiler = tmp_path / "cache", Compiler(tmp_path / "compiler", bare_package.REAL)
    told = []
    for _ in range(2):
        done = run(STACKS, site, cache, CXX=str(compiler.path))
        assert (done.stdout, done.status) == ("True True\n{'part_left_out': 1}\n", 0), done.stderr
        told.append("goes without the call stacks and modules of TorchScript: the self-test ended with" in done.stderr)
    assert told == [True, False], "the verdict was not kept"
    (note,) = cache.glob("*/*.json")
    parts = json.loads(note.read_text())["parts"]
    assert parts.pop("stacks").startswith("the self-test ended with signal")
    assert set(parts.values()) == {""}
    torch = doctor_of_torch(site, cache, CXX=str(compiler.path))
    assert torch["can_be_profiled"]
    assert list(torch["left_out"]) == ["stacks"]


def test_where_operators_cannot_be_recorded_the_error_says_what_to_do(site, tmp_path):
    compiler = Compiler(tmp_path / "compiler", giving(site / "opscope/lib/libopscope_recorder.so.1"))
    done = run(ONE_OPERATOR, site, tmp_path / "cache", CXX=str(compiler.path))
    assert done.status == 1
    (told,) = done.stderr.splitlines()[-1:]
    assert "is not a source" in told
    assert told.endswith("or take a torch that its docs/reference/torch_versions.md lists")
