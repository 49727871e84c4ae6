// The table "Call tree": a tree grid with the heaviest siblings first. Right opens a node or goes to its first child,
// Left closes it or goes to its caller.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { kAllRows } from "../layout/row_window.ts";
import { type CallTree, type Children, type Metric, nameOf, openRows, type TreeRow } from "../model/call_tree.ts";
import type { Unit } from "../model/document.ts";
import { foldCase } from "../model/names.ts";
import { format } from "../model/numbers.ts";
import { hueOf } from "../model/palette.ts";
import { type Column, Table } from "../model/tables.ts";
import { CopyButtons } from "./copy_buttons.tsx";
import { kRowHeight, Spacer, useRowWindow } from "./data_table.tsx";
import { AlignedNumber } from "./figure.tsx";
import { useAddress } from "./page_context.ts";

const kKeyEnds: Record<Metric, string> = { time: "ns", device_time: "ns", memory: "bytes", flops: "flops" };
// Deeper rows are indented no further.
const kDeepestIndent = 30;

// The rows as a table, for headings and copies.
function tableOf(tree: CallTree, rows: readonly TreeRow[]): Table {
  const end = kKeyEnds[tree.metric];
  const column = (key: string, title: string, unit: Unit, value: (node: number) => string | number): Column => ({
    key, title, unit, documentation: "", values: rows.map(({ node }) => value(node)),
  });
  return new Table([
    column("name", "Name", "text", (node) => nameOf(tree, node)),
    column("count", "Count", "number", (node) => tree.count[node]!),
    column(`total_${end}`, "Total", tree.unit, (node) => tree.total[node]!),
    column(`self_${end}`, "Self", tree.unit, (node) => tree.self[node]!),
  ]);
}

export function CallTreeTable({ tree, childList }: { tree: CallTree; childList: Children }) {
  const [open, setOpen] = useState<ReadonlySet<number>>(new Set());
  const [current, setCurrent] = useState(0);
  const wanted = foldCase(useAddress((state) => state.query));
  const rows = useMemo(() => openRows(childList, open), [childList, open]);
  const table = useMemo(() => tableOf(tree, rows), [tree, rows]);
  const order = useMemo(() => Int32Array.from(rows, (_, at) => at), [rows]);
  const box = useRef<HTMLDivElement>(null);
  const mustFocus = useRef(false);
  const view = useRowWindow(box, rows.length);
  const at = Math.min(current, rows.length - 1);
  // The tab stop is the current row, or the first one that exists.
  const tabStop = at >= view.first && at < view.end ? at : view.first;

  useEffect(() => {
    const element = box.current;
    if (element === null || !mustFocus.current || rows.length <= kAllRows) return;
    const top = at * kRowHeight;
    if (top < element.scrollTop || top + 3 * kRowHeight > element.scrollTop + element.clientHeight) {
      element.scrollTop = top - element.clientHeight / 2;
    }
  }, [at]);
  useLayoutEffect(() => {
    if (!mustFocus.current) return;
    const row = box.current?.querySelector<HTMLElement>(`tr[aria-rowindex="${at + 2}"]`);
    if (row === null || row === undefined) return;
    mustFocus.current = false;
    row.focus();
  });

  const toggle = (node: number, isOpen: boolean) => {
    const next = new Set(open);
    if (isOpen) next.add(node);
    else next.delete(node);
    setOpen(next);
  };
  const go = (to: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, to));
    if (next === at) return; // without a change no row takes the focus
    mustFocus.current = true;
    setCurrent(next);
  };
  const onKeyDown = (event: KeyboardEvent, index: number) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const row = rows[index]!;
    if (event.key === "ArrowRight") {
      if (row.isOpen === false) toggle(row.node, true);
      else if (row.isOpen === true) go(index + 1);
    } else if (event.key === "ArrowLeft") {
      if (row.isOpen === true) toggle(row.node, false);
      else if (row.level > 1) go(rows.findLastIndex((other, i) => i < index && other.level === row.level - 1));
    } else if (event.key === "ArrowDown") {
      go(index + 1);
    } else if (event.key === "ArrowUp") {
      go(index - 1);
    } else if (event.key === "Home") {
      go(0);
    } else if (event.key === "End") {
      go(rows.length - 1);
    } else if (event.key === "Enter" && row.isOpen !== null) {
      toggle(row.node, !row.isOpen);
    } else {
      return;
    }
    event.preventDefault();
  };

  return (
    <section class="table">
      <header>
        <h2>Call tree</h2>
        <CopyButtons name="Call tree" table={table} rows={order} />
      </header>
      <div ref={box} class={`scroll${rows.length > kAllRows ? " long" : ""}`}>
        <table role="treegrid" aria-label="Call tree" aria-rowcount={rows.length + 1} class="tree">
          <thead role="rowgroup">
            <tr role="row" aria-rowindex={1}>
              {table.columns.map((column) => (
                <th key={column.key} role="columnheader" scope="col" class={column.unit === "text" ? "text" : "figure"} data-column={column.key}>
                  <span>{column.title}</span>
                </th>
              ))}
            </tr>
          </thead>
          <Spacer rows={view.first} columns={4} />
          <tbody role="rowgroup">
            {rows.slice(view.first, view.end).map((row, i) => {
              const index = view.first + i;
              const name = nameOf(tree, row.node);
              return (
                <tr
                  key={row.node}
                  role="row"
                  aria-rowindex={index + 2}
                  aria-level={row.level}
                  aria-expanded={row.isOpen ?? undefined}
                  tabIndex={index === tabStop ? 0 : -1}
                  class={wanted !== "" && foldCase(name).includes(wanted) ? "match" : undefined}
                  onFocus={() => setCurrent(index)}
                  onKeyDown={(event) => onKeyDown(event, index)}
                  onClick={() => row.isOpen !== null && toggle(row.node, !row.isOpen)}
                >
                  {table.columns.map((column) => {
                    const { exact, text } = format(column.values[index] ?? null, column.unit);
                    return column.unit === "text" ? (
                      <td key={column.key} role="gridcell" class="text name" data-value={exact} title={text.length > 40 ? text : undefined}>
                        <span class="indent" style={{ width: `${Math.min(row.level - 1, kDeepestIndent) * 14}px` }} />
                        <i class={row.isOpen === null ? "twist" : row.isOpen ? "twist open" : "twist closed"} aria-hidden="true" />
                        <i class={`hue hue-${hueOf(exact)}`} aria-hidden="true" />
                        {text}
                      </td>
                    ) : (
                      <td key={column.key} role="gridcell" class={`figure unit-${column.unit}`} data-value={exact}>
                        <AlignedNumber text={text} unit={column.unit} />
                      </td>
                    );
                  })}
                </tr>
              );
            })}
          </tbody>
          <Spacer rows={rows.length - view.end} columns={4} />
        </table>
      </div>
    </section>
  );
}
