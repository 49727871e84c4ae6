# SPDX-License-Identifier: Apache-2.0
"""``opscope summary --style paddle`` prints, character for character, what paddle.profiler prints of the same data.

The original runs in programs of its own: once with small programs to be profiled, and once with protobufs of invented
events, since a CPU never shows devices.
"""

import json
import pathlib
import subprocess
import sys

import paddle_oracle
import pytest
from paddle_protobuf import Invention
from paddle_runs import run_original

import opscope
from opscope import _core

pytestmark = pytest.mark.framework("paddle")

ORACLE = pathlib.Path(__file__).with_name("paddle_oracle.py")
SEEDS = range(24)


def run_oracle(*arguments, folder):
    return run_original([sys.executable, ORACLE, *map(str, arguments)], cwd=folder)


@pytest.fixture(scope="module")
def profiled(tmp_path_factory):
    folder = tmp_path_factory.mktemp("profiled")
    run_oracle("profile", folder, folder=folder)
    return folder


def ours(path):
    return [
        _core.paddle.summary(_core.open_trace(str(path)), **arguments) for arguments in paddle_oracle.combinations()
    ]


def assert_same_texts(ours, theirs):
    for arguments, our_text, their_text in zip(paddle_oracle.combinations(), ours, theirs, strict=True):
        assert our_text.splitlines() == their_text.splitlines(), arguments
        assert our_text == their_text, arguments


@pytest.mark.parametrize("program", paddle_oracle.PROGRAMS)
def test_a_run_prints_as_the_original_printed_it(profiled, program):
    theirs = json.loads((profiled / f"{program}.texts.json").read_text())
    trace = _core.open_trace(str(profiled / f"{program}.pb"))
    has_flops = paddle_oracle.PROGRAMS[program][1].get("with_flops", False)
    behind = _core.paddle.flops(trace) + "\n" if has_flops else ""
    assert_same_texts([text + "\n" + behind for text in ours(profiled / f"{program}.pb")], theirs)


TRIES = 5
TELLS_NEIGHBOURS_S = 0.5  # after a second Paddle's JSON says starts to 60 ns alone


@pytest.fixture
def short_run(profiled, tmp_path):
    """Of a program, where one of some tries did not take too long to be compared."""

    def find(program):
        for at in range(TRIES):
            folder = profiled if at == 0 else tmp_path
            if at > 0:
                run_oracle("profile", folder, folder=folder)
            starts = opscope.open(folder / f"{program}.pb").spans["start"]
            if max(starts) - min(starts) < TELLS_NEIGHBOURS_S * 1e9:
                return folder
        pytest.skip(f"{program} takes longer than {TELLS_NEIGHBOURS_S} s here, {TRIES} times")

    return find


@pytest.mark.parametrize("program", ["mlp_all", "threads"])
def test_the_json_of_a_run_prints_as_its_protobuf(short_run, program):
    """But for memory: its times are cut to microseconds there, and nothing says more."""
    profiled = short_run(program)
    views = [view for view in range(paddle_oracle.VIEWS) if view != 6]
    texts = [
        _core.paddle.summary(_core.open_trace(str(profiled / f"{program}.{kind}")), views=views, thread_sep=True)
        for kind in ("pb", "json")
    ]
    assert texts[0].splitlines() == texts[1].splitlines()


def test_a_saved_trace_prints_the_same(profiled, tmp_path):
    opscope.open(profiled / "mlp_all.pb").save(tmp_path / "t.opscope")
    assert ours(tmp_path / "t.opscope") == ours(profiled / "mlp_all.pb")


def test_the_command_prints_the_same(profiled):
    theirs = json.loads((profiled / "mlp_all.texts.json").read_text())
    words = {
        0: [],
        4: ["--sort", "GPUTotal"],
        16: ["--views", "device"],
        25: ["--views", "distributed,device,operator"],
        28: ["--time-unit", "us"],
        31: ["--no-op-detail"],
        32: ["--thread-sep"],
    }
    for number, arguments in words.items():
        done = subprocess.run(
            [sys.executable, "-m", "opscope", "summary", "--style", "paddle", "--with-flops", *arguments]
            + [profiled / "mlp_all.pb"],
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout == theirs[number], arguments


def test_invented_devices_print_as_the_original_prints_them(tmp_path):
    paths = [tmp_path / f"{seed}.pb" for seed in SEEDS]
    for seed, path in zip(SEEDS, paths, strict=True):
        path.write_bytes(Invention(seed).file())
    theirs = json.loads(run_oracle("tables", *paths, folder=tmp_path))
    for path in paths:
        assert theirs[str(path)] is not None, f"the original does not open {path.name}"
        assert_same_texts(ours(path), theirs[str(path)])
    shown = "".join(texts[0] for texts in theirs.values())
    for title in ("Distribution Summary", "Kernel Summary", "Memory Manipulation Summary", "GPU1", "Reserved"):
        assert title in shown


def test_a_trace_without_steps_of_another_framework_has_all_tables(tmp_path):
    path = tmp_path / "t.json"
    path.write_text(
        json.dumps(
            {
                "traceEvents": [
                    {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": start, "dur": took}
                    for name, start, took in (("aten::mm", 0, 6), ("aten::add", 16, 4))
                ]
            }
        )
    )
    text = _core.paddle.summary(opscope.open(path)._core)
    assert "Operator Summary" in text
    assert [line.split()[:2] for line in text.splitlines() if line.startswith("aten::")] == [
        ["aten::mm", "1"],
        ["aten::add", "1"],
    ]
    # 10 of 20 us
    assert "Operator                   2                          0.01                       50.00" in text
