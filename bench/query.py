# SPDX-License-Identifier: Apache-2.0
"""SQL over ten million spans: a group-by with quantiles, beside DuckDB on a Parquet file of the same rows.

Each side is a process of its own. `query` is the statement with the start of DuckDB, on a trace that is open, beside a
program that starts DuckDB and reads the Parquet; the row behind it has the reading of the trace, too, from a file that
`opscope convert` wrote.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import native

import measure

QUERY = """
SELECT name, count(*), sum(duration), quantile_cont(duration, [0.5, 0.99])
FROM {} GROUP BY name ORDER BY 3 DESC, 1
"""


def one(side, folder):
    """Seconds of one side. `whole`: with the reading of the trace, which `query` has open."""
    folder = Path(folder)
    if side == "theirs":
        clock = measure.Clock()
        import duckdb

        rows = duckdb.sql(QUERY.format(f"'{folder}/tables/spans/*/*.parquet'")).fetchall()
        return {**clock.read(), "rows": len(rows)}
    import opscope

    clock = measure.Clock()
    trace = opscope.open(folder / "spans.opscope")
    opened = clock.read()
    clock = measure.Clock()
    rows = trace.sql(QUERY.format("spans"))
    queried = clock.read()
    whole = {kind: opened[kind] + queried[kind] for kind in queried}
    return {**(whole if side == "whole" else queried), "rows": len(rows)}


def main():
    options = measure.parse_options(__doc__, ops=10_000_000, quick_ops=20_000)
    if options.one:
        print(json.dumps(one(**json.loads(options.one))))
        return
    folder = Path("query").resolve()
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        recording, trace = str(folder / "recording.opscope"), str(folder / "spans.opscope")
        subprocess.run([native.program("query_spans"), recording, str(options.ops)], check=True)
        opscope = [sys.executable, "-m", "opscope"]
        subprocess.run([*opscope, "convert", recording, "-o", trace], check=True)
        subprocess.run([*opscope, "export", trace, "--to", "parquet", "-o", str(folder / "tables")], check=True)
        runs = {"query": [], "whole": [], "theirs": []}
        for _ in range(options.repetitions):
            for side, found in runs.items():
                found.append(measure.in_fresh_process(__file__, {"side": side, "folder": str(folder)}))
    finally:
        shutil.rmtree(folder)
    if len({run["rows"] for found in runs.values() for run in found}) != 1:
        raise SystemExit("bench: the sides give different rows")

    def figures(side, kind):
        return measure.figures([run[kind] for run in runs[side]])

    for side, row, title, goal in (
        ("query", "query_time", "SQL group-by with quantiles on an open trace, beside DuckDB on Parquet", 1.2),
        ("whole", "query_file_time", "The same with the reading of the trace", None),
    ):
        cpu = {"ours": figures(side, "cpu")["median"], "theirs": figures("theirs", "cpu")["median"]}
        more = {"repetitions": options.repetitions, "note": f"{options.ops:,} spans, 256 names"}
        measure.print_row(row, title, "s", figures(side, "wall"), figures("theirs", "wall"), goal, cpu=cpu, **more)


if __name__ == "__main__":
    main()
