# SPDX-License-Identifier: Apache-2.0
"""A real job of two processes (Gloo, loopback): what torch.profiler writes of it is what opscope writes."""

import glob
import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.framework("torch")

LIMIT_S = 300
# "finished": Gloo's threads may end a range after the recording.
OF_THE_RUN = {"External id", "Ev Idx", "Sequence number", "finished"}


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gloo")
    program = Path(__file__).with_name("gloo_job.py")
    ranks = [
        subprocess.Popen(
            [sys.executable, str(program), str(rank), "2", str(folder / "rendezvous"), str(folder)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        for rank in range(2)
    ]
    try:
        outputs = [rank.communicate(timeout=LIMIT_S)[0] for rank in ranks]
    finally:
        for rank in ranks:
            rank.kill()
    assert [rank.returncode for rank in ranks] == [0, 0], outputs
    return folder


def trace_of(folder, kind, rank):
    (path,) = glob.glob(f"{folder}/{kind}/rank{rank}.*")
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path, encoding="utf-8") as file:
        return json.load(file)


@pytest.mark.parametrize("rank", [0, 1])
def test_the_job_is_described_as_torch_describes_it(job, rank):
    theirs, ours = (trace_of(job, kind, rank)["distributedInfo"] for kind in ("torch", "opscope"))
    assert ours == theirs
    assert (ours["backend"], ours["rank"], ours["world_size"]) == ("gloo", rank, 2)


@pytest.mark.parametrize("rank", [0, 1])
def test_events_and_collectives_with_their_arguments_are_torchs(job, rank):
    theirs, ours = ((job / f"{kind}.{rank}.names").read_text().split("\n") for kind in ("torch", "opscope"))
    assert ours == theirs

    def collectives(kind):
        found = []
        for event in trace_of(job, kind, rank)["traceEvents"]:
            if event.get("ph") == "X" and re.match("c10d::|gloo:|record_param_comms", event["name"]):
                kept = {k: v for k, v in event["args"].items() if k not in OF_THE_RUN}
                found.append(json.dumps([event["name"], kept], sort_keys=True))
        return sorted(found)

    ours, theirs = collectives("opscope"), collectives("torch")
    assert ours == theirs
    names = {json.loads(each)[0] for each in ours}
    assert {"c10d::allreduce_", "c10d::broadcast_", "c10d::allgather_", "c10d::barrier", "gloo:all_reduce"} <= names
    assert ("gloo:send" if rank == 0 else "gloo:recv") in names


def test_files_are_named_by_worker_and_time_and_compressed_where_asked(job):
    for kind in ("torch", "opscope"):
        names = sorted(path.name for path in (job / kind).iterdir())
        assert re.fullmatch(r"rank0\.\d+\.pt\.trace\.json", names[0])
        assert re.fullmatch(r"rank1\.\d+\.pt\.trace\.json\.gz", names[1])
        assert len(names) == 2


def test_without_a_name_a_worker_is_its_host_and_process(tmp_path):
    import os
    import socket

    import torch.profiler

    import opscope.torch

    for module in (torch.profiler, opscope.torch):
        folder = tmp_path / module.__name__
        handler = module.tensorboard_trace_handler(str(folder), use_gzip=True)
        cpu = [module.ProfilerActivity.CPU]
        plan = module.schedule(wait=0, warmup=1, active=1, repeat=2)
        with module.profile(activities=cpu, schedule=plan, on_trace_ready=handler) as prof:
            for _ in range(4):
                torch.ones(2)
                prof.step()
        names = [path.name for path in folder.iterdir()]
        worker = re.escape(f"{socket.gethostname()}_{os.getpid()}")
        assert len(names) == 2
        assert all(re.fullmatch(worker + r"\.\d+\.pt\.trace\.json\.gz", name) for name in names)
