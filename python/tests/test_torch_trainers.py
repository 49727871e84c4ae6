# SPDX-License-Identifier: Apache-2.0
"""The trainers of other libraries, unchanged, under ``patch()``: what they record is what torch.profiler records."""

import gzip
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

pytestmark = pytest.mark.framework("torch")

LIMIT_S = 600
# What each trainer must at least have been seen doing in the two steps that are recorded.
TRAINERS = {
    "transformers": {"aten::embedding", "aten::scaled_dot_product_attention", "Optimizer.step#AdamW.step"},
    "pytorch_lightning": {"[pl][profile]run_training_batch", "Optimizer.step#SGD.step", "AddmmBackward0"},
    "accelerate": {"aten::linear", "Optimizer.step#AdamW.step", "AddmmBackward0"},
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """What `trainer_job.py` left of a trainer: a folder."""
    made = {}

    def run(trainer):
        if trainer not in made:
            folder = made[trainer] = tmp_path_factory.mktemp(trainer)
            command = [sys.executable, str(Path(__file__).with_name("trainer_job.py")), trainer, str(folder)]
            done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
            said = re.search(r"Disabling PyTorch because .* is required but found \S+", done.stderr)
            if said and done.returncode != 0:  # others import it and do without
                pytest.skip(f"{trainer}: {said[0]}")
            assert done.returncode == 0, done.stdout + done.stderr
        return made[trainer]

    return run


@pytest.mark.parametrize("trainer", [pytest.param(name, marks=pytest.mark.framework(name)) for name in TRAINERS])
def test_a_trainer_records_what_it_records_with_torch(trainer, runs):
    counts = json.loads((runs(trainer) / "counts.json").read_text())
    ours, theirs = counts["opscope"], counts["torch"]
    assert [each.pop("made_by") for each in theirs] == ["torch"] * len(theirs)
    assert [each.pop("made_by") for each in ours] == ["opscope"] * len(ours)
    assert ours == theirs
    (cycle,) = ours
    names = {name.rpartition(" > ")[2] for name in cycle["events"]}
    assert names >= TRAINERS[trainer] | {"ProfilerStep*"}
    assert cycle["events"]["None > ProfilerStep*"] == 2


def read_trace(path):
    with gzip.open(path, "rt") if path.suffix == ".gz" else open(path, encoding="utf-8") as file:
        rows = json.load(file)["traceEvents"]
    return Counter((row.get("cat"), row["name"]) for row in rows if row["ph"] == "X")


def read_table(path):
    """Names and numbers of calls of a table, as its text shows them."""
    rows = [line.split("  ") for line in path.read_text(encoding="utf-8").splitlines() if line.startswith(" ")]
    cells = [[cell.strip() for cell in row if cell.strip()] for row in rows]
    return sorted((row[0], row[-1]) for row in cells)


@pytest.mark.framework("pytorch_lightning")
def test_the_files_of_a_trainer_say_what_they_say_with_torch(runs):
    folder = runs("pytorch_lightning")
    found = []
    for made_by in ("torch", "opscope"):
        (trace,) = (folder / made_by).glob("*.pt.trace.json*")
        (table,) = (folder / made_by).glob("*.txt")
        found.append((read_trace(trace), read_table(table)))
    assert found[1] == found[0]
    assert ("ProfilerStep*", "2") in found[1][1] and len(found[1][1]) > 10
