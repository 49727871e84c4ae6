# SPDX-License-Identifier: Apache-2.0
"""A real job of two processes (Gloo, loopback): what torch.profiler writes of it is what opscope writes."""

import glob
import gzip
import json
import re
from pathlib import Path

import pytest
from ranks_of_a_job import run_ranks

pytestmark = pytest.mark.framework("torch")

LIMIT_S = 300
# "finished": Gloo's threads may end a range after the recording.
OF_THE_RUN = {"External id", "Ev Idx", "Sequence number", "finished"}
OPSCOPES_OWN = {"opscope.async"}  # docs/reference/chrome_json.md, "Writing"


@pytest.fixture(scope="module")
def job(tmp_path_factory):
    folder = tmp_path_factory.mktemp("gloo")
    program = Path(__file__).with_name("gloo_job.py")
    run_ranks(lambda rank: [program, rank, 2, folder / "rendezvous", folder], limit_s=LIMIT_S)
    return folder


def trace_of(folder, kind, rank):
    (path,) = glob.glob(f"{folder}/{kind}/rank{rank}.*")
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path, encoding="utf-8") as file:
        return json.load(file)


def events_of(folder, kind, rank):
    return json.loads((folder / f"{kind}.{rank}.json").read_text())["events"]


@pytest.mark.parametrize("rank", [0, 1])
def test_the_job_is_described_as_torch_describes_it(job, rank):
    theirs, ours = (trace_of(job, kind, rank)["distributedInfo"] for kind in ("torch", "opscope"))
    assert ours == theirs
    assert (ours["backend"], ours["rank"], ours["world_size"]) == ("gloo", rank, 2)


@pytest.mark.parametrize("rank", [0, 1])
def test_events_and_collectives_with_their_arguments_are_torchs(job, rank):
    theirs, ours = (sorted(row["name"] for row in events_of(job, kind, rank)) for kind in ("torch", "opscope"))
    assert ours == theirs

    def collectives(kind):
        found = []
        for event in trace_of(job, kind, rank)["traceEvents"]:
            if event.get("ph") == "X" and re.match("c10d::|gloo:|record_param_comms", event["name"]):
                kept = {k: v for k, v in event["args"].items() if k not in OF_THE_RUN | OPSCOPES_OWN}
                found.append(json.dumps([event["name"], kept], sort_keys=True))
        return sorted(found)

    ours, theirs = collectives("opscope"), collectives("torch")
    assert ours == theirs
    names = {json.loads(each)[0] for each in ours}
    assert {"c10d::allreduce_", "c10d::broadcast_", "c10d::allgather_", "c10d::barrier", "gloo:all_reduce"} <= names
    assert ("gloo:send" if rank == 0 else "gloo:recv") in names


@pytest.mark.parametrize("rank", [0, 1])
def test_what_is_asynchronous_and_on_which_thread_is_torchs(job, rank):
    def flags(kind):
        rows = events_of(job, kind, rank)
        caller = next(row["thread"] for row in rows if row["name"] == "c10d::allreduce_")
        # Which of its threads Gloo takes for a collective is chance.
        return sorted((row["name"], row["thread"] == caller, row["is_async"], row["parent"] or "") for row in rows)

    ours, theirs = flags("opscope"), flags("torch")
    assert ours == theirs
    on_its_own = {name for name, is_callers, is_async, _ in ours if is_async and not is_callers}
    assert {"gloo:all_reduce", "gloo:broadcast", "gloo:all_gather"} <= on_its_own


@pytest.mark.parametrize("rank", [0, 1])
def test_self_times_are_those_that_torch_finds_for_our_times_and_its_flags(job, rank):
    from torch.autograd.profiler_util import EventList, FunctionEvent

    asynchronous = {row["name"] for row in events_of(job, "torch", rank) if row["is_async"]}
    ours = events_of(job, "opscope", rank)
    theirs = EventList(
        [
            FunctionEvent(i, row["name"], row["thread"], row["start"], row["end"], is_async=row["name"] in asynchronous)
            for i, row in enumerate(ours)
        ],
        use_device=None,
    )
    theirs._build_tree()
    assert [row["self"] for row in ours] == pytest.approx([event.self_cpu_time_total for event in theirs], abs=1e-6)
    assert {row["self"] for row in ours if row["name"] in asynchronous} == {0}
    total = json.loads((job / f"opscope.{rank}.json").read_text())["self_total"]
    assert total == pytest.approx(theirs.self_cpu_time_total)


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
