# SPDX-License-Identifier: Apache-2.0
"""SQL over ten million spans: a group-by with quantiles, beside DuckDB on a Parquet file of the same rows.

Each side is a process of its own: the statement with the start of DuckDB, on a trace that is open, beside a program
that starts DuckDB and reads the Parquet.
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
    """Seconds of one side, and how many rows it got."""
    folder = Path(folder)
    if side == "theirs":
        clock = measure.Clock()
        import duckdb

        rows = duckdb.sql(QUERY.format(f"'{folder}/tables/spans/*/*.parquet'")).fetchall()
        return {**clock.read(), "rows": len(rows)}
    import opscope

    trace = opscope.open(folder / "spans.opscope")
    clock = measure.Clock()
    rows = trace.sql(QUERY.format("spans"))
    return {**clock.read(), "rows": len(rows)}


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
        runs = {"ours": [], "theirs": []}
        for _ in range(options.repetitions):
            for side, found in runs.items():
                found.append(measure.in_fresh_process(__file__, {"side": side, "folder": str(folder)}))
    finally:
        shutil.rmtree(folder)
    if len({run["rows"] for found in runs.values() for run in found}) != 1:
        raise SystemExit("bench: the sides give different rows")

    def figures(side, kind):
        return measure.figures_of(runs[side], kind)

    cpu = {side: figures(side, "cpu")["median"] for side in runs}
    title = "SQL group-by with quantiles on an open trace, beside DuckDB on Parquet"
    more = {"repetitions": options.repetitions, "note": f"{options.ops:,} spans, 256 names"}
    measure.print_row("query_time", title, "s", *(figures(side, "wall") for side in runs), 1.2, cpu=cpu, **more)


if __name__ == "__main__":
    main()
