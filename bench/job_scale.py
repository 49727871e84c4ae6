# SPDX-License-Identifier: Apache-2.0
"""Stragglers of 10,000 ranks on one core, and what a JOB of so many ranks saves beside a folder of files per rank.

The JOBs are written by SQL (made_jobs.py) as `opscope compact` leaves them. Every side is a process, with its start.
"""

import json
import shutil
import sys
from pathlib import Path

import made_jobs

import measure

STEPS = 50
OPSCOPE = [sys.executable, "-m", "opscope"]
SLOWEST = "SELECT rank, avg(duration_ns) AS ns FROM {steps} GROUP BY rank ORDER BY ns DESC, rank LIMIT 5"
ALONE = """
import sys, duckdb
connection = duckdb.connect()
connection.execute("SET enable_progress_bar = false")
for row in connection.execute(sys.argv[1]).fetchall():
    print(row)
"""


def print_stragglers(folder, options, is_grouped):
    """`opscope stragglers` on one core: processor time and peak memory."""
    per_step = max(2, options.collectives // STEPS)
    made = made_jobs.Collectives(options.ranks, STEPS, per_step, is_grouped)
    job = folder / "stragglers"
    made_jobs.write_job(
        job,
        {
            "ranks": made_jobs.ranks_sql(options.ranks, STEPS * per_step),
            "steps": made_jobs.steps_sql(options.ranks, STEPS),
            "collectives": made.sql(),
            "rank_groups": made.groups_sql(),
        },
    )
    command = ["taskset", "-c", "0", *OPSCOPE, "stragglers", job, "--json"]
    samples = made_jobs.take_turns(options.repetitions, {"stragglers": command})["stragglers"]
    rows = json.loads(samples[0]["output"])["rows"]
    if [(row["set"], row["name"], row["cause"]) for row in rows] != [("rank", str(made.slow), "compute")]:
        raise SystemExit(f"bench: the stragglers are {rows}, not rank {made.slow}")
    word = "in groups by host and by position within the host" if is_grouped else "in one group"
    name = "grouped" if is_grouped else "plain"
    collectives = f"{options.ranks:,} ranks x {STEPS * per_step:,} collectives {word}"
    more = {"repetitions": options.repetitions, "note": f"{options.ranks * STEPS * per_step:,} rows"}
    title = f"Stragglers of {collectives}, processor time on one core"
    measure.print_row(f"job_stragglers_{name}", title, "s", measure.figures_of(samples, "cpu"), absolute_goal=5, **more)
    title = "Peak memory of that"
    peak = measure.figures_of(samples, "peak", 1e-6)
    measure.print_row(f"job_stragglers_{name}_ram", title, "MB", peak, absolute_goal=300, **more)
    shutil.rmtree(job)


def write_folders(folder, ranks):
    """The same steps as a Parquet file in a folder of its own for each rank."""
    import duckdb

    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE steps AS {made_jobs.steps_sql(ranks, STEPS)}")
    for rank in range(ranks):
        place = folder / f"rank={rank}"
        place.mkdir(parents=True)
        connection.execute(
            f"COPY (SELECT * EXCLUDE rank FROM steps WHERE rank = {rank}) TO '{place}/steps.parquet' (FORMAT parquet)"
        )


def print_one_folder(folder, options):
    job, folders = folder / "one", folder / "folders"
    made_jobs.write_job(
        job,
        {"ranks": made_jobs.ranks_sql(options.ranks, 0), "steps": made_jobs.steps_sql(options.ranks, STEPS)},
    )
    made_jobs.apart(lambda: write_folders(folders, options.ranks))
    theirs = SLOWEST.format(steps=f"read_parquet('{folders}/*/steps.parquet', hive_partitioning = true)")
    commands = {
        "job": [*OPSCOPE, "query", job, SLOWEST.format(steps="steps"), "--json"],
        "folders": [sys.executable, "-c", ALONE, theirs],
    }
    samples = made_jobs.take_turns(options.repetitions, commands)
    ours = json.loads(samples["job"][0]["output"])["rows"]
    if [str(tuple(row)) for row in ours] != samples["folders"][0]["output"].decode().splitlines():
        raise SystemExit(f"bench: {ours} are not {samples['folders'][0]['output']}")
    title = f"Slowest of {options.ranks:,} ranks from one JOB, beside DuckDB on a folder for each rank, processor time"
    sides = [measure.figures_of(samples[name], "cpu") for name in commands]
    measure.print_row("job_one_folder", title, "s", *sides, goal=1 / 8, repetitions=options.repetitions)


def main():
    options = measure.parse_options(__doc__, ops=0, quick_ops=0, repetitions=3, ranks=10_000, collectives=1_000)
    if options.quick:
        options.ranks, options.collectives = 64, 100
    folder = Path("job_scale").resolve()
    shutil.rmtree(folder, ignore_errors=True)  # of a run that was ended
    try:
        for is_grouped in (False, True):
            print_stragglers(folder, options, is_grouped)
        print_one_folder(folder, options)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
