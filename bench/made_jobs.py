# SPDX-License-Identifier: Apache-2.0
"""JOBs of any size for benchmarks, written by SQL as `opscope compact` leaves them, and processes that are measured.

Tables that a benchmark does not name are empty.
"""

import json
import os
import subprocess
import time

import measure

EPOCH_NS = 1_790_000_000_000_000_000
STEP_NS = 400_000_000
PARTS = ("compute", "communication", "copy", "input", "host", "other", "idle")
# The bin of a duration (src/job/duration_bins.h).
SHIFT = "greatest(0, CAST(floor(log2(greatest(duration_ns, 1))) AS BIGINT) - 6)"


def noise(*of, below):
    """A number from 0 that these expressions determine."""
    return f"CAST(hash({', '.join(map(str, of))}) % {below} AS BIGINT)"


def ranks_sql(ranks, spans):
    return f"""SELECT 0::INTEGER AS attempt, r::INTEGER AS rank, r AS file_id, {ranks}::INTEGER AS world_size,
        (r * 4 // {ranks})::INTEGER AS stage, 'host' || (r // 8) AS host, '' AS boot, 'metadata' AS rank_from,
        'rank' || r || '.json' AS file, sha256('' || r) AS sha256, {EPOCH_NS} AS start_ns,
        {EPOCH_NS} + 3600000000000 AS end_ns, {spans}::BIGINT AS spans, NULL::BIGINT AS wall_error_ns,
        0::INTEGER AS verdict, '' AS reasons FROM range({ranks}) t(r) ORDER BY r"""


def steps_sql(ranks, steps):
    parts = ", ".join(f"{STEP_NS // len(PARTS)} AS {part}_ns" for part in PARTS)
    return f"""SELECT 0::INTEGER AS attempt, r::INTEGER AS rank, r AS file_id, s AS step, 'ProfilerStep#' || s AS name,
        {EPOCH_NS} + s * {STEP_NS} AS start_ns, {STEP_NS} + {noise("r", "s", below=1_000_000)} AS duration_ns, {parts}
        FROM range({ranks}) a(r), range({steps}) b(s) ORDER BY r, s"""


class Collectives:
    """Each rank has `per_step` in each step: of one group, or in turn of its host and of its place in all hosts.

    One rank is slow: the others of its groups wait for it, 60 ms in all collectives of a step.
    """

    def __init__(self, ranks, steps, per_step, is_grouped):
        self.ranks, self.steps, self.per_step, self.is_grouped = ranks, steps, per_step, is_grouped
        self.slow = ranks * 3 // 7

    def _group(self):
        """SQL of the group of rank r at place c of the step, of its size, and of whether r is the slow rank."""
        if not self.is_grouped:
            return "0", str(self.ranks), f"r = {self.slow}"
        in_host = "c % 2 = 0"
        group = f"CASE WHEN {in_host} THEN r // 8 ELSE 1000000 + r % 8 END"
        return group, f"CASE WHEN {in_host} THEN 8 ELSE {self.ranks // 8} END", f"r = {self.slow}"

    def _number(self):
        return f"s * {self.per_step // 2} + c // 2" if self.is_grouped else f"s * {self.per_step} + c"

    def sql(self):
        group, size, is_slow = self._group()
        slow_group = group.replace("r ", f"{self.slow} ") if self.is_grouped else "0"
        gaps = ", ".join(
            f"CASE WHEN {is_slow} THEN 4000000 ELSE 1000000 END AS {part}_gap_ns"
            if part == "compute"
            else f"100000 AS {part}_gap_ns"
            for part in PARTS
        )
        late = 60_000_000 // self.per_step
        wait = f"CASE WHEN g = slow_g AND NOT {is_slow} THEN {late} ELSE 0 END"
        return f"""SELECT 0::INTEGER AS attempt, r::INTEGER AS rank, r AS file_id, g AS group_id, '0' AS group_name,
            'group' || g || '/' || size || '/' AS group_key, size::INTEGER AS group_size, c AS position,
            []::INTEGER[] AS members, 'all_reduce' AS kind, s AS step, 1048576::BIGINT AS elements,
            {self._number()} AS seq,
            {EPOCH_NS} + s * {STEP_NS} + c * {STEP_NS // 2 // self.per_step} - ({wait}) AS start_ns,
            200000 + {noise("r", "s", "c", below=5000)} + {wait} AS duration_ns, 1700000::BIGINT AS gap_ns, {gaps}
            FROM (SELECT *, ({group})::BIGINT AS g, ({slow_group})::BIGINT AS slow_g, ({size})::BIGINT AS size
                  FROM range({self.ranks}) x(r), range({self.steps}) y(s), range({self.per_step}) z(c))
            ORDER BY r, s, c"""

    def groups_sql(self):
        group, size, _ = self._group()
        each = self.steps * self.per_step // (2 if self.is_grouped else 1)
        return f"""SELECT 0::INTEGER AS attempt, r::INTEGER AS rank, r AS file_id, g AS group_id,
            'group' || g || '/' || size || '/' AS group_key, '0' AS group_name, size::INTEGER AS group_size,
            {each}::BIGINT AS spans, {each}::BIGINT AS with_seq, {each}::BIGINT AS distinct_seq, 0::BIGINT AS first_seq,
            {each - 1}::BIGINT AS last_seq
            FROM (SELECT r, ({group})::BIGINT AS g, ({size})::BIGINT AS size
                  FROM range({self.ranks}) x(r), range({2 if self.is_grouped else 1}) z(c)) ORDER BY r, g"""


def spans_sql(ranks, spans, steps, names=60):
    """Operators one after the other. Those of a name differ by a fifth; one of a hundred lasts up to three times as
    long."""
    name = noise("r", "i", below=names)
    usual = f"(1.0 + {noise('r', 'i', 7, below=1000)} / 5000.0)"
    longer = f"1.0 + {noise('r', 'i', 9, below=2000)} / 1000.0"
    tail = f"CASE WHEN {noise('r', 'i', 8, below=100)} = 0 THEN {longer} ELSE 1.0 END"
    return f"""SELECT 0::INTEGER AS attempt, r::INTEGER AS rank, r AS file_id, '1/1' AS track, 'aten::op' || n AS name,
        'cpu_op' AS category, {EPOCH_NS} + i * 200000 AS start_ns, duration_ns, duration_ns AS self_ns,
        i * {steps} // {spans} AS step
        FROM (SELECT r, i, {name} AS n, CAST(1000 * (3 + 2 * {name}) * {usual} * {tail} AS BIGINT) AS duration_ns
              FROM range({ranks}) x(r), range({spans}) y(i)) ORDER BY r, i"""


def op_stats_sql(spans):
    return f"""SELECT 0::INTEGER AS attempt, rank, file_id, name,
        CAST(64 * {SHIFT} + (duration_ns >> {SHIFT}) AS INTEGER) AS bin, count(*) AS count,
        CAST(sum(duration_ns) AS BIGINT) AS sum_ns, max(duration_ns) AS max_ns
        FROM read_parquet('{spans}') GROUP BY ALL ORDER BY rank, name, bin"""


def apart(work):
    """Runs a function in a child: the peak memory of a process counts from that of its parent."""
    child = measure.FORKING.Process(target=work)
    child.start()
    child.join()
    if child.exitcode != 0:
        raise SystemExit(f"bench: what is measured could not be made: exit status {child.exitcode}")


def write_tables(path, tables):
    import duckdb

    connection = duckdb.connect()
    files = []
    for table, select in tables.items():
        select = select(path) if callable(select) else select
        place = f"{table}/{'bucket=0/' if table == 'spans' else ''}part-made.parquet"
        (path / place).parent.mkdir(parents=True)
        done = connection.execute(f"COPY ({select}) TO '{path / place}' (FORMAT parquet, COMPRESSION zstd)")
        files.append({"table": table, "path": place, "rows": done.fetchone()[0]})
    manifest = {"sha256": [], "files": files, "replaces": []}
    (path / "_opscope" / "parts" / "made.json").write_text(json.dumps(manifest))


def write_job(path, tables):
    """`tables`: {name: SELECT, or a function of the JOB's path that gives one}, in the order in which they are made."""
    (path / "_opscope" / "parts").mkdir(parents=True)
    apart(lambda: write_tables(path, tables))
    head = {"format": "opscope-job", "version": 1, "bucket_ranks": 1_000_000}
    (path / "_opscope" / "job.json").write_text(json.dumps(head))


def measured(command, accepted=(0,), **options):
    """Runs a process: wall and processor seconds, peak bytes, and what it printed."""
    start = time.perf_counter()
    process = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, **options)
    output = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in accepted:
        raise SystemExit(f"bench: {command}: exit status {process.returncode}")
    return {
        "wall": time.perf_counter() - start,
        "cpu": used.ru_utime + used.ru_stime,
        "peak": used.ru_maxrss * 1024,
        "output": output,
    }


def take_turns(repetitions, commands, **options):
    """{name: [measured, ...]}"""
    results = {name: [] for name in commands}
    for repetition in range(repetitions):
        for name, command in commands.items():
            results[name].append(measured(command, **options))
        measure.say(f"{', '.join(commands)}: repetition {repetition + 1} of {repetitions}")
    return results
