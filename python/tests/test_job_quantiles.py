# SPDX-License-Identifier: Apache-2.0
"""`summary JOB --quantiles`: p50 and p99 of all ranks, beside the sorted durations."""

import json
import random

import pytest
from opscope_command import answer, run

pytest.importorskip("duckdb")

RANKS = 5
MOST = 1.022  # how much too large a quantile may be


def durations_of(kind, count, rng):
    """Durations of one operator on one rank, in nanoseconds."""
    if kind == "equal":
        return [777_777] * count
    if kind == "short":
        return [rng.randint(0, 300) for _ in range(count)]
    if kind == "edges":  # of bins: powers of two, one less and one more
        return [max(0, (1 << rng.randint(0, 40)) + rng.randint(-1, 1)) for _ in range(count)]
    return [int(10 ** rng.uniform(0, 11)) for _ in range(count)]


def random_ranks(seed):
    """{rank: {name: durations}}; some operators are not on all ranks."""
    rng = random.Random(seed)
    ranks = {}
    for rank in range(RANKS):
        names = {}
        for number in range(25):
            kind = ("equal", "short", "edges", "wide", "wide")[number % 5]
            if rng.random() < 0.8:
                names[f"op{number}"] = durations_of(kind, rng.choice([1, 2, 3, 50, 99, 100, 101]), rng)
        ranks[rank] = names
    return ranks


def write_rank(folder, rank, names, size=RANKS):
    events = []
    for tid, (name, durations) in enumerate(names.items()):
        begin = 1000
        for duration in durations:
            event = {"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": tid}
            # Chrome's microseconds with three digits are whole nanoseconds.
            events.append(event | {"ts": begin, "dur": f"{duration // 1000}.{duration % 1000:03}"})
            begin += duration // 1000 + 2
    text = json.dumps({"distributedInfo": {"rank": rank, "world_size": size}, "traceEvents": events})
    for event in events:  # a number, not a text, and not one that Python has rounded
        text = text.replace(f'"dur": "{event["dur"]}"', f'"dur": {event["dur"]}', 1)
    path = folder / f"rank{rank}.json"
    path.write_text(text)
    return path


def nearest_rank(durations, per_cent):
    """The smallest duration that at least so many per cent do not exceed."""
    return sorted(durations)[-(-len(durations) * per_cent // 100) - 1]


def expected_rows(ranks):
    merged = {}
    for names in ranks.values():
        for name, durations in names.items():
            merged.setdefault(name, []).extend(durations)
    return {
        name: {
            "count": len(durations),
            "total_with_recursion_ns": sum(durations),
            "p50_ns": nearest_rank(durations, 50),
            "p99_ns": nearest_rank(durations, 99),
            "max_ns": max(durations),
        }
        for name, durations in merged.items()
    }


def by_name(rows):
    assert len({row["name"] for row in rows}) == len(rows)
    return {row["name"]: {key: value for key, value in row.items() if key != "name"} for row in rows}


@pytest.mark.parametrize("seed", range(3))
def test_quantiles_are_exact_or_a_little_too_large(tmp_path, seed):
    ranks = random_ranks(seed)
    files = [write_rank(tmp_path, rank, names) for rank, names in ranks.items()]
    job = tmp_path / "job"
    run("collect", *files, "-o", job)
    expected = expected_rows(ranks)
    exact = answer("summary", job, "--quantiles", "--exact")
    assert exact["quantiles_from"] == "spans"
    assert by_name(exact["rows"]) == expected
    quick = answer("summary", job, "--quantiles")
    assert quick["quantiles_from"] == "op_stats"
    assert quick["schema"] == exact["schema"] == "opscope.summary/1"
    got = by_name(quick["rows"])
    assert got.keys() == expected.keys()
    larger = 0
    for name, row in expected.items():
        for key in ("count", "total_with_recursion_ns", "max_ns"):
            assert got[name][key] == row[key], (name, key)
        for key in ("p50_ns", "p99_ns"):
            assert row[key] <= got[name][key] <= row[key] * MOST, (name, key)
            larger += got[name][key] > row[key]
    assert larger > 0  # the bound is at work
    totals = [row["total_with_recursion_ns"] for row in quick["rows"]]
    assert totals == sorted(totals, reverse=True)
    # Joined parts say the same.
    run("compact", job)
    assert by_name(answer("summary", job, "--quantiles")["rows"]) == got


def test_a_file_alone_has_exact_quantiles(tmp_path):
    ranks = random_ranks(9)
    file = write_rank(tmp_path, 0, ranks[0])
    expected = expected_rows({0: ranks[0]})
    for row in answer("summary", file, "--quantiles")["rows"]:
        assert {key: row[key] for key in expected[row["name"]]} == expected[row["name"]]
    assert "only with --quantiles" in run("summary", file, "--exact", code=2).stderr


def test_files_that_do_not_fit_are_left_out_and_named(tmp_path):
    ranks = random_ranks(4)
    files = [write_rank(tmp_path, rank, names) for rank, names in ranks.items() if rank != 3]
    other = tmp_path / "other"
    other.mkdir()
    files.append(write_rank(other, 3, ranks[3], size=9))
    run("collect", *files, "-o", tmp_path / "job", "--attempt", "0")
    told = answer("summary", tmp_path / "job", "--quantiles", "--exact", code=3)
    del ranks[3]
    assert by_name(told["rows"]) == expected_rows(ranks)
    assert {(p["kind"], *p["ranks"]) for p in told["problems"] if p["severity"] == "data_loss"} == {
        ("other_job", 3),
        ("rank_missing", 3),
    }
    refused = run("summary", tmp_path / "job", "--quantiles", "--group-by", "shape", code=2)
    assert "--group-by" in refused.stderr
    text = run("summary", tmp_path / "job", "--quantiles", "--limit", "3", "--sort", "p99_ns", code=3).stdout
    assert text.split("\n")[0].split() == ["Name", "Count", "Sum", "P50", "P99", "Max"]
