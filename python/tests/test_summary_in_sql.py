# SPDX-License-Identifier: Apache-2.0
"""The rows of every grouping of real traces, computed by DuckDB from the tables of the trace."""

from pathlib import Path

import pytest

import opscope

SAMPLES = Path(__file__).parents[2].parent / "shared" / "samples" / "kineto"

# A span counts unless it lies inside a span of its row: `around` has the rows of all its ancestors.
QUERY = """
with recursive track as (
  select row_number() over () - 1 as track, case when tracks.kind in (1, 2) then 'device' else 'host' end as on_what,
         coalesce(device::varchar, '') as device, process
  from tracks),
numbered as (select row_number() over () - 1 as id, spans.* from spans),
span as (
  select spans.id, spans.track, spans.parent, spans.duration, {key} as key, track.on_what
  from numbered as spans join track on spans.track = track.track),
around as (
  select id, parent as at from span where parent is not null
  union all
  select around.id, span.parent from around join span on span.id = around.at where span.parent is not null),
nested as (
  select distinct inner_span.id from around
  join span inner_span on inner_span.id = around.id join span outer_span on outer_span.id = around.at
  where inner_span.key = outer_span.key and inner_span.on_what = outer_span.on_what)
select key, on_what, count(*), sum(case when id in (from nested) then 0 else duration end), sum(duration),
       sum(duration) // count(*)
from span group by key, on_what
"""
KEYS = {"name": "spans.name", "category": "spans.category", "kind": "spans.kind", "device": "track.device"}


@pytest.mark.parametrize("sample", ["cuda_nccl", "cuda_triton", "rocm_mi250_train"])
@pytest.mark.parametrize("group_by", KEYS)
def test_rows_are_those_of_sql(sample, group_by):
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    path = SAMPLES / f"{sample}.json.gz"
    if not path.exists():
        pytest.skip("no ../shared/samples here")
    trace = opscope.open(path)
    spans, tracks = trace.spans.to_arrow(), trace.tracks.to_arrow()  # noqa: F841 - duckdb finds them by name
    expected = {tuple(row) for row in duckdb.sql(QUERY.format(key=KEYS[group_by])).fetchall()}
    rows = trace.summary(group_by=group_by)
    numbers = ("on", "count", "total_ns", "total_with_recursion_ns", "mean_ns")
    if group_by == "kind":  # the table has numbers of kinds, the summary words
        rows = [row | {"kind": None} for row in rows]
        expected = {(None, *row[1:]) for row in expected}
    assert {(row[group_by], *(row[number] for number in numbers)) for row in rows} == expected
