// The table Selection: what lies in the selected range, by name.
// SPDX-License-Identifier: Apache-2.0
import { useMemo } from "preact/hooks";
import type { Range } from "../model/address.ts";
import { countText, visibleText } from "../model/numbers.ts";
import { selectRange } from "../model/selection.ts";
import type { Spans } from "../model/spans.ts";
import { type Column, Table } from "../model/tables.ts";
import { DataTable } from "./data_table.tsx";
import { usePage } from "./page_context.ts";

export function SelectionTable({ spans, range }: { spans: Spans; range: Range }) {
  const { document } = usePage();
  const [table, leftOut] = useMemo(() => {
    const { rows, leftOut: inBlocks } = selectRange(spans, range);
    const leftOut = inBlocks + document.timeline.left_out_spans;
    const column = (key: string, title: string, unit: Column["unit"], values: Column["values"]): Column => ({ key, title, unit, documentation: "", values });
    const columns = [
      column("name", "Name", "text", rows.map((row) => document.strings[row.name] ?? "")),
      column("count", "Count", "number", rows.map((row) => row.count)),
      column("total_with_recursion_ns", "Total", "time", rows.map((row) => row.total)),
      column("self_ns", "Self", "time", rows.map((row) => row.self)),
    ];
    return [new Table(columns), leftOut] as const;
  }, [spans, range.start, range.end, document]);
  return (
    <>
      <DataTable name="Selection" table={table} firstSort={{ key: "total_with_recursion_ns", falling: true }} hasHues />
      {leftOut > 0 && (
        <p class="hint">
          ≈ These figures are without up to <span data-value={leftOut} data-error={leftOut}>{visibleText(countText(leftOut))}</span> spans that are left out of this page.
        </p>
      )}
    </>
  );
}
