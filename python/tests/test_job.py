# SPDX-License-Identifier: Apache-2.0
"""`opscope collect`, `compact`, and the verbs that take a JOB in place of files, on the command line."""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from job_command import RANKS, STEP_US, STEPS, rank_trace, run_merge, span
from opscope_command import answer, run

import opscope

duckdb = pytest.importorskip("duckdb")


@pytest.fixture(name="files")
def files_fixture(tmp_path):
    folder = tmp_path / "traces"
    folder.mkdir()
    paths = []
    for rank in range(RANKS):
        paths.append(folder / f"rank{rank}.json")
        paths[-1].write_text(json.dumps(rank_trace(rank, slow=2)))
    return paths


@pytest.fixture(name="job")
def job_fixture(tmp_path, files):
    run("collect", *files, "-o", tmp_path / "job")
    return tmp_path / "job"


def rows_of(job, table, columns="*"):
    """The rows of a table, as DuckDB itself reads the files that the manifests list."""
    paths = []
    for manifest in sorted((job / "_opscope" / "parts").glob("*.json")):
        paths += [
            str(job / file["path"]) for file in json.loads(manifest.read_text())["files"] if file["table"] == table
        ]
    return duckdb.sql(f"SELECT {columns} FROM read_parquet({paths}) ORDER BY ALL").fetchall()


def test_collect_says_what_became_of_each_file(tmp_path, files):
    other = tmp_path / "traces" / "notes.json"
    other.write_text("[1, 2")
    told = answer("collect", tmp_path / "traces", "-o", tmp_path / "job", code=3)
    assert told["schema"] == "opscope.collect/1"
    assert told["job"] == str(tmp_path / "job")
    assert [row["status"] for row in told["files"]] == ["refused", "added", "added", "added", "added"]
    assert [row["rank"] for row in told["files"][1:]] == [0, 1, 2, 3]
    assert {row["rank_from"] for row in told["files"][1:]} == {"metadata"}
    assert {row["spans"] for row in told["files"][1:]} == {3 * STEPS}
    assert [problem["kind"] for problem in told["problems"] if problem["severity"] == "error"] == ["foreign_file"]
    assert told["quality"]["verdict"] == "doubtful"
    again = answer("collect", *files, "-o", tmp_path / "job")
    assert {row["status"] for row in again["files"]} == {"already"}


def test_collect_follows_symbolic_links_in_its_arguments_only(tmp_path, files):
    links = tmp_path / "links"
    links.mkdir()
    (links / "rank1.json").symlink_to(files[1])
    (links / "more").symlink_to(tmp_path / "traces")
    (links / "rank0.json").write_text(files[0].read_text())
    below = answer("collect", links, "-o", tmp_path / "below")
    assert [row["file"] for row in below["files"]] == [str(links / "rank0.json")]
    named = answer("collect", links / "rank1.json", links / "more", "-o", tmp_path / "named")
    assert [row["file"] for row in named["files"]] == [
        str(links / "rank1.json"),
        *(str(links / "more" / file.name) for file in files),
    ]
    assert [row["status"] for row in named["files"]] == ["added", "added", "already", "added", "added"]
    (links / "rank0.json").unlink()
    assert "no traces below" in run("collect", links, "-o", tmp_path / "none", code=1).stderr


def test_collect_leaves_out_what_lies_in_the_job(tmp_path, files):
    job = files[0].parent / "job"
    for status in ("added", "already"):
        told = answer("collect", files[0].parent, "-o", job)
        assert [(row["file"], row["status"]) for row in told["files"]] == [(str(file), status) for file in files]
    assert "it is the JOB" in run("collect", job, "-o", job, code=1).stderr
    assert len(list((job / "_opscope" / "parts").iterdir())) == RANKS


def test_nothing_readable_is_exit_1(tmp_path):
    bad = tmp_path / "bad.json"
    bad.write_text("no trace")
    assert "bad.json" in run("collect", bad, "-o", tmp_path / "job", code=1).stderr


def test_the_tables_have_what_the_traces_have(job):
    assert rows_of(job, "ranks", "rank, world_size, host, rank_from, spans, start_ns") == [
        (rank, RANKS, "node0", "metadata", 3 * STEPS, 1_700_000_000_010_000_000) for rank in range(RANKS)
    ]
    steps = rows_of(job, "steps", "rank, step, duration_ns, host_ns, communication_ns")
    assert len(steps) == RANKS * STEPS
    collectives = rows_of(job, "collectives", "rank, step, kind, group_key, position, duration_ns, gap_ns, host_gap_ns")
    expected = []
    for rank in range(RANKS):
        compute = 500 if rank == 2 else 400
        for step in range(STEPS):
            gap = 20 + compute + (0 if step == 0 else 380)
            expected.append(
                (rank, step, "all_reduce", f"/{RANKS}/", 0, (600 - compute) * 1000, gap * 1000, compute * 1000)
            )
    assert collectives == expected
    spans = duckdb.sql(
        f"SELECT rank, name, count(*), sum(duration_ns)::BIGINT FROM read_parquet('{job}/spans/*/*.parquet') "
        "WHERE name = 'aten::mm' GROUP BY ALL ORDER BY rank"
    ).fetchall()
    assert spans == [(rank, "aten::mm", STEPS, STEPS * (500 if rank == 2 else 400) * 1000) for rank in range(RANKS)]
    stats = duckdb.sql(
        "SELECT name, sum(count)::BIGINT, sum(sum_ns)::BIGINT, max(max_ns) "
        f"FROM read_parquet('{job}/op_stats/*.parquet') WHERE name = 'aten::mm' GROUP BY ALL"
    ).fetchall()
    assert stats == [("aten::mm", RANKS * STEPS, STEPS * (3 * 400 + 500) * 1000, 500_000)]


@pytest.mark.parametrize("verb", ["summary", "steps", "devices", "memory", "advise", "modules"])
def test_a_verb_answers_as_over_the_files_which_may_be_deleted(tmp_path, files, verb):
    before = answer(verb, run_merge(files, tmp_path / "all.opscope"))
    run("collect", *files, "-o", tmp_path / "job")
    for file in files:
        file.unlink()
    over_job = answer(verb, tmp_path / "job")
    for told in (before, over_job):
        told.pop("problems")
    # Absolute times count from another moment (test_job_clocks.py).
    assert from_first_begin(over_job) == from_first_begin(before)


def test_folders_above_a_job_are_no_columns(tmp_path, files):
    job = tmp_path / "attempt=7" / "rank=5" / "bucket=9" / "job"
    run("collect", *files, "-o", job)
    run("compact", job)
    for move in (False, True):
        place = job.rename(tmp_path / "job") if move else job
        rows = answer("query", place, "SELECT DISTINCT attempt, rank FROM spans ORDER BY rank")["rows"]
        assert rows == [[0, rank] for rank in range(RANKS)]
        assert [row["rank"] for row in answer("ranks", place)["rows"]] == list(range(RANKS))
        columns = answer("query", place, "SELECT * FROM spans LIMIT 1")["columns"]
        assert "bucket" not in [column["name"] for column in columns]


def test_steps_need_no_trace_and_without_duckdb_no_table(tmp_path, job):
    told = answer("steps", job)
    environment = {**os.environ, "OPSCOPE_DUCKDB_LIB": str(tmp_path / "none.so")}
    merged = json.loads(run("steps", job, "--json", env=environment).stdout)
    assert merged.pop("problems") == [] and merged == {key: told[key] for key in merged}
    assert answer("steps", job, "--where", "rank = 2")["rows"] == told["rows"][2 * STEPS : 3 * STEPS]
    for trace in job.glob("traces/**/*.opscope"):
        trace.unlink()
    assert answer("steps", job) == told
    asked = opscope.job(job)
    assert asked.steps() == told["rows"] and asked.facts["summary"] == told["summary"]
    assert "traces/" in run("steps", job, "--where", "rank = 2", code=1).stderr
    assert "--where" in run("steps", job, "--where", "rank = 2", "--engine", "spark", code=2).stderr


def from_first_begin(told):
    """With absolute times since the first one."""
    timed = [row for rows in told["rows"] for row in (rows, *rows.get("evidence", ())) if "start_ns" in row]
    first = min((row["start_ns"] for row in timed), default=0)
    for row in timed:
        row |= {key: row[key] - first for key in ("start_ns", "end_ns") if key in row}
    return told


def test_merge_cuts_ranks_and_steps_out_of_a_job(tmp_path, job):
    part = tmp_path / "part.opscope"
    run("merge", job, "--ranks", "1,3", "--steps", "1..2", "-o", part, "-q")
    assert sorted({row["rank"] for row in answer("steps", part)["rows"]}) == [1, 3]
    assert sorted({row["step"] for row in answer("steps", part)["rows"]}) == [1, 2]
    assert "no rank 9" in run("merge", job, "--ranks", "9", "-o", part, code=1).stderr
    assert "--ranks" in run("merge", job, "--ranks", "x", "-o", part, code=2).stderr
    assert not list(tmp_path.glob("*.tmp*"))


def test_ranks_and_stragglers_find_the_slow_rank(job):
    ranks = answer("ranks", job)
    assert ranks["world_size"] == RANKS
    assert ranks["missing_ranks"] == []
    assert ranks["epoch_ns"] == "1700000000010000000"
    assert ranks["mean_step_ns"] == STEP_US * 1000
    assert [row["wait_ns"] for row in ranks["rows"]] == [300_000, 300_000, 0, 300_000]
    assert [row["last_count"] for row in ranks["rows"]] == [0, 0, STEPS, 0]
    assert [row["unmatched"] for row in ranks["rows"]] == [0] * RANKS
    stragglers = answer("stragglers", job)
    assert stragglers["steps"] == STEPS
    assert [(row["set"], row["name"], row["ranks"], row["behavior"], row["cause"]) for row in stragglers["rows"]] == [
        ("rank", "2", [2], "persistent", "host")
    ]
    assert stragglers["rows"][0]["caused_per_step_ns"] == 100_000
    assert stragglers["rows"][0]["share"] == 0.1
    collectives = answer("collectives", job, "--members")
    assert [(row["number"], row["last_rank"], row["wait_ns"]) for row in collectives["rows"]] == [
        (number, 2, 300_000) for number in range(STEPS)
    ]
    assert [member["wait_ns"] for member in collectives["rows"][0]["members"]] == [100_000, 100_000, 0, 100_000]
    assert collectives["groups"][0]["count"] == STEPS


def test_critical_path_counts_each_of_many_collectives_once(tmp_path):
    """More spans than the engine hands over at a time; the two ranks come last in turns."""
    collectives, each_us = 40_000, 1000
    for rank in range(2):
        trace = rank_trace(rank, size=2) | {"traceEvents": []}
        trace["traceEvents"].append(span("ProfilerStep#0", "user_annotation", 0, collectives * each_us))
        for number in range(collectives):
            begin, compute = number * each_us, 900 if number % 2 == rank else 400
            trace["traceEvents"] += [
                span("aten::mm", "cpu_op", begin, compute),
                span("gloo:all_reduce", "user_annotation", begin + compute, each_us - compute),
            ]
        (tmp_path / f"rank{rank}.json").write_text(json.dumps(trace))
    run("collect", *tmp_path.glob("rank*.json"), "-o", tmp_path / "job", "-q")
    told = answer("critical-ranks", tmp_path / "job")
    half_ns = collectives * each_us * 1000 // 2
    assert [(row["rank"], row["critical_ns"]) for row in told["rows"]] == [(0, half_ns), (1, half_ns)]
    # in each collective the last rank has a gap of 900 us before it, and the median gap is 400 us
    assert sum(row["saved_ns"] for row in told["rows"]) == pytest.approx(collectives * 500_000, rel=1e-3)


def test_critical_ranks_name_the_slow_rank(job):
    told = answer("critical-ranks", job)
    assert told["rows"][0]["rank"] == 2
    assert told["rows"][0]["steps"] >= STEPS - 1
    assert (
        told["length_ns"]
        == sum(row["critical_ns"] for row in told["rows"])
        == sum(row["length_ns"] for row in told["steps"])
    )
    assert told["what_if_ns"] == told["length_ns"] - sum(row["saved_ns"] for row in told["rows"])
    assert told["rows"][0]["saved_ns"] == 100_000  # one collective led to it; before that, the path stays on it
    assert told["rows"][0]["excess_ns"] == STEPS * 100_000  # the others wait for it in each step
    assert told["balanced_ns"] == told["length_ns"] - sum(row["excess_ns"] for row in told["rows"])


def test_query_sees_the_tables_and_nothing_else(tmp_path, job):
    sql = "SELECT rank, sum(duration_ns) AS ns FROM spans WHERE name = 'aten::mm' GROUP BY rank ORDER BY rank"
    assert answer("query", job, sql)["rows"] == [
        [rank, STEPS * (500 if rank == 2 else 400) * 1000] for rank in range(RANKS)
    ]
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n")
    for statement in (f"SELECT * FROM '{secret}'", f"SELECT * FROM read_csv('{secret}')", "SELECT * FROM glob('/*')"):
        assert run("query", job, statement, code=1).stdout == ""


def test_python_answers_as_the_command_line(tmp_path, files):
    told = opscope.collect([tmp_path / "traces"], tmp_path / "job")
    assert [row["status"] for row in told] == ["added"] * RANKS
    (refused,) = opscope.collect(tmp_path / "absent", tmp_path / "job")  # a path alone is one file
    assert refused["status"] == "refused"
    assert [message.endswith("absent: No such file or directory") for message in refused["problems"]] == [True]
    job = opscope.job(tmp_path / "job")
    assert job.stragglers() == answer("stragglers", tmp_path / "job")["rows"]
    assert job.facts["steps"] == STEPS
    assert job.ranks() == answer("ranks", tmp_path / "job")["rows"]
    assert job.collectives(members=True) == answer("collectives", tmp_path / "job", "--members")["rows"]
    assert job.critical_ranks() == answer("critical-ranks", tmp_path / "job")["rows"]
    assert list(job.sql("SELECT count(*) AS n FROM spans")) == [{"n": 3 * STEPS * RANKS}]
    part = job.trace(ranks=[1], steps=(1, 2))
    assert [row["step"] for row in part.steps_summary()] == [1, 2]
    with pytest.raises(ValueError, match="ranks must not be empty"):
        job.trace(ranks=[])
    with pytest.raises(opscope.Error, match="not a JOB"):
        opscope.job(tmp_path)
    with pytest.raises(opscope.Error, match="no attempt 5"):
        opscope.job(tmp_path / "job", attempt=5).ranks()


def test_a_missing_rank_is_a_loss_and_the_rest_is_answered(tmp_path, files):
    run("collect", *files[1:], "-o", tmp_path / "job")
    ranks = answer("ranks", tmp_path / "job", code=3)
    assert ranks["missing_ranks"] == [0]
    assert [(p["kind"], p["ranks"]) for p in ranks["problems"] if p["severity"] == "data_loss"] == [
        ("rank_missing", [0])
    ]
    assert len(ranks["rows"]) == RANKS - 1


def test_several_collect_at_once(tmp_path, files):
    job = tmp_path / "job"
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda file: run("collect", file, "-o", job), [*files, *files]))
    assert rows_of(job, "ranks", "count(DISTINCT rank)") == [(RANKS,)]
    assert len(answer("ranks", job)["rows"]) == RANKS
    assert [row["files"] for row in answer("ranks", job)["rows"]] == [1] * RANKS


def test_compact_keeps_every_row(job):
    before = {table: rows_of(job, table) for table in ("ranks", "steps", "collectives", "op_stats", "spans")}
    answers = [answer("stragglers", job), answer("ranks", job)]
    told = answer("compact", job)
    assert (told["parts_before"], told["parts_after"]) == (RANKS, 1)
    assert [answer("stragglers", job), answer("ranks", job)] == answers
    assert answer("compact", job)["parts_after"] == 1  # and removes what the first one replaced
    assert {table: rows_of(job, table) for table in before} == before
    assert len(list((job / "_opscope" / "parts").iterdir())) == 1
    assert len(list((job / "steps").iterdir())) == 1
    run("merge", job, "--ranks", "0", "-o", job.parent / "one.opscope", "-q")


def test_a_killed_collect_leaves_the_job_as_it_was(tmp_path, job):
    big = tmp_path / "rank9.json"
    events = [span(f"op{i % 100}", "cpu_op", i * 3, 2) for i in range(200_000)]
    big.write_text(json.dumps({"distributedInfo": {"rank": 3, "world_size": RANKS}, "traceEvents": events}))
    before = answer("ranks", job)
    parts = job / "_opscope" / "parts"
    killed = 0
    for delay in (0.2, 0.4, 0.6, 0.8, 1.0):
        process = subprocess.Popen([sys.executable, "-m", "opscope", "collect", big, "-o", job, "-q"])
        time.sleep(delay)
        process.kill()
        was_killed = process.wait() == -signal.SIGKILL
        if len(list(parts.iterdir())) > RANKS:  # it was done before
            break
        killed += was_killed
        assert answer("ranks", job) == before
    assert killed > 0


def test_bad_folders_are_one_clear_line(tmp_path, job):
    empty = tmp_path / "empty"
    empty.mkdir()
    for arguments, words in [
        (("ranks", empty), "is not a JOB"),
        (("ranks", tmp_path / "absent"), "is not a JOB"),
        (("collect", empty, "-o", tmp_path / "new"), "no traces below"),
        (("compact", empty), "is not a JOB"),
        (("collect", job / "_opscope" / "job.json", "-o", tmp_path), "not empty"),
    ]:
        error = run(*arguments, code=1).stderr
        assert words in error, (arguments, error)
        assert error.count("\n") == 1
    head = job / "_opscope" / "job.json"
    head.write_text(head.read_text().replace('"version":1', '"version":2'))
    assert "version 2" in run("ranks", job, code=1).stderr


@pytest.mark.parametrize("damage", ["gone", "empty", "cut"])
def test_a_damaged_file_of_a_job_is_named(job, damage):
    (victim, *_) = sorted((job / "steps").iterdir())
    content = victim.read_bytes()
    victim.unlink()
    if damage != "gone":
        victim.write_bytes(content[: len(content) // 2 if damage == "cut" else 0])
    for verb in ("ranks", "stragglers"):
        error = run(verb, job, code=1).stderr
        assert victim.name in error and "IO Error" not in error
        assert error.count("\n") == 1
        assert damage == "gone" or f"at byte {victim.stat().st_size}: " in error


@pytest.mark.parametrize("damaged", ["data", "footer"])
def test_a_file_of_a_job_whose_bytes_are_damaged_is_named(job, damaged):
    victim = next(job.glob("collectives/*.parquet"))
    content = bytearray(victim.read_bytes())
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    for at in range(8, footer) if damaged == "data" else range(footer, footer + 40):
        content[at] ^= 0x5A
    victim.write_bytes(content)
    questions = [("ranks", job), ("stragglers", job), ("query", job, "SELECT max(hash(collectives)) FROM collectives")]
    for question in questions:
        error = run(*question, code=1).stderr
        begin = "opscope: query: " if question[0] == "query" else "opscope: "
        text = f"{victim}: in the bytes 4 to {len(content)}: the data of the Parquet file are damaged\n"
        assert error == begin + text


def test_an_error_of_a_query_of_the_user_is_not_taken_for_damage(job):
    error = run("query", job, "SELECT error('Invalid Input Error: mine') FROM ranks", code=1).stderr
    assert "mine" in error and "damaged" not in error


def test_without_duckdb_the_extra_is_named(tmp_path, files):
    environment = {**os.environ, "OPSCOPE_DUCKDB_LIB": str(tmp_path / "none.so")}
    error = run("collect", *files, "-o", tmp_path / "job", code=1, env=environment).stderr
    assert "none.so" in error or "opscope[sql]" in error
    assert not (tmp_path / "job").exists()
