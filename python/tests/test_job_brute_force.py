# SPDX-License-Identifier: Apache-2.0
"""The worked examples of interface-scale.md with their exact numbers, computed by the brute force."""

from job_brute_force import Job
from job_brute_force_sets import CriticalPath, straggler_rows
from job_tables import Tables

US = 1000


def waiting_job(steps=4):
    """The job of the examples of sections 3.4 and 5."""
    out = Tables()
    for rank, duration in enumerate((150, 152, 50, 149)):
        file = out.file(rank, 0, 1000 * US * steps, world_size=4, host="one")
        for step in range(steps):
            begin = 1000 * US * step
            out.step(file, step, begin, 1000 * US)
            late = {2: 100}.get(rank, 0)
            start = begin + (420 + late) * US
            # all end at 570 us but rank 1 at 572 and rank 3 at 569: the ends are 3 us apart
            columns = {"compute": (400 + late) * US, "host": 20 * US, "seq": step}
            out.collective(file, "0/4/0,1,2,3", start, duration * US, step=step, **columns)
    return out.tables()


def test_waits_are_those_of_the_example():
    job = Job(waiting_job())
    row = next(job.collective_rows())
    assert (row["transfer_ns"], row["wait_ns"], row["skew_ns"], row["last_rank"]) == (50 * US, 301 * US, 102 * US, 2)
    assert row["end_spread_ns"] == 3 * US
    assert [each["wait_ns"] // US for each in job.members_of(job.matches[0])] == [100, 102, 0, 99]


def test_straggler_is_that_of_the_example():
    (row,) = straggler_rows(Job(waiting_job()))
    assert (row["set"], row["name"], row["behavior"], row["cause"]) == ("rank", "2", "persistent", "compute")
    assert (row["caused_ns"], row["caused_per_step_ns"], row["share"]) == (4 * 99 * US, 99 * US, 0.099)
    assert (row["hit_steps"], row["first_step"], row["last_step"], row["peers"]) == (4, 0, 3, 3)


def clock_job():
    """The job of the example of section 4; the reference is rank 0."""
    out = Tables()
    edges = {0: [(940, 1000), (1960, 2000)], 1: [(630, 700), (1610, 1704)]}
    for rank, spans in edges.items():
        file = out.file(rank, 0, 3000, world_size=2, host=f"h{rank}")
        for number, (begin, end) in enumerate(spans):
            out.collective(file, "0/2/0,1", begin, end - begin, seq=number)
    return out.tables()


def test_clock_is_that_of_the_example():
    job = Job(clock_job())
    assert job.clock(1) == ("collectives", 296, 57, 4)
    assert job.clock(0) == ("reference", 0, 0, 0)


def critical_job():
    """The job of the example of section 6."""
    out = Tables()
    for rank, (begin, start, duration, gap) in enumerate(((0, 400, 300, 400), (50, 650, 100, 600))):
        file = out.file(rank, begin, begin + 1000, world_size=2, host=f"h{rank}")
        out.step(file, 1, begin, 1000)
        out.collective(file, "0/2/0,1", start, duration, step=1, seq=1, compute=gap)
    return out.tables()


CRITICAL = {
    "length_ns": 1000,
    "what_if_ns": 800,
    "balanced_ns": 800,
    "rows": [
        {"rank": 1, "critical_ns": 700, "share": 0.7, "steps": 1, "saved_ns": 200, "excess_ns": 200},
        {"rank": 0, "critical_ns": 300, "share": 0.3, "steps": 0, "saved_ns": 0, "excess_ns": 0},
    ],
    "steps": [{"step": 1, "length_ns": 1000, "rank": 1, "near_ranks": 1}],
}


def test_critical_path_is_that_of_the_example():
    assert CriticalPath(Job(critical_job())).answer() == CRITICAL
