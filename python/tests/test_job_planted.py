# SPDX-License-Identifier: Apache-2.0
"""Planted faults are found with their set, cause and size, and clean jobs stay silent, in SQL and by the loops."""

import pytest
from job_brute_force import Job
from job_brute_force_sets import straggler_rows
from job_planted import MS, RANKS, STEPS, Planted, slow, wrong_clock

pytest.importorskip("pyarrow")
pytest.importorskip("duckdb")
from job_sql import DuckDb  # noqa: E402  (it needs both)


def answers(tables, *names):
    engine = DuckDb([tables])
    engine.open(0)
    return [engine.answer(name) for name in names]


def stragglers(tables):
    (rows,) = answers(tables, "stragglers")
    assert [row["name"] for row in rows] == [row["name"] for row in straggler_rows(Job(tables))]
    return rows


def test_clean_job_is_silent():
    tables = Planted().tables()
    assert stragglers(tables) == []
    (problems,) = answers(tables, "problems")
    assert problems == []


@pytest.mark.parametrize(
    ("fault", "kind", "name", "behavior", "cause", "steps"),
    [
        (slow({6}), "rank", "6", "persistent", "compute", STEPS),
        (slow({6}, "input"), "rank", "6", "persistent", "input", STEPS),
        (slow({8, 9, 10, 11}), "host", "node2", "persistent", "compute", STEPS),
        (slow({2, 6, 10, 14}, "host"), "stage", "2", "persistent", "host", STEPS),
        (slow({3}, steps=range(10, 14)), "rank", "3", "transient", "compute", 4),
    ],
)
def test_slow_set_is_found(fault, kind, name, behavior, cause, steps):
    (row,) = stragglers(Planted(fault).tables())
    assert (row["set_kind"], row["name"], row["behavior"], row["cause"]) == (kind, name, behavior, cause)
    assert row["hit_steps"] == steps and abs(row["caused_per_step_ns"] - 5 * MS) < 0.1 * 5 * MS
    if behavior == "transient":
        assert (row["first_step"], row["last_step"]) == (10, 13)


def test_neighbours_of_a_slow_rank_inherit_their_lateness():
    # rank 7 is late in the collective of all ranks as well, because it waited for rank 6 in that of the pair
    assert [row["name"] for row in stragglers(Planted(slow({6})).tables())] == ["6"]


def test_slow_link_is_no_straggler_but_a_long_transfer():
    tables = Planted(transfer=lambda step, ranks: (12 if list(ranks) == [4, 5] else 2) * MS).tables()
    groups = {row["group_key"]: row["transfer_p50_ns"] for row in answers(tables, "collective_groups")[0]}
    assert groups["tp4/2/4,5"] == 12 * MS
    assert all(length == 2 * MS for key, length in groups.items() if key != "tp4/2/4,5")


def naive_offsets(tables, reference=0):
    """What aligning by begins gives: the median distance of begins to those of the reference."""
    begins = {}
    for row in tables["collectives"]:
        if row["group_key"].startswith("/"):
            begins.setdefault(row["rank"], {})[row["seq"]] = row["start_ns"]
    for rank, mine in begins.items():
        distances = sorted(begins[reference][seq] - mine[seq] for seq in mine)
        yield rank, distances[(len(distances) - 1) // 2]


@pytest.mark.parametrize("fault", [None, slow({8, 9, 10, 11})])
def test_wrong_clock_is_measured_whoever_is_slow(fault):
    tables = Planted(fault, clock=wrong_clock).tables()
    (rows,) = answers(tables, "ranks")
    for row in rows:
        expected = -2 * MS if row["host"] == "node1" else 0
        assert abs(row["clock_offset_ns"] - expected) < 50_000, row
        assert row["clock_source"] == ("reference" if row["host"] == "node0" else "collectives")
        assert row["clock_bound_ns"] < 8 * MS  # a slow host leaves more room
    found = stragglers(tables)
    assert [row["name"] for row in found] == (["node2"] if fault else [])


def test_aligning_by_begins_would_blame_the_clock_of_a_slow_host():
    tables = Planted(slow({8, 9, 10, 11}), clock=wrong_clock).tables()
    naive = dict(naive_offsets(tables))
    assert abs(naive[9]) > 4 * MS  # its clock is right
    (rows,) = answers(tables, "ranks")
    assert abs(rows[9]["clock_offset_ns"]) < 50_000


def test_missing_doubled_and_foreign_files_are_problems():
    tables = Planted(slow({6})).tables(ranks=[rank for rank in range(RANKS) if rank != 13])
    out = tables["ranks"]
    short = out[2] | {"file": "short.json", "sha256": "f" * 64, "file_id": -1, "spans": 1}
    foreign = out[3] | {"file": "foreign.json", "sha256": "e" * 64, "file_id": -2, "world_size": 4}
    later = out[4] | {"attempt": -1, "file_id": -3}
    tables["ranks"] = [*out, short, foreign, later]
    problems, rows, collectives, found = answers(tables, "problems", "ranks", "collectives", "stragglers")
    assert [(row["kind"], row["file"], row["rank"]) for row in problems] == [
        ("other_job", "foreign.json", 3),
        ("rank_doubled", "short.json", 2),
        ("rank_missing", None, 13),
        ("several_attempts", None, None),
    ]
    assert len(rows) == RANKS - 1 and all(row["files"] == 1 for row in rows)
    assert [row["name"] for row in found] == ["6"]
    pair = next(row for row in collectives if row["group_key"] == "tp4/2/4,5")
    assert not pair["missing_ranks"] and pair["seen"] == 2
