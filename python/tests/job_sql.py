# SPDX-License-Identifier: Apache-2.0
"""Runs the files of src/job/sql over rows in memory, in DuckDB and in Spark, as the product runs them over a JOB."""

import json
import re
from pathlib import Path

import pyarrow

FOLDER = Path(__file__).parents[2] / "src" / "job" / "sql"
PARAMETERS = {"attempt": 0, "window_ns": 10_000_000_000, "ranks_per_cell": 1, "steps_per_cell": 1, "is_own": 0}
TEXT = {"host", "boot", "rank_from", "file", "sha256", "name", "group_name", "group_key", "kind"}
INTEGER = {"attempt", "rank", "world_size", "stage", "group_size"}
CREATE = re.compile(r"CREATE OR REPLACE TEMPORARY VIEW (\w+) AS\n")


def statements(name, parameters=None, seen=None):
    """(view or None, whether it is materialised, the SELECT) for each statement of a file and what it includes.

    A statement ends where a line ends with a semicolon. Lines that begin with -- are comments or directives.
    """
    seen = set() if seen is None else seen
    lines, is_materialised = [], False
    for line in (FOLDER / f"{name}.sql").read_text().splitlines():
        if line.startswith("-- @include "):
            included = line.removeprefix("-- @include ").removesuffix(".sql")
            if included not in seen:
                seen.add(included)
                yield from (each for each in statements(included, parameters, seen) if each[0])
        elif line == "-- @materialise":
            is_materialised = True
        elif line and not line.startswith("--"):
            lines.append(line)
        if not line.startswith("--") and line.endswith(";"):
            text = "\n".join(lines).removesuffix(";")
            for parameter, value in (PARAMETERS | (parameters or {})).items():
                text = text.replace("{{" + parameter + "}}", str(value))
            created = CREATE.match(text)
            yield (created[1], is_materialised, text[created.end() :]) if created else (None, False, text)
            lines, is_materialised = [], False


def arrow_tables(jobs):
    """Jobs as one table each, with a column `job` that numbers them."""
    for table in jobs[0]:
        rows = [row | {"job": job} for job, tables in enumerate(jobs) for row in tables[table]]
        names = list(rows[0]) if rows else ["job"]
        fields = [
            pyarrow.field(
                name,
                pyarrow.string() if name in TEXT else pyarrow.int32() if name in INTEGER else pyarrow.int64(),
            )
            for name in names
        ]
        yield table, pyarrow.Table.from_pylist(rows, schema=pyarrow.schema(fields))


class DuckDb:
    def __init__(self, jobs):
        import duckdb

        self.connection = duckdb.connect()
        self.connection.execute("SET threads = 1")
        for table, rows in arrow_tables(jobs):
            self.connection.register("rows", rows)
            self.connection.execute(f"CREATE TABLE all_{table} AS SELECT * FROM rows")
            self.connection.unregister("rows")
        self.tables = list(jobs[0])

    def open(self, job):
        """Following answers are over this job."""
        self.created = set()
        for table in self.tables:
            self.connection.execute(f"CREATE OR REPLACE VIEW {table} AS SELECT * FROM all_{table} WHERE job = {job}")

    def answer(self, name, **parameters):
        """The rows of a file, as dicts."""
        for view, is_materialised, select in statements(name, parameters):
            if view is None:
                cursor = self.connection.execute(select)
            elif view not in self.created:
                self.created.add(view)
                kind = "TABLE" if is_materialised else "VIEW"
                self.connection.execute(f"CREATE OR REPLACE TEMPORARY {kind} {view} AS {select}")
        names = [column[0] for column in cursor.description]
        return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]


class Spark:
    """Tables of the jobs lie as Parquet files in a folder. ``is_small``: of the two ways to keep rows, the driver's."""

    def __init__(self, session, jobs, folder, is_small):
        from pyarrow import parquet

        self.session, self.folder, self.is_small = session, folder, is_small
        self.schemas = {}
        for table, rows in arrow_tables(jobs):
            parquet.write_table(rows, folder / f"{table}.parquet")
            self.schemas[table] = session.read.parquet(str(folder / f"{table}.parquet")).schema

    def open(self, job):
        from opscope.spark.engine import SparkEngine
        from opscope.spark.rows_folder import RowsFolder

        self.created = set()
        self.engine = SparkEngine(self.session, RowsFolder(self.folder), self.is_small)
        for table, schema in self.schemas.items():
            rows = self.engine.session.read.schema(schema).parquet(str(self.folder / f"{table}.parquet"))
            self.engine.add_table(table, rows.where(f"job = {job}"))

    def answer(self, name, **parameters):
        for view, is_kept, select in statements(name, parameters):
            if view is None:
                columns, rows = self.engine.query(select)
            elif view not in self.created:
                self.created.add(view)
                self.engine.define(view, select, is_kept)
        return [dict(zip(columns, row, strict=True)) for row in json.loads(rows)]
