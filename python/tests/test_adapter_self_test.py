# SPDX-License-Identifier: Apache-2.0
"""The self-test of an adapter, run by a program of its own in place of the framework's: parts that crash or hang."""

import sys

import pytest

# Reads its line, and says of each part that it works; the parts of HANGING do not end, those of CRASHING crash.
SELF_TEST = """
import json, os, sys, time
asked = json.loads(sys.stdin.readline())
for part in ("operators", "memory", "stacks"):
    if part in asked["without"]:
        continue
    print(json.dumps({"part": part, "why": None}), flush=True)
    if part in os.environ["HANGING"].split(","):
        time.sleep(60)
    if part in os.environ["CRASHING"].split(","):
        os.abort()
    print(json.dumps({"part": part, "why": ""}), flush=True)
if "the end" in os.environ["HANGING"].split(","):
    time.sleep(60)
"""


@pytest.fixture
def try_parts(tmp_path, monkeypatch):
    from opscope.adapters import run_self_test

    (tmp_path / "planted_self_test.py").write_text(SELF_TEST)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(run_self_test, "SELF_TEST_LIMIT_S", 3.0)

    def tried(hanging="", crashing=""):
        monkeypatch.setenv("HANGING", hanging)
        monkeypatch.setenv("CRASHING", crashing)
        return run_self_test.try_library({}, "the adapter", tmp_path / "x.so", tmp_path, "planted_self_test")

    return tried


def test_a_part_that_crashes_or_hangs_is_left_out_and_the_others_are_tried(try_parts):
    assert try_parts() == {"operators": "", "memory": "", "stacks": ""}
    crashed = "the self-test ended with signal 6"
    assert try_parts(crashing="memory") == {"operators": "", "memory": crashed, "stacks": ""}
    hung = "the self-test ended with no result"
    assert try_parts(hanging="memory", crashing="stacks") == {"operators": "", "memory": hung, "stacks": crashed}


@pytest.mark.parametrize("where", ["operators", "the end"])
def test_a_library_whose_operators_or_end_hang_is_refused(where, try_parts):
    from opscope.adapters.errors import CompilationFailed

    with pytest.raises(CompilationFailed, match="was given up after 3 s"):
        try_parts(hanging=where)
