# SPDX-License-Identifier: Apache-2.0
"""The cells of the picture of steps by ranks, in SQL and by loops, on random jobs and in cells of any size."""

from collections import defaultdict

import pytest
from job_brute_force import Job, p
from job_tables import Tables, random_job

pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")
from job_sql import DuckDb  # noqa: E402  (it needs both)

JOBS = 20
SIZES = [(1, 1), (2, 1), (1, 3), (2, 2), (3, 5)]


def times(job, is_own):
    """(index of the rank, step, duration) of every step; without what the rank waited in it if is_own."""
    for index, rank in enumerate(job.ranks):
        for row in job.steps_of[rank]:
            waited = sum(
                match.waits.get(rank, 0) for match in job.matches if match.synchronising and match.step == row["step"]
            )
            yield index, row["step"], max(0, row["duration_ns"] - (waited if is_own else 0))


def medians(job, is_own):
    of_steps = defaultdict(list)
    for _, step, duration in times(job, is_own):
        of_steps[step].append(duration)
    return {step: p(50, of_steps[step]) for step in sorted(of_steps)}


def cells(job, ranks_per_cell, steps_per_cell, is_own):
    of_steps, found = medians(job, is_own), defaultdict(list)
    places = {step: place for place, step in enumerate(of_steps)}
    for index, step, duration in times(job, is_own):
        ratio = duration / max(1, of_steps[step])
        found[index // ranks_per_cell, places[step] // steps_per_cell].append((-ratio, index, places[step], duration))
    for y, x in sorted(found):
        durations = sorted(found[y, x])
        # of a rank that has a step twice, the longer duration counts
        ratio, index, place, _ = durations[0]
        longest = max(each[3] for each in durations if each[:3] == (ratio, index, place))
        yield {"y": y, "x": x, "durations": len(durations), "ri": index, "si": place, "duration_ns": longest}


def test_cells_are_those_of_the_loops():
    jobs, compared = [random_job(seed) for seed in range(JOBS)], 0
    engine = DuckDb(jobs)
    for seed, tables in enumerate(jobs):
        engine.open(seed)
        job = Job(tables)
        whole, own = medians(job, False), medians(job, True)
        expected = [{"step": step, "median_ns": whole[step], "own_median_ns": own[step]} for step in whole]
        assert engine.answer("step_medians") == expected, seed
        for is_own in (False, True):
            for size in SIZES:
                rows = list(cells(job, *size, is_own))
                compared += len(rows)
                options = {"ranks_per_cell": size[0], "steps_per_cell": size[1], "is_own": int(is_own)}
                assert engine.answer("step_cells", **options) == rows, (seed, options)
    assert compared > 900


def test_the_example_of_the_file():
    out = Tables()
    for rank, durations in enumerate([(11, 150), (14, 100), (9, 99), (10, 100), (10, 100)]):
        file = out.file(rank)
        out.collective(file, "/5/", 0, 1)
        for step, duration in enumerate(durations):
            out.step(file, step, 1000 * step, duration)
    engine = DuckDb([out.tables()])
    engine.open(0)
    first = engine.answer("step_cells", ranks_per_cell=2, steps_per_cell=2)[0]
    assert first == {"y": 0, "x": 0, "durations": 4, "ri": 0, "si": 1, "duration_ns": 150}


def test_the_longest_duration_and_the_last_rank_stay_exact():
    out = Tables()
    for rank in (0, 1):
        file = out.file(rank)
        out.collective(file, "/2/", 0, 1)
        out.step(file, 3, 0, 2**43 - 1 - rank)
    engine = DuckDb([out.tables()])
    engine.open(0)
    durations = [row["duration_ns"] for row in engine.answer("step_cells")]
    assert durations == [2**43 - 1, 2**43 - 2]
