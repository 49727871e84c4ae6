// The table Selection: what lies in the selected range, by name.
// SPDX-License-Identifier: Apache-2.0
import { useMemo } from "preact/hooks";
import type { Range } from "../model/address.ts";
import { countText } from "../model/numbers.ts";
import type { Figure as SelectedFigure, SelectedName, SelectedRange } from "../model/span_source.ts";
import { type Column, Table } from "../model/tables.ts";
import { DataTable } from "./data_table.tsx";
import { Failure } from "./failure.tsx";
import { Figure } from "./figure.tsx";
import { usePage } from "./page_context.ts";
import { useLoaded } from "./use_loaded.ts";

// The page asks a server when a drag rests.
const kDelayMs = 100;

export function SelectionTable({ range }: { range: Range }) {
  const { source } = usePage();
  const delay = source.detail === null ? 0 : kDelayMs;
  const { data, failure } = useLoaded((signal) => source.select(range, signal).then((selected) => ({ range, selected })), [source, range.start, range.end], delay);
  if (failure !== "") return <Failure message={failure} />;
  // Figures of another range are not shown.
  const isCurrent = data !== null && data.range.start === range.start && data.range.end === range.end;
  return isCurrent ? <LoadedSelection range={range} selected={data.selected} /> : <p class="hint">The selection is being summed up.</p>;
}

function LoadedSelection({ range, selected }: { range: Range; selected: SelectedRange }) {
  const { origin } = usePage();
  const table = useMemo(() => tableOf(selected), [selected]);
  const { leftOut } = selected;
  const [start, end] = [origin.exact(range.start), origin.exact(range.end)];
  return (
    <>
      <DataTable name="Selection" table={table} firstSort={{ key: "total_with_recursion_ns", falling: true }} hasHues>
        <span class="count">
          <Figure value={end - start} unit="time" />, from <Figure value={start} unit="time" /> to <Figure value={end} unit="time" />{" "}
          {origin.sinceBegin(start) !== null && (
            <small class="since">
              (<Figure value={origin.sinceBegin(start)} unit="time" /> to <Figure value={origin.sinceBegin(end)} unit="time" /> since the begin)
            </small>
          )}
        </span>
      </DataTable>
      {leftOut > 0 && (
        <p class="hint">
          ≈ Up to{" "}
          <span data-value={leftOut} data-error={leftOut}>
            {countText(leftOut)}
          </span>{" "}
          short spans in the range are left out of this page. A figure with ≈ may be too small by as much as they allow, and names that only they have are missing.
        </p>
      )}
    </>
  );
}

function tableOf({ rows, folded }: SelectedRange): Table {
  const figures = (key: string, title: string, unit: Column["unit"], of: (row: SelectedName) => SelectedFigure): Column => {
    const all = rows.map(of);
    return { key, title, unit, documentation: "", values: all.map(({ value }) => value), errors: all.map(({ error }) => error) };
  };
  const columns: Column[] = [
    { key: "name", title: "Name", unit: "text", documentation: "", values: rows.map((row) => row.name) },
    figures("count", "Count", "number", (row) => row.count),
    figures("total_with_recursion_ns", "Total", "time", (row) => row.total),
    figures("self_ns", "Self", "time", (row) => row.self),
  ];
  if (folded === null) return new Table(columns);
  const sums = new Map([
    ["count", folded.count],
    ["total_with_recursion_ns", folded.total],
    ["self_ns", folded.self],
  ]);
  return new Table(columns, { rows: folded.rows, sums });
}
