# SPDX-License-Identifier: Apache-2.0
"""`summary`, `devices`, `memory`, `steps` and `advise` of chosen spans of a JOB, and `diff` and `check` of JOBs, read
one rank after the other. The oracle is the merge of all ranks, which answers where there is no DuckDB."""

import json
import os
import random
import re

import pytest
from opscope_command import answer, run
from random_windows import a_job
from test_job_rank_by_rank import without_pids

import opscope

pytest.importorskip("duckdb")

CONDITIONS = (
    "rank = {rank}",
    "step >= 1",
    "name ~ aten and duration > 3us",
    "not kind = operator",
    "device = 0 or name = aten::mm",
    "rank != {rank} and step = 0 and depth > 0",
    "kind = kernel or rank = {rank} and step = 0",
)


@pytest.fixture(name="no_duckdb")
def no_duckdb_fixture(tmp_path):
    return {**os.environ, "OPSCOPE_DUCKDB_LIB": str(tmp_path / "none.so")}


def ranks_of(job):
    return [row["rank"] for row in answer("ranks", job, code=3)["rows"]]


def reads_by_rank(told):
    """Only who merges names the whole JOB where one file is left out."""
    return all("/again.json" in each.get("file", "") for each in told["problems"] if each["kind"] == "rank_doubled")


@pytest.mark.parametrize("seed", range(4))
def test_chosen_spans_of_rank_after_rank_are_those_of_the_merged_ranks(tmp_path, no_duckdb, seed):
    job = a_job(tmp_path, seed)
    rng = random.Random(seed)
    rows = 0
    for condition in rng.sample(CONDITIONS, 4):
        where = condition.format(rank=rng.choice(ranks_of(job)))
        for question in (["summary", "--group-by", "name,rank"], ["devices"], ["memory"], ["steps"], ["advise"]):
            asked = [question[0], job, *question[1:], "--where", where]
            merged = json.loads(run(*asked, "--json", code=3, env=no_duckdb).stdout)
            told = answer(*asked, code=3)
            assert reads_by_rank(told) and not reads_by_rank(merged)
            for key, expected in merged.items():
                if isinstance(expected, list) and key != "problems":
                    same = without_pids if question == ["advise"] else list
                    assert same(told[key]) == same(expected), (asked, key)
            rows += len(told["rows"])
        same = opscope.job(job)
        assert same.summary(where=where) == answer("summary", job, "--where", where, code=3)["rows"]
        assert same.facts["schema"] == "opscope.summary/1", "it merged"
        for verb in ("steps", "devices", "memory", "advise"):
            told = answer(verb, job, "--where", where, code=3)
            assert getattr(same, verb)(where=where) == told["rows"]
            assert same.facts["quality"] == told["quality"]
    assert rows > 0


def test_steps_choose_spans_of_each_rank(tmp_path, no_duckdb):
    job = a_job(tmp_path, 1)
    asked = ["summary", job, "--group-by", "step", "--steps", "1.."]
    told = answer(*asked, code=3)
    assert reads_by_rank(told) and told["rows"]
    assert told["rows"] == json.loads(run(*asked, "--json", code=3, env=no_duckdb).stdout)["rows"]
    assert {row["step"] for row in told["rows"]} <= {"1", "2"}


@pytest.mark.parametrize("where", ["start >= 0", "thread = 1", "process = 100", "correlation > 0"])
def test_conditions_about_all_ranks_are_answered_from_the_merged_ranks(tmp_path, no_duckdb, where):
    job = a_job(tmp_path, 2)
    asked = ["summary", job, "--where", where]
    told = answer(*asked, code=3)
    assert told == json.loads(run(*asked, "--json", code=3, env=no_duckdb).stdout) and told["rows"]
    assert opscope.job(job).summary(where=where) == told["rows"]
    for verb in ("steps", "devices", "memory", "advise"):
        rows = answer(verb, job, "--where", where, code=3)["rows"]
        assert getattr(opscope.job(job), verb)(where=where) == rows


@pytest.mark.parametrize("verb", ["summary", "devices", "memory", "steps", "advise"])
def test_a_selection_without_spans_says_so(tmp_path, no_duckdb, verb):
    job = a_job(tmp_path, 2)
    nothing = "none of its spans is chosen by --where, --steps and --time; its steps are 0"
    for where, is_nothing in (("step = 77", True), ("step = 0", False)):
        for environment in (None, no_duckdb):
            told = run(verb, job, "--where", where, code=3, env=environment).stderr
            assert (nothing in told) == is_nothing, told
    with pytest.raises(opscope.Error, match="where: "):
        opscope.job(job).advise(where="nonsense")


@pytest.mark.parametrize("seed", range(3))
def test_the_difference_of_two_jobs_is_that_of_their_merged_ranks(tmp_path, no_duckdb, seed):
    a, b = a_job(tmp_path / "a", seed), a_job(tmp_path / "b", seed + 20)
    for number, by in enumerate(("name", "shape", "kernel", "module", "step")):
        chosen = ([], ["--where", "name ~ aten"], ["--steps", "0..1"])[(number + seed) % 3]
        asked = ["diff", a, b, "--by", by, *chosen]
        told, merged = answer(*asked, code=3), json.loads(run(*asked, "--json", code=3, env=no_duckdb).stdout)
        assert reads_by_rank(told) and not reads_by_rank(merged)
        assert told["steps"]["a_count"] > 0 and told["quality"]["verdict"] == merged["quality"]["verdict"]
        for key in ("rows", "steps", "memory"):
            assert told[key] == merged[key], asked
    assert run(*asked, code=3).stdout == run(*asked, code=3, env=no_duckdb).stdout
    changes, told = opscope.job(a).diff(opscope.job(b), by="shape"), answer("diff", a, b, "--by", "shape", code=3)
    assert changes == told["rows"] and changes.memory == told["memory"] and changes.steps == told["steps"]
    asked = opscope.job(a)
    asked.diff(opscope.job(b))
    assert asked.problems == told["problems"]


def test_several_jobs_on_a_side_are_the_samples(tmp_path, no_duckdb):
    jobs = [a_job(tmp_path / str(seed), seed) for seed in range(6)]
    asked = ["diff", "--a", *jobs[:3], "--b", *jobs[3:]]
    told, merged = answer(*asked, code=3), json.loads(run(*asked, "--json", code=3, env=no_duckdb).stdout)
    assert reads_by_rank(told) and (told["steps"]["a_count"], told["steps"]["b_count"]) == (3, 3)
    for key in ("rows", "steps", "memory"):
        assert told[key] == merged[key]
    assert any(row["p"] is not None for row in told["rows"])


@pytest.mark.parametrize("seed", range(3))
def test_what_an_answer_rests_on_is_that_of_the_merged_ranks(tmp_path, no_duckdb, seed):
    a, b = a_job(tmp_path / "a", seed), a_job(tmp_path / "b", seed + 20)
    one_job = ("summary", "summary --where name~aten", "devices", "memory", "steps", "steps --steps 0..1", "advise")
    questions = [[verb, a, *options] for verb, *options in map(str.split, (*one_job, "check --max spans=3"))]
    for asked in (*questions, ["check", a, "--baseline", b, "--max-increase", "spans=3"], ["diff", a, b]):
        told = json.loads(run(*asked, "--explain", "--json", code=None).stdout)
        merged = json.loads(run(*asked, "--explain", "--json", code=None, env=no_duckdb).stdout)
        assert reads_by_rank(told) and not reads_by_rank(merged)
        assert told["explain"] == merged["explain"], asked
        lines, of_merged = (
            [line for line in run(*asked, "--explain", code=None, env=env).stderr.splitlines() if ": Window: " in line]
            for env in (None, no_duckdb)
        )
        assert lines == of_merged and len(lines) == (2 if b in asked else 1)


@pytest.mark.parametrize("seed", range(4))
def test_critical_paths_are_those_of_the_merged_ranks(tmp_path, no_duckdb, seed):
    job = a_job(tmp_path, seed)

    def edges(rows):
        """Without tracks: a merge gives processes other numbers."""
        return [{key: value for key, value in row.items() if key != "track"} for row in rows]

    for options in ([], ["--where", "name ~ aten"], ["--steps", "0"], ["--limit", "3"], ["--sort", "duration_ns"]):
        asked = ["critical-path", job, *options]
        told, merged = answer(*asked, code=3), json.loads(run(*asked, "--json", code=3, env=no_duckdb).stdout)
        assert reads_by_rank(told) and not reads_by_rank(merged)
        assert told["paths"] == merged["paths"] and edges(told["rows"]) == edges(merged["rows"]), options
        assert told["rows"] and sum(row["length_ns"] for row in told["paths"]) > 0
    same = opscope.job(job)
    for options in ({}, {"where": "name ~ aten"}):
        told = answer("critical-path", job, *(["--where", options["where"]] if options else []), code=3)
        assert same.critical_path(**options) == told["rows"] and same.facts["paths"] == told["paths"]
        assert same.problems == told["problems"]
    assert same.critical_path(where="start >= 0") and same.facts == {}, "it merges"


def words_without_tracks(text):
    return re.sub(r"\d+/\d+", "", text).split()


def test_text_of_critical_paths_has_the_longest_edges_of_all_ranks(tmp_path, no_duckdb):
    job = a_job(tmp_path, 3)
    text, merged = run("critical-path", job, code=3).stdout, run("critical-path", job, code=3, env=no_duckdb).stdout
    assert words_without_tracks(text) == words_without_tracks(merged)
    assert text.count("\n") > 20 and text.endswith("edges; --json has all of them in order of time.\n")


def test_a_job_and_a_file_are_compared_by_a_merge(tmp_path, no_duckdb):
    job = a_job(tmp_path, 1)
    file = next(path for path in tmp_path.glob("w0_of_*.json"))
    for asked in (["diff", job, file], ["diff", file, job]):
        assert answer(*asked, code=3) == json.loads(run(*asked, "--json", code=3, env=no_duckdb).stdout)


BY_RANK = [
    *("step_mean_ns", "step_p50_ns", "step_p99_ns", "step_max_ns", "device_busy_share", "device_idle_ns"),
    *("exposed_communication_ns", "peak_memory_bytes", "op_total_ns:aten::mm", "op_self_ns:gemm_s16816"),
    *("op_count:aten::add", "op_count:of no span", "spans", "findings", "critical_path_ns", "problems"),
]


def values(told):
    return [(row["metric"], row["value"], row["baseline"], row["passed"], row["message"]) for row in told["rows"]]


@pytest.mark.parametrize("seed", range(4))
def test_limits_of_a_job_are_those_of_its_merged_ranks(tmp_path, no_duckdb, seed):
    a, b = a_job(tmp_path / "a", seed), a_job(tmp_path / "b", seed + 20)
    increases = [limit for metric in BY_RANK for limit in ("--max-increase", f"{metric}=5%")]
    limits = [*increases, *(limit for metric in BY_RANK for limit in ("--max", f"{metric}=10000"))]
    for asked in (["check", b, "--baseline", a, *limits], ["check", a, "--max", "findings=0", "--min", "spans=1"]):
        told = json.loads(run(*asked, "--json", code=None).stdout)
        merged = json.loads(run(*asked, "--json", code=None, env=no_duckdb).stdout)
        assert reads_by_rank(told) and not reads_by_rank(merged)
        assert values(told) == values(merged)
        for more in ([], ["--junit", "-"]):
            by_rank, by_merge = run(*asked, *more, code=None), run(*asked, *more, code=None, env=no_duckdb)
            assert (by_rank.returncode, by_rank.stdout) == (by_merge.returncode, by_merge.stdout)
    result = opscope.job(b).check({metric: {"max_increase": "5%"} for metric in BY_RANK}, baseline=opscope.job(a))
    told = json.loads(run("check", b, "--baseline", a, *increases, "--json", code=None).stdout)
    assert [row["value"] for row in result] == [value for metric, value, *_ in values(told)]


def test_problems_of_a_job_are_those_that_its_answer_lists(tmp_path, no_duckdb):
    job, other = a_job(tmp_path / "a", 1), a_job(tmp_path / "b", 2)
    for trace in sorted((tmp_path / "a" / "job").rglob("*.opscope"))[:2]:
        trace.write_bytes(trace.read_bytes()[: trace.stat().st_size * 2 // 3])
    asked = ["check", job, "--min", "problems=1", "--baseline", other, "--max-increase", "problems=0"]
    told = json.loads(run(*asked, "--json", code=4).stdout)
    losses = [each for each in told["problems"] if each["severity"] != "info"]
    of_other = [each for each in answer("ranks", other, code=3)["problems"] if each["severity"] != "info"]
    (least, increase) = told["rows"]
    assert least["value"] == increase["value"] == len(losses) - len(of_other) > increase["baseline"] == len(of_other)
    limits = {"problems": {"min": 1, "max_increase": 0}}
    checked = opscope.job(job).check(limits, baseline=opscope.job(other))
    assert [row["value"] for row in checked] == [least["value"]] * 2 and not checked.passed


def test_findings_of_a_job_without_steps_are_those_of_the_merged_ranks(tmp_path, no_duckdb):
    job = a_job(tmp_path, 1, has_steps=False)
    asked = ["check", job, "--max", "findings=0"]
    assert run(*asked, code=None).stdout == run(*asked, code=None, env=no_duckdb).stdout
