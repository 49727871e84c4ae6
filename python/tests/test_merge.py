# SPDX-License-Identifier: Apache-2.0
"""Files of a real job of two processes as one trace: torch.profiler's own and opscope's."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import chrome_json, complete_event

import opscope

JOB = """
import json
import os
import sys
import time
import torch
import torch.distributed as dist
from torch.multiprocessing import start_processes

def run(rank, folder, module):
    store = dist.FileStore(folder + "/store-" + module, 2)
    dist.init_process_group("gloo", store=store, rank=rank, world_size=2)
    profile = getattr(__import__(module, fromlist=["profile"]), "profile")
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(20, 20))
    marks = []
    with profile() as prof:
        for step in range(20):
            before = time.time_ns()
            with torch.profiler.record_function(f"mark {step}"):
                pass
            marks.append((before, time.time_ns()))
            model(torch.randn(5, 20)).sum().backward()
            dist.all_reduce(torch.ones(100 + step))
            dist.barrier()
    prof.export_chrome_trace(f"{folder}/{module}-{rank}.json")
    if module == "opscope.torch":
        prof.save(f"{folder}/{module}-{rank}.opscope")
    with open(f"{folder}/{module}-{rank}.marks", "w") as file:
        json.dump(marks, file)
    dist.destroy_process_group()
    os._exit(0)  # torch 2.13 with Gloo aborts at about one of ten exits, also without opscope

if __name__ == "__main__":
    for module in sys.argv[2:]:
        start_processes(run, (sys.argv[1], module), nprocs=2, start_method="fork")
"""


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    pytest.importorskip("torch.distributed")
    return run_job(tmp_path_factory.mktemp("job"))


def run_job(folder):
    (folder / "job.py").write_text(JOB)
    command = [sys.executable, "job.py", str(folder), "torch.profiler", "opscope.torch"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("module", ["torch.profiler", "opscope.torch"])
def test_ranks_of_a_real_job_become_one_trace(job: Path, module):
    files = [job / f"{module}-{rank}.json" for rank in (0, 1)]
    parts = [opscope.open(file) for file in files]
    trace = opscope.merge(reversed(files))
    assert len(trace.spans) == sum(len(part.spans) for part in parts)
    merge = trace.info["merge"]
    assert merge["world_size"] == 2
    assert [entry["rank"] for entry in merge["inputs"]] == [0, 1]
    ranks = dict(zip(trace.processes.pid, trace.processes.rank, strict=True))
    for part, rank in zip(parts, (0, 1), strict=True):
        assert list(part.processes.rank) == [rank] * len(part.processes)
        pids = {pid for pid, text in zip(part.processes.pid, part.processes.pid_text, strict=True) if text is None}
        assert all(ranks[pid] == rank for pid in pids if list(parts[1 - rank].processes.pid).count(pid) == 0)


@pytest.mark.parametrize(
    ("files", "within_ns"),
    # torch converts its own ticks, opscope measures what it says.
    [("torch.profiler-{}.json", 100_000), ("opscope.torch-{}.json", 10_000), ("opscope.torch-{}.opscope", 10_000)],
)
def test_ranks_of_one_machine_keep_their_one_clock(job: Path, files, within_ns, tmp_path_factory):
    for _ in range(3):
        trace = opscope.merge([job / files.format(rank) for rank in (0, 1)])
        reference, other = sorted(trace.info["merge"]["inputs"], key=lambda entry: entry["clock"] != "reference")
        # torch's files have no bound of their clocks. If other programs let one rank leave all collectives 100 us after
        # the other, these contradict its clock, and rightly win.
        if other["clock"] == "wall_clock" or not files.startswith("torch"):
            break
        job = run_job(tmp_path_factory.mktemp("job"))
    assert (reference["clock"], other["clock"]) == ("reference", "wall_clock")
    assert (other["offset_ns"], other["drift_ppb"]) == (0, 0)
    assert ("wall_bound_ns" in other) == files.endswith(".opscope")
    assert other.get("wall_bound_ns", 0) < within_ns
    # Each mark lies where its process read the clock, whatever the collectives say.
    spans = trace.spans
    rank_of_track = [trace.processes.rank[process] for process in trace.tracks.process]
    module = files.split("-")[0]
    for rank in (0, 1):
        marks = json.loads((job / f"{module}-{rank}.marks").read_text())
        begins = {
            name: trace.info["epoch_ns"] + int(start)
            for name, start, track in zip(spans.text("name"), spans.start, spans.track, strict=True)
            if name.startswith("mark ") and rank_of_track[track] == rank
        }
        assert len(begins) == len(marks)
        for step, (before, after) in enumerate(marks):
            assert before - within_ns <= begins[f"mark {step}"] <= after + within_ns


def test_a_merged_file_still_knows_its_ranks(job: Path, tmp_path):
    trace = opscope.merge([job / f"opscope.torch-{rank}.json" for rank in (0, 1)])
    for name, to in (("all.opscope", "opscope"), ("all.json", "chrome")):
        trace.export(tmp_path / name, to=to)
        again = opscope.open(tmp_path / name)
        assert set(again.processes.rank) - {-1} == {0, 1}
        assert again.info["merge"]["inputs"] == trace.info["merge"]["inputs"]


class TestFiles:
    def test_of_no_rank_are_kept_apart_by_process(self, tmp_path):
        for name in "ab":
            (tmp_path / name).write_bytes(chrome_json(complete_event("op", 0, 5)))
        trace = opscope.merge([tmp_path / "a", tmp_path / "b"])
        assert len(trace.spans) == 2
        assert len(set(trace.processes.pid)) == 2

    def test_that_cannot_be_read_raise_as_open_does(self, tmp_path):
        with pytest.raises(FileNotFoundError, match="missing"):
            opscope.merge([tmp_path / "missing"])
        for seconds in (float("inf"), float("nan"), -1, 1e12):
            with pytest.raises(ValueError, match="max_clock_difference must be"):
                opscope.merge([tmp_path / "missing"], max_clock_difference=seconds)
        with pytest.raises(opscope.Error, match="nothing to merge"):
            opscope.merge([])

    def test_that_are_missing_are_a_problem(self, tmp_path):
        text = json.dumps(
            {"distributedInfo": {"rank": 1, "world_size": 3}, "traceEvents": [complete_event("op", 0, 5)]}
        )
        (tmp_path / "one.json").write_text(text)
        trace = opscope.merge([tmp_path / "one.json"])
        assert trace.is_partial
        assert list(trace.problems.text("message")) == ["ranks of the job have no file (0; 2)"]
