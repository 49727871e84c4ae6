# SPDX-License-Identifier: Apache-2.0
"""The roofline of real programs: FLOPs as torch counts them, and at most 5 % of the time without a formula."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from opscope_command import answer, run

torch = pytest.importorskip("torch")

import opscope.torch  # noqa: E402

PRODUCTS = ("mm", "addmm", "bmm", "baddbmm", "linear", "conv", "attention")


def transformer():
    torch.manual_seed(0)
    block = torch.nn.TransformerEncoderLayer(256, 8, 1024, dropout=0.1, batch_first=True)
    table, head = torch.nn.Embedding(1000, 256), torch.nn.Linear(256, 1000)
    words, targets = torch.randint(0, 1000, (8, 128)), torch.randint(0, 1000, (8 * 128,))

    def run():
        scores = head(block(table(words))).flatten(0, 1)
        torch.nn.functional.cross_entropy(scores, targets).backward()

    return run


def pictures():
    torch.manual_seed(0)
    net = torch.nn.Sequential(
        torch.nn.Conv2d(3, 32, 3, padding=1),
        torch.nn.BatchNorm2d(32),
        torch.nn.ReLU(),
        torch.nn.Conv2d(32, 64, 3, stride=2),
        torch.nn.ReLU(),
        torch.nn.AdaptiveAvgPool2d(1),
        torch.nn.Flatten(),
        torch.nn.Linear(64, 10),
    )
    inputs, targets = torch.randn(8, 3, 64, 64), torch.randint(0, 10, (8,))
    return lambda: torch.nn.functional.cross_entropy(net(inputs), targets).backward()


@pytest.fixture
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize("program", [transformer, pictures])
def test_flops_are_those_of_torch_and_nearly_all_time_is_known(program, one_thread):
    from torch.utils.flop_counter import FlopCounterMode

    run = program()
    run()
    with FlopCounterMode(display=False) as counter:
        run()
    with opscope.torch.profile(record_shapes=True) as profiler:
        run()
    trace = profiler.trace
    rows = trace.roofline()
    products = [row for row in rows if any(word in row["name"] for word in PRODUCTS) and row["flops"]]
    assert sum(row["flops"] for row in products) == counter.get_total_flops()
    machine = trace.roofline_machine()
    assert machine["time_ns"] == sum(row["time_ns"] for row in rows)
    unknown = [(row["name"], row["shape"], row["time_ns"]) for row in rows if None in (row["flops"], row["bytes"])]
    assert machine["known_share"] >= 0.95, unknown[:5]


def test_times_add_up_to_the_outermost_operators(one_thread):
    run = transformer()
    run()
    with opscope.torch.profile(record_shapes=True) as profiler:
        run()
    trace = profiler.trace
    by_name = trace.summary(where="kind = 'operator'")
    self_ns = sum(row["self_ns"] for row in by_name)
    assert sum(row["time_ns"] for row in trace.roofline()) == self_ns


def test_without_shapes_nothing_is_guessed():
    with opscope.torch.profile() as profiler:
        torch.mm(torch.ones(3, 4), torch.ones(4, 5))
    row = next(row for row in profiler.trace.roofline() if row["name"] == "aten::mm")
    assert row["flops"] is None and row["bytes"] is None and row["peak_share"] is None


@pytest.mark.parametrize("peak", [0, -1e12, float("nan"), float("inf")])
def test_peaks_that_no_machine_has_are_refused(peak):
    trace = opscope.read(b'{"traceEvents": []}')
    for name in ("peak_flops", "peak_bandwidth"):
        for measure in (trace.roofline, trace.roofline_machine):
            with pytest.raises(ValueError, match=f"^{name} must be a finite number above 0$"):
                measure(**{name: peak})


def test_both_peaks_give_the_limit():
    with opscope.torch.profile(record_shapes=True) as profiler:
        torch.mm(torch.ones(64, 64), torch.ones(64, 64))
    rows = profiler.trace.roofline(peak_flops=1e6, peak_bandwidth=1e15, where="name = 'aten::mm'")
    assert [(row["bound"], row["flops"]) for row in rows] == [("compute", 2 * 64**3)]


ROOT = Path(__file__).resolve().parents[2]


def test_the_page_compares_a_step_with_what_the_machine_reaches(tmp_path):
    page = (ROOT / "docs" / "how-to" / "compare_with_the_machine.md").read_text()
    program = (ROOT / "examples" / "torch_machine_limits.py").read_text()
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300, cwd=tmp_path, check=True
    )
    options = done.stdout.split()
    assert options[::2] == ["--peak-flops", "--peak-bandwidth"]
    recorded = tmp_path / "run.opscope"
    rows = answer("roofline", recorded, *options)["rows"]
    products = [row for row in rows if row["name"] in ("aten::mm", "aten::addmm")]
    assert len(products) == 5
    peak_flops, peak_bandwidth = float(options[1]), float(options[3])
    for row in products:
        computes_longer = row["flops"] / peak_flops >= row["bytes"] / peak_bandwidth
        assert row["bound"] == ("compute" if computes_longer else "memory") and row["peak_share"] > 0
    assert {row["bound"] for row in rows if row["name"].startswith("aten::gelu")} == {"memory"}
    # The page quotes a run on another machine: its numbers differ, its columns and its operators do not.
    (quoted,) = re.findall(r"```text\n(.*?)```", page, re.DOTALL)
    titles, *lines, last = quoted.splitlines()
    shown = run("roofline", recorded, *options, "--limit", "6").stdout.splitlines()
    assert titles.split() == shown[0].split() and last.partition("%")[2] == shown[-1].partition("%")[2]
    assert len(lines) == 6 and {line.split()[0] for line in lines} <= {row["name"] for row in rows}
