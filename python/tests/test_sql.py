# SPDX-License-Identifier: Apache-2.0
"""SQL over the tables of a trace: values, refusals, limits. Skipped without the package duckdb."""

import decimal
import json
import math
import os
import pickle
import subprocess
import sys
import time
from pathlib import Path

import pytest

import opscope

pytest.importorskip("duckdb", reason="SQL needs DuckDB: pip install opscope[sql]")

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden" / "torch_table"
MLP = GOLDEN / "mlp_steps" / "trace.json.gz"


def query(*arguments, file=MLP, **options):
    command = [sys.executable, "-m", "opscope", "query", str(file), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **options)


@pytest.fixture(scope="module")
def trace():
    return opscope.open(MLP)


def test_example_of_the_reference():
    answer = json.loads(query("SELECT 40 + 2 AS answer", "--json").stdout)
    assert answer["schema"] == "opscope.query/1"
    assert answer["columns"] == [{"name": "answer", "type": "INTEGER"}]
    assert answer["rows"] == [[42]]
    assert answer["truncated"] is False
    assert answer["quality"]["verdict"] in ("good", "usable", "doubtful")
    assert isinstance(answer["problems"], list)


@pytest.mark.parametrize("case", sorted(path.name for path in GOLDEN.iterdir() if path.is_dir()))
def test_tables_have_the_rows_of_the_trace(case):
    trace = opscope.open(GOLDEN / case / "trace.json.gz")
    for name in (row["name"] for row in trace.sql("SHOW TABLES")):
        rows = [{"row": at, **row} for at, row in enumerate(getattr(trace, name))]
        found = list(trace.sql(f"SELECT * FROM {name}"))
        # Bytes that are not UTF-8 are escaped, as in Arrow.
        escaped = json.loads(json.dumps(rows).replace("\\udc", "\\\\udc"))
        assert json.loads(json.dumps(found)) == escaped, name


def test_tables_are_those_of_the_reference(trace):
    types = {"text": "VARCHAR", "time (ns)": "BIGINT", "duration (ns)": "BIGINT", "float64": "DOUBLE"}
    types |= {"uint8": "UTINYINT", "uint16": "USMALLINT", "uint32": "UINTEGER", "uint64": "UBIGINT"}
    types |= {"int32": "INTEGER", "int64": "BIGINT", "list of int64": "BIGINT[]"}
    documented = {}
    for line in (ROOT / "docs" / "reference" / "tables.md").read_text().splitlines():
        if line.startswith("## "):
            table = documented[line[3:]] = {"row": "BIGINT"}
        elif line.startswith("| `"):
            column, kind = (cell.strip() for cell in line.split("|")[1:3])
            table[column.strip("`")] = types.get(kind, "UINTEGER")
    described = {}
    for row in trace.sql("SHOW TABLES"):
        columns = trace.sql(f"DESCRIBE {row['name']}")
        described[row["name"]] = {column["column_name"]: column["column_type"] for column in columns}
    assert described == documented


VALUES = [  # SQL, type, JSON, Python
    ("9007199254740992", "BIGINT", 2**53, 2**53),
    ("9007199254740993", "BIGINT", "9007199254740993", 2**53 + 1),
    ("-9007199254740993", "BIGINT", "-9007199254740993", -(2**53) - 1),
    ("18446744073709551615::UBIGINT", "UBIGINT", "18446744073709551615", 2**64 - 1),
    ("1::HUGEINT << 100", "HUGEINT", str(2**100), 2**100),
    ("sum(7)", "HUGEINT", 7, 7),
    ("1.50", "DECIMAL(3,2)", "1.50", decimal.Decimal("1.50")),
    ("-0.05::DECIMAL(30,3)", "DECIMAL(30,3)", "-0.050", decimal.Decimal("-0.050")),
    ("0.1::DOUBLE", "DOUBLE", 0.1, 0.1),
    ("0.1::FLOAT", "FLOAT", 0.1, 0.1),
    ("'inf'::DOUBLE", "DOUBLE", None, math.inf),
    ("true", "BOOLEAN", True, True),
    ("NULL::INTEGER", "INTEGER", None, None),
    ("DATE '2024-01-02'", "DATE", "2024-01-02", "2024-01-02"),
    ("TIMESTAMP '2024-01-02 03:04:05.5'", "TIMESTAMP", "2024-01-02 03:04:05.5", "2024-01-02 03:04:05.5"),
    ("INTERVAL 3 DAYS", "INTERVAL", "3 days", "3 days"),
    ("'\\xAA'::BLOB", "BLOB", "\\xAA", "\\xAA"),
    ("[1, NULL, 3]", "INTEGER[]", [1, None, 3], [1, None, 3]),
    ("[[1], []]", "INTEGER[][]", [[1], []], [[1], []]),
    ("[1, 2]::INTEGER[2]", "INTEGER[2]", [1, 2], [1, 2]),
    ("{'a': 1, 'b': [true]}", "STRUCT(a INTEGER, b BOOLEAN[])", {"a": 1, "b": [True]}, {"a": 1, "b": [True]}),
    ("MAP {'k': 1}", "MAP(VARCHAR, INTEGER)", [{"key": "k", "value": 1}], [{"key": "k", "value": 1}]),
    ("'a'::ENUM('a', 'b')", "ENUM('a', 'b')", "a", "a"),
    ("union_value(k := 5)", "UNION(k INTEGER)", 5, 5),
    ("'00112233-4455-6677-8899-aabbccddeeff'::UUID", "UUID", *["00112233-4455-6677-8899-aabbccddeeff"] * 2),
    ("'a\"b\n\\é'", "VARCHAR", 'a"b\n\\é', 'a"b\n\\é'),
]


def test_values_have_the_documented_form(trace):
    sql = "SELECT " + ", ".join(f"{value[0]} AS c{at}" for at, value in enumerate(VALUES))
    answer = json.loads(query(sql, "--json").stdout)
    assert [column["type"] for column in answer["columns"]] == [value[1] for value in VALUES]
    assert answer["rows"] == [[value[2] for value in VALUES]]
    (row,) = trace.sql(sql)
    assert list(row.values()) == [value[3] for value in VALUES]


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("SELECT * FROM read_text('/etc/passwd')", "/etc/passwd"),
        ("SELECT * FROM read_csv('/etc/passwd')", "/etc/passwd"),
        ("SELECT * FROM '/etc/passwd'", "/etc/passwd"),
        ("SELECT * FROM glob('/etc/*')", "/etc/*"),
        ("SELECT * FROM read_parquet('https://example.com/a.parquet')", "https://example.com/a.parquet"),
        ("COPY (SELECT 1) TO 'out.csv'", "only a statement that reads"),
        ("EXPLAIN ANALYZE COPY (SELECT 1) TO 'out.csv'", "only a statement that reads"),
        ("EXPLAIN ANALYZE CREATE TABLE t AS SELECT 1", "only a statement that reads"),
        ("CREATE TABLE t (a INTEGER)", "only a statement that reads"),
        ("WITH a AS (SELECT 1) INSERT INTO steps SELECT * FROM a", "steps"),
        ("ATTACH 'out.db'", "only a statement that reads"),
        ("INSTALL httpfs", "only a statement that reads"),
        ("LOAD httpfs", "only a statement that reads"),
        ("SET threads = 1", "only a statement that reads"),
        ("PRAGMA database_list", "only a statement that reads"),
        ("CALL pragma_version()", "only a statement that reads"),
        ("SELECT current_setting('memory_limit')", "current_setting is not allowed"),
        ("SELECT * FROM query('SELECT 1')", "query is not allowed"),
        ("SELECT * FROM duckdb_settings()", "duckdb_settings is not allowed"),
        ("SELECT getenv('HOME')", "getenv is not allowed"),
        ("SELECT * FROM arrow_scan(1, 2, 3)", "arrow_scan is not allowed"),
        ("SELECT 1; SELECT 2", "there are 2 statements"),
        ("SELECT $1", "parameters"),
        ("", "there is no statement"),
        ("SELEC 1", "only a statement that reads"),
        ("SELECT nothing FROM spans", "nothing"),
        ("SELECT (", "syntax error"),
    ],
)
def test_refusal_is_one_line_that_says_why(sql, said):
    done = query(sql)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("opscope: query: ")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert not list(Path("/tmp").glob("opscope_sql.*"))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT count(*) FROM range(1000000000) a, range(1000000000) b",
        "WITH RECURSIVE t AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM t) SELECT count(*) FROM t",
        "SELECT sum(x) FROM (SELECT * FROM range(10000000000000) t(x)) ORDER BY 1",
        "SELECT list_sum(list_transform(range(400000000), lambda x: sqrt(x)))",
    ],
)
def test_endless_query_stops_at_the_limit_of_time(sql):
    begin = time.monotonic()
    done = query(sql, "--max-seconds", "1")
    assert done.returncode == 1
    assert done.stderr == "opscope: query: stopped at the limit of time, 1 s\n"
    assert time.monotonic() - begin < 10  # with the start of Python, on a busy machine


def test_query_stops_at_the_limit_of_memory(trace):
    for sql in ("SELECT list(x) FROM range(20000000000) t(x)", "SELECT DISTINCT x FROM range(20000000000) t(x)"):
        done = query(sql, "--max-memory", "100M")
        assert done.returncode == 1
        assert done.stderr == "opscope: query: stopped at the limit of memory, 104857600 bytes\n"
    with pytest.raises(MemoryError, match="limit of memory"):
        trace.sql("SELECT DISTINCT x FROM range(20000000000) t(x)", max_memory="100M")
    assert len(trace.sql("SELECT 1")) == 1  # a query that was stopped harms no later one


def test_python_raises_what_python_programs_expect(trace):
    with pytest.raises(TimeoutError):
        trace.sql("SELECT count(*) FROM range(1000000000) a, range(1000000000) b", max_seconds=0.1)
    with pytest.raises(opscope.Error, match="nothing"):
        trace.sql("SELECT nothing FROM spans")


def test_limit_of_rows_truncates(trace):
    answer = json.loads(query("SELECT * FROM range(1000000000000)", "--json", "--limit", "3000").stdout)
    assert answer["truncated"] is True
    assert answer["rows"] == [[row] for row in range(3000)]
    answer = json.loads(query("SELECT * FROM range(3000)", "--json", "--limit", "3000").stdout)
    assert answer["truncated"] is False
    rows = trace.sql("SELECT * FROM range(10)", limit=4)
    assert len(rows) == 4 and rows.is_truncated
    assert len(trace.sql("SELECT * FROM range(1000001)", limit=None)) == 1000001


def test_limit_of_no_rows_leaves_the_columns_and_negative_limits_are_refused(trace, tmp_path):
    opscope.collect([MLP], tmp_path / "job")
    for engine in (trace, opscope.job(tmp_path / "job")):
        none = engine.sql("SELECT name, 1 AS x FROM spans", limit=0)
        assert none == [] and none.is_truncated and none.types == {"name": "VARCHAR", "x": "INTEGER"}
        assert not engine.sql("SELECT name FROM spans WHERE false", limit=0).is_truncated
        with pytest.raises(ValueError, match=r"^limit must not be negative$"):
            engine.sql("SELECT 1", limit=-1)
        with pytest.raises(ValueError, match=r"^max_seconds must be 0 or more, not -1$"):
            engine.sql("SELECT 1", max_seconds=-1)
        with pytest.raises(TypeError, match=r"^max_seconds must be a number, not str$"):
            engine.sql("SELECT 1", max_seconds="1")
        with pytest.raises(TypeError, match=r"^query must be a str, not bytes$"):
            engine.sql(b"SELECT 1")
        pytest.importorskip("pyarrow")
        table = none.to_arrow()
        assert (table.num_rows, table.column_names) == (0, ["name", "x"])


def test_rows_without_order_by_come_as_from_one_thread(trace):
    sql = "SELECT x % 100000 AS k, count(*) FROM range(1000000) t(x) GROUP BY k"
    assert trace.sql(sql) == trace.sql(sql) == trace.sql(sql)
    assert [row["row"] for row in trace.sql("SELECT row FROM spans")] == list(range(len(trace.spans)))


def test_text_csv_and_standard_input():
    sql = "SELECT name, row, NULL AS nothing FROM spans ORDER BY row LIMIT 2"
    assert query(sql).stdout.splitlines()[0].split() == ["name", "row", "nothing"]
    assert "NULL" in query(sql).stdout
    assert query("SELECT 'a,b' AS x, 1.5 AS y, NULL AS z", "--csv").stdout == 'x,y,z\n"a,b",1.5,\n'
    done = query("SELECT * FROM spans WHERE false")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "opscope: query: there are no rows\n")
    assert query("-", "--csv", input="SELECT 7 AS x").stdout == "x\n7\n"


def test_text_of_explain_is_the_plan_line_by_line():
    plan = query("EXPLAIN SELECT name FROM spans").stdout
    assert "\\x0a" not in plan
    assert "name" in plan
    lines = plan.splitlines()
    assert len(lines) > 3
    assert len({len(line) for line in lines}) == 1  # boxes are aligned


def test_rows_are_a_list_and_a_table(trace):
    rows = trace.sql("SELECT name, duration, parent, 1 AS x, 2 AS x FROM spans ORDER BY row")
    assert list(rows[0]) == ["name", "duration", "parent", "x", "x_1"]
    assert rows.types["duration"] == "BIGINT"
    assert pickle.loads(pickle.dumps(rows)) == list(rows)
    pandas = pytest.importorskip("pandas")
    frame = rows.to_pandas()
    assert frame["duration"].tolist() == trace.spans.duration.tolist()
    assert [None if value is pandas.NA else value for value in frame["parent"]] == [row["parent"] for row in rows]


def test_arrow_has_duckdbs_types(trace):
    pyarrow = pytest.importorskip("pyarrow")
    table = trace.sql("SELECT DATE '2024-01-02' AS d, [1.5] AS l, name FROM spans ORDER BY row").to_arrow()
    assert table.schema.field("d").type == pyarrow.date32()
    assert table.column("name").to_pylist() == list(trace.spans["name"])


def test_missing_library_is_named():
    done = query("SELECT 1", env={**os.environ, "OPSCOPE_DUCKDB_LIB": "/nowhere/libduckdb.so"})
    assert done.returncode == 1
    assert "opscope[sql]" in done.stderr and done.stderr.count("\n") == 1


def test_parquet_has_every_table(trace, tmp_path):
    import duckdb

    command = [sys.executable, "-m", "opscope", "export", str(MLP), "--to", "parquet", "-o", str(tmp_path / "it's")]
    subprocess.run(command, check=True)
    trace.export(tmp_path / "python", to="parquet")
    for folder in ("it's", "python"):
        files = {str(path.relative_to(tmp_path / folder)) for path in (tmp_path / folder).rglob("*") if path.is_file()}
        assert files == {f"{row['name']}/rank=-1/part-0.parquet" for row in trace.sql("SHOW TABLES")}
        for row in trace.sql("SHOW TABLES"):
            path = str(tmp_path / folder / row["name"] / "rank=-1" / "part-0.parquet").replace("'", "''")
            read = duckdb.sql(f"SELECT * FROM read_parquet('{path}', hive_partitioning = false)")
            rows = trace.sql(f"SELECT * FROM {row['name']}")
            assert [dict(zip(read.columns, values, strict=True)) for values in read.fetchall()] == list(rows)
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(OSError):
        trace.export(file, to="parquet")


def test_parquet_of_several_ranks_has_a_file_per_rank(tmp_path):
    import duckdb

    for rank in (0, 3):
        events = [{"ph": "X", "pid": 1, "tid": 1, "ts": 10 + at, "dur": 1, "name": f"op{rank}"} for at in range(5)]
        text = json.dumps({"traceEvents": events, "distributedInfo": {"rank": rank, "world_size": 4}})
        (tmp_path / f"rank{rank}.json").write_text(text)
    merged = opscope.merge([tmp_path / "rank0.json", tmp_path / "rank3.json"])
    merged.export(tmp_path / "out", to="parquet")
    spans = tmp_path / "out" / "spans"
    assert sorted(path.name for path in spans.iterdir()) == ["rank=0", "rank=3"]
    read = duckdb.sql(f"SELECT rank, name, count(*) FROM read_parquet('{spans}/*/*.parquet') GROUP BY ALL ORDER BY ALL")
    assert read.fetchall() == [(0, "op0", 5), (3, "op3", 5)]
    assert [path.name for path in (tmp_path / "out" / "metadata").iterdir()] == ["rank=-1"]


def test_numbers_that_have_no_unit_are_displayed(trace):
    rows = trace.sql(
        "SELECT 99999999999999999999::HUGEINT AS bytes, -99999999999999999999::HUGEINT AS x_ns,"
        " 'nan'::DOUBLE AS y_bytes, 'inf'::DOUBLE AS y_ns, 2048 AS z_bytes"
    )
    for text in ("99999999999999999999", "-99999999999999999999", "2.00 KB"):
        assert text in repr(rows)
        assert text in rows._repr_html_()


NO_THREADS = """
import ctypes, sys
import opscope
trace = opscope.read(b'[{"ph":"X","ts":0,"dur":1,"pid":1,"tid":1,"name":"a"}]')
assert trace.sql("SELECT count(*) AS n FROM spans")[0]["n"] == 1
libc, attributes = ctypes.CDLL(None), ctypes.create_string_buffer(64)
libc.pthread_attr_init(attributes)
libc.pthread_attr_setstacksize(attributes, ctypes.c_size_t(1 << 60))  # no memory is that large
assert libc.pthread_setattr_default_np(attributes) == 0
try:
    trace.sql("SELECT count(*) AS n FROM spans")
except OSError as error:
    print(error)
"""


def test_a_query_that_nothing_could_stop_is_refused():
    done = subprocess.run([sys.executable, "-c", NO_THREADS], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[Errno 11] no thread could be started: Resource temporarily unavailable\n"
