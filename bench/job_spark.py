# SPDX-License-Identifier: Apache-2.0
"""The questions of job_questions.py to a JOB of 64 ranks in Spark: over the views of `opscope.spark`, beside Spark on
Parquet files that hold the same rows in one file per table. Both in one session, whose start is not measured.
"""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import job_questions
import made_jobs

import measure

ROW = (
    "job_spark",
    "Slowest rank, steps and top operators in Spark, beside Spark on Parquet of its own, without start",
    "s",
)


def ask(job, own, questions, repetitions):
    """[[seconds of opscope, seconds of Spark alone], ...] after a first round, whose time is Spark's own warming up."""
    from pyspark.sql import SparkSession

    import opscope

    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
        "spark.driver.host": "127.0.0.1",
    }
    builder = SparkSession.builder.master("local[2]")
    for name, value in (settings | {"spark.driver.bindAddress": "127.0.0.1"}).items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()

    def alone():
        for table, path in own.items():
            session.read.parquet(path).createOrReplaceTempView(table)
        return [[list(row) for row in session.sql(question).collect()] for question in questions]

    def ours():
        rows_of = opscope.job(job, engine=session).sql
        return [[list(row.values()) for row in rows_of(question)] for question in questions]

    seconds = []
    for _ in range(repetitions + 1):
        taken = []
        answers = []
        for side in (ours, alone):
            clock = measure.Clock()
            answers.append(side())
            taken.append(clock.read()["wall"])
        if answers[0] != answers[1]:
            raise SystemExit("bench: opscope and Spark answer differently")
        seconds.append(taken)
    session.stop()
    return seconds[1:]


def main():
    options = measure.parse_options(__doc__, ops=201_000, quick_ops=1_000, repetitions=5, ranks=64)
    if options.one:
        print(json.dumps(ask(**json.loads(options.one))), flush=True)
        return
    if options.quick:
        options.ranks = 2
    if importlib.util.find_spec("pyspark") is None or shutil.which("java") is None:
        measure.print_absent(*ROW, "needs Spark and Java: tools/setup tests, java")
        return
    folder = Path("job_spark").resolve()
    shutil.rmtree(folder, ignore_errors=True)  # of a run that was ended
    job, own = folder / "job", {table: str(folder / f"{table}.parquet") for table in ("steps", "spans")}
    try:
        made_jobs.write_job(
            job,
            {
                "ranks": made_jobs.ranks_sql(options.ranks, options.ops),
                "steps": made_jobs.steps_sql(options.ranks, job_questions.STEPS),
                "spans": made_jobs.spans_sql(options.ranks, options.ops, job_questions.STEPS),
            },
        )
        made_jobs.apart(lambda: job_questions.write_own(job, own))
        questions = [question.format(steps="steps", spans="spans") for question in job_questions.QUESTIONS]
        arguments = {"job": str(job), "own": own, "questions": questions, "repetitions": options.repetitions}
        command = [sys.executable, __file__, "--one", json.dumps(arguments)]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        sides = zip(*json.loads(done.stdout.splitlines()[-1]), strict=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    figures = [measure.figures(list(side)) for side in sides]
    note = f"{options.ranks} x {options.ops:,} spans, local[2]"
    measure.print_row(*ROW, *figures, goal=1.1, note=note, repetitions=options.repetitions)


if __name__ == "__main__":
    main()
