# SPDX-License-Identifier: Apache-2.0
"""What can be wrong with the files of a job: the rest is answered, the problem names the ranks, exit code 3."""

import json

import pytest
from job_command import RANKS, STEP_US, STEPS, rank_trace, span
from opscope_command import answer, run

duckdb = pytest.importorskip("duckdb")

VERBS = ("ranks", "collectives", "stragglers", "critical-ranks")


def write(folder, rank, name=None, *, slow=2, **changes):
    folder.mkdir(exist_ok=True)
    path = folder / (name or f"rank{rank}.json")
    path.write_text(json.dumps(rank_trace(rank, slow=slow, **changes)))
    return path


@pytest.fixture(name="files")
def files_fixture(tmp_path):
    return [write(tmp_path / "traces", rank) for rank in range(RANKS)]


def collect(tmp_path, *files, code=0, more=()):
    run("collect", *files, "-o", tmp_path / "job", *more, code=code)
    return tmp_path / "job"


def losses(told):
    return {(problem["kind"], tuple(problem["ranks"])) for problem in told["problems"] if problem["severity"] != "info"}


def require(job, expected, ranks):
    """Each verb answers with exit code 3, names the problem and its ranks, and says them to people, too."""
    for verb in VERBS:
        assert losses(answer(verb, job, code=3)) == expected, verb
    assert [row["rank"] for row in answer("ranks", job, code=3)["rows"]] == ranks
    for _, (named, *_) in expected:
        said = "says its rank\n" if named < 0 else f"(rank {named}"
        assert said in run("stragglers", job, code=3).stderr


def test_a_missing_rank_that_comes_late(tmp_path, files):
    job = collect(tmp_path, *files[:1], *files[2:])
    require(job, {("rank_missing", (1,))}, [0, 2, 3])
    collectives = answer("collectives", job, code=3)["rows"]
    assert [row["seen"] for row in collectives] == [RANKS - 1] * STEPS
    collect(tmp_path, files[1])  # it comes after all
    for verb in VERBS:
        assert losses(answer(verb, job)) == set()
    assert [row["missing_ranks"] for row in answer("collectives", job)["rows"]] == [[]] * STEPS


def test_a_rank_that_was_recorded_from_a_later_step_on(tmp_path, files):
    trace = json.loads(files[3].read_text())
    trace["traceEvents"] = [event for event in trace["traceEvents"] if event["ts"] >= 11_000]
    files[3].write_text(json.dumps(trace))
    job = collect(tmp_path, *files)
    ranks = answer("ranks", job)["rows"]
    assert [row["steps"] for row in ranks] == [STEPS] * 3 + [STEPS - 1]
    first, *others = answer("collectives", job)["rows"]
    # The step that it lacks is matched among the others, which name it.
    assert (first["seen"], first["missing_ranks"]) == (3, [3])
    assert [row["seen"] for row in others] == [4] * (STEPS - 1)
    assert answer("stragglers", job)["rows"][0]["ranks"] == [2]


def test_a_doubled_rank(tmp_path, files):
    twin = write(tmp_path / "again", 1, shift_us=3)
    trace = json.loads(twin.read_text())
    trace["traceEvents"] = trace["traceEvents"][:-1]  # fewer spans: it is left out
    twin.write_text(json.dumps(trace))
    job = collect(tmp_path, *files, twin)
    require(job, {("rank_doubled", (1,))}, [0, 1, 2, 3])
    (problem,) = [each for each in answer("ranks", job, code=3)["problems"] if each["severity"] != "info"]
    assert problem["file"] == str(twin)
    assert [row["files"] for row in answer("ranks", job, code=3)["rows"]] == [1] * RANKS


def test_gaps_of_a_rank_without_steps_are_unknown(tmp_path):
    """Its collectives match by number, but nothing says where the gaps before them begin."""
    files = []
    for rank in range(RANKS):
        trace = rank_trace(rank, slow=2)
        for event in trace["traceEvents"]:
            if event["name"] == "gloo:all_reduce":
                about = {"Process Group Name": "0", "Group size": RANKS, "Collective name": "allreduce"}
                event["args"] = about | {"Seq": event["ts"] // STEP_US}
        if rank == 2:
            trace["traceEvents"] = [event for event in trace["traceEvents"] if "Step" not in event["name"]]
        files.append(tmp_path / f"rank{rank}.json")
        files[-1].write_text(json.dumps(trace))
    job = collect(tmp_path, *files)
    (slow,) = answer("stragglers", job)["rows"]
    assert (slow["ranks"], slow["cause"], slow["caused_per_step_ns"]) == ([2], "unknown", 100_000)
    told = answer("critical-ranks", job)
    assert {row["rank"]: row["saved_ns"] for row in told["rows"]}[2] == 0
    assert told["what_if_ns"] == told["length_ns"]


def test_a_file_of_another_world_size(tmp_path, files):
    other = write(tmp_path / "other", 7, size=8)
    job = collect(tmp_path, *files, other)
    require(job, {("other_job", (7,))}, [0, 1, 2, 3])
    assert answer("ranks", job, code=3)["world_size"] == RANKS


def test_a_cut_file(tmp_path, files):
    text = files[1].read_text()
    files[1].write_text(text[: text.rindex('{"ph"') + 20])  # within the last event
    job = collect(tmp_path, *files, code=3)
    told = answer("stragglers", job, code=3)
    assert {ranks for _, ranks in losses(told)} == {(1,)}
    assert told["rows"][0]["ranks"] == [2]
    assert len(answer("ranks", job, code=3)["rows"]) == RANKS
    assert "rank1.json" in run("stragglers", job, code=3).stderr


def test_foreign_files(tmp_path, files):
    for name, content in (("notes.json", "not a trace"), ("empty.json", ""), ("cut.opscope", "OPSC")):
        (tmp_path / "traces" / name).write_text(content)
    told = json.loads(run("collect", tmp_path / "traces", "-o", tmp_path / "job", "--json", code=3).stdout)
    assert sorted(row["status"] for row in told["files"]) == ["added"] * RANKS + ["refused"] * 3
    named = {problem["file"].rsplit("/", 1)[1] for problem in told["problems"] if problem["kind"] == "foreign_file"}
    assert named == {"notes.json", "empty.json", "cut.opscope"}
    assert losses(answer("ranks", tmp_path / "job")) == set()  # they never came in


def test_a_job_of_a_newer_opscope_is_refused_by_everything(tmp_path, files):
    job = collect(tmp_path, *files)
    head = job / "_opscope" / "job.json"
    head.write_text(head.read_text().replace('"version":1', '"version":2'))
    before = sorted(job.rglob("*"))
    for command in (
        *((verb, job) for verb in VERBS),
        ("summary", job, "--quantiles"),
        ("steps", job),
        ("query", job, "SELECT 1"),
        ("merge", job, "-o", tmp_path / "out.opscope"),
        ("collect", files[0], "-o", job),
        ("compact", job),
    ):
        error = run(*command, code=1).stderr
        assert "version 2" in error and "version 1" in error, command
    assert sorted(job.rglob("*")) == before


def test_two_attempts_are_said_and_are_no_loss(tmp_path, files):
    again = [write(tmp_path / "attempt-1", rank, shift_us=9_000_000) for rank in range(RANKS)]
    job = collect(tmp_path, *files, *again)
    for verb in VERBS:
        told = answer(verb, job)
        assert [(problem["kind"], problem["severity"]) for problem in told["problems"]] == [
            ("several_attempts", "info")
        ]
    hint = "the JOB has the attempts 0, 1; this is the answer of attempt 1, and --attempt chooses another"
    assert hint in run("ranks", job).stderr
    assert "attempts" not in run("ranks", job, "--attempt", 0).stderr


def test_a_file_without_a_rank(tmp_path, files):
    trace = json.loads(files[0].read_text())
    del trace["distributedInfo"]
    unknown = tmp_path / "traces" / "unknown.json"
    unknown.write_text(json.dumps(trace))
    job = collect(tmp_path, *files, unknown, code=3)
    require(job, {("rank_unknown", (-1,))}, [-1, 0, 1, 2, 3])


def test_names_that_disagree_with_the_metadata_are_said(tmp_path, files):
    files[0].rename(tmp_path / "traces" / "rank_9.json")
    job = collect(tmp_path, tmp_path / "traces")
    (problem,) = answer("ranks", job)["problems"]
    assert (problem["kind"], problem["severity"], problem["ranks"]) == ("rank_disagrees", "info", [0])


def test_many_small_files_give_a_hint_to_compact(tmp_path, files):
    job = collect(tmp_path, *files)
    assert "compact" not in run("ranks", job).stderr
    connection = duckdb.connect()
    connection.sql(f"CREATE TABLE rows AS SELECT * FROM read_parquet('{job}/ranks/*.parquet') WHERE rank = 0")
    for number in range(1_000 - RANKS):
        path = f"ranks/part-more{number}.parquet"
        more = f"SELECT * REPLACE ({number}::BIGINT AS file_id, 9::INTEGER AS attempt) FROM rows"
        connection.sql(f"COPY ({more}) TO '{job / path}' (FORMAT parquet)")
        manifest = {"sha256": [str(number)], "files": [{"table": "ranks", "path": path, "rows": 1}], "replaces": []}
        (job / "_opscope" / "parts" / f"more{number}.json").write_text(json.dumps(manifest))
    done = run("ranks", job, "--attempt", "0", "--json")
    assert "the JOB has 1000 parts" in done.stderr and "opscope compact" in done.stderr
    hints = [problem for problem in json.loads(done.stdout)["problems"] if problem["kind"] == "many_parts"]
    assert [(hint["severity"], hint["count"]) for hint in hints] == [("info", 1_000)]
    run("compact", job)
    done = run("ranks", job, "--attempt", "0", "--json")
    assert "compact" not in done.stderr
    assert [row["rank"] for row in json.loads(done.stdout)["rows"]] == [0, 1, 2, 3]


def test_memory_bounds_the_traces_that_a_verb_merges(tmp_path, files):
    job = collect(tmp_path, *files)
    question = ("steps", job, "--where", "start >= 0")
    assert {row["rank"] for row in answer(*question)["rows"]} == set(range(RANKS))
    told = answer(*question, "--max-memory", "4K", code=3)
    assert "over_memory_limit" in {problem["kind"] for problem in told["problems"]}
    assert len(told["rows"]) < RANKS * STEPS
    assert len(answer(*question, "--max-memory", "1G")["rows"]) == RANKS * STEPS


def test_more_spans_than_the_memory_of_the_machine_has_room_for_are_refused(tmp_path, files):
    job = collect(tmp_path, *files)
    for manifest in (job / "_opscope" / "parts").glob("*.json"):
        told = json.loads(manifest.read_text())
        for file in told["files"]:
            file["rows"] = 10**12 if file["table"] == "traces" else file["rows"]
        manifest.write_text(json.dumps(told))
    merging = ("steps --where start>=0", "devices --time 0..", "memory --where thread=1", "summary --group-by thread")
    for question in (*merging, "advise --where start>=0", f"diff {job} --where process=1"):
        verb, *options = question.split()
        said = run(verb, job, *options, code=1).stderr
        assert f"{job}: its traces have {RANKS}000000000000 spans, which take about 324001 GB of memory; this" in said
        assert "opscope merge JOB --ranks LIST -o FILE" in said and said.count("\n") == 1
    by_rank = ("summary --where rank>=0", "advise", "devices", "memory", "steps --steps 0..", "check --max problems=1")
    for question in (*by_rank, f"diff {job} --explain"):
        verb, *options = question.split()
        said = run(verb, job, *options, code=1).stderr
        assert f"{job}: its traces have 1000000000000 spans, which take about 81001 GB of memory; this" in said
    assert len(answer("summary", job, "--max-memory", "1G")["rows"]) > 0
    assert len(answer("steps", job)["rows"]) == RANKS * STEPS
    assert len(answer("ranks", job)["rows"]) == RANKS


def test_the_same_problem_of_many_ranks_is_ten_lines_and_a_number(tmp_path):
    files = []
    for rank in range(13):
        files.append(tmp_path / f"cut{rank}.json")
        files[-1].write_text(json.dumps(rank_trace(rank, size=13))[:-40])
    job = tmp_path / "job"
    run("collect", *files, "-o", job, "-q", code=3)
    lines = run("ranks", job, code=3).stderr.splitlines()
    assert len([line for line in lines if "cut" in line and "(rank " in line]) == 10
    assert "opscope: 3 more problems truncated; -v lists them" in lines
    (quality,) = [line for line in lines if "doubtful" in line]
    assert quality.count("problem truncated of rank 0, 1, 2, ") == 1 and ", 12" in quality
    assert len([line for line in run("ranks", job, "-v", code=3).stderr.splitlines() if "(rank " in line]) >= 13
    merged = run("merge", job, "-o", tmp_path / "all.opscope", code=3).stderr.splitlines()
    assert len([line for line in merged if "cut" in line and "(rank" not in line]) <= 10
    assert f"opscope: {tmp_path / 'all.opscope'}: 3 more problems truncated; -v lists them" in merged


def test_ranks_with_the_same_doubt_share_a_reason(tmp_path, files):
    for rank, path in enumerate(files):
        trace = json.loads(path.read_text())
        for begin in range(rank + 1):  # each crosses the end of the first step
            trace["traceEvents"].append(span(f"late{begin}", "cpu_op", 10_990 + begin, 100))
        path.write_text(json.dumps(trace))
    told = answer("ranks", collect(tmp_path, *files))
    (reason,) = told["quality"]["reasons"]
    assert reason.startswith("rank 0, 1, 2, 3: ") and reason.endswith(" spans cross others")
    each = [answer("summary", path)["quality"]["reasons"] for path in files]
    assert int(reason.split()[5]) == sum(int(of_rank.split()[0]) for (of_rank,) in each)


def test_a_problem_of_a_file_is_one_reason(tmp_path, files):
    files[1].write_text(files[1].read_text()[:-40])
    told = answer("ranks", collect(tmp_path, *files, code=3), code=3)
    assert told["quality"]["reasons"] == ["problem truncated of rank 1"]


def test_without_collectives_it_is_unknown_who_waits(tmp_path, files):
    even = collect(tmp_path, *(write(tmp_path / "even", rank, slow=None) for rank in range(RANKS)))
    assert "no rank makes the others wait for 2 % of the mean step (1.000 ms) or more" in run("stragglers", even).stderr
    for path in files:
        trace = json.loads(path.read_text())
        trace["traceEvents"] = [event for event in trace["traceEvents"] if "gloo" not in event["name"]]
        path.write_text(json.dumps(trace))
    run("collect", *files, "-o", tmp_path / "without")
    said = run("stragglers", tmp_path / "without").stderr
    assert "no collective has a counterpart on another rank, so who makes the others wait is unknown" in said
