// A table with buttons to sort and to copy, and with virtual rows if it is long.
//
// Long tables have rows of equal height, and only those in view exist (src/layout/row_window.ts); two spacers give the
// scroll bar its length. The spacers take their height from an attribute of a cell.
// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { kAllRows, kPrintedRows, rowWindow } from "../layout/row_window.ts";
import type { Sort } from "../model/address.ts";
import { format } from "../model/numbers.ts";
import { hueOf } from "../model/palette.ts";
import { foldedValue } from "../model/table_text.ts";
import { type Column, nextSort, sinceBegin, type Table } from "../model/tables.ts";
import { CopyButtons } from "./copy_buttons.tsx";
import { AlignedNumber, Figure } from "./figure.tsx";
import { TimelineLink } from "./timeline_link.tsx";
import { useView } from "./use_view.ts";

// Height of the box of a table, in CSS pixels, until it is measured.
const kFirstHeight = 600;
// Columns of paths, outermost part first: what is cut is the beginning.
const kPaths: ReadonlySet<string> = new Set(["stack", "module"]);
// Height of a row of a long table in CSS pixels, as in table.css.
export const kRowHeight = 30;

export interface DataTableProps {
  // Accessible name, and the word in the names of the copy buttons.
  name: string;
  table: Table;
  // The order at first, until a button is pressed.
  firstSort?: Sort;
  // The order, if a caller keeps it elsewhere than in the table.
  sort?: Sort | null;
  onSort?: (sort: Sort) => void;
  filter?: string;
  // Long texts are wrapped instead of cut; only for tables that are never long.
  wraps?: boolean;
  // Shows the colour of the name.
  hasHues?: boolean;
  // Controls beside the heading.
  children?: ComponentChildren;
}

export function DataTable(props: DataTableProps) {
  const { table, name } = props;
  const [ownSort, setOwnSort] = useState<Sort | null>(null);
  const pressed = props.onSort === undefined ? ownSort : (props.sort ?? null);
  const isKnown = pressed !== null && table.column(pressed.key) !== undefined;
  const sort = isKnown ? pressed : (props.firstSort ?? null);
  const filter = props.filter ?? "";
  const rows = useMemo(() => table.rows(sort, filter), [table, sort?.key, sort?.falling, filter]);
  const press = (column: Column) => (props.onSort ?? setOwnSort)(nextSort(column, isKnown ? pressed : null));
  const count = rows.length + (table.folded === null ? 0 : 1);
  const box = useRef<HTMLDivElement>(null);
  const view = useRowWindow(box, count);

  return (
    <section class="table">
      <header>
        <h2>{name}</h2>
        {props.children}
        <CopyButtons name={name} table={table} rows={rows} />
      </header>
      <div
        ref={box}
        class={`scroll${count > kAllRows ? " long" : ""}${props.wraps ? " wraps" : ""}`}
        tabIndex={0}
        role="group"
        aria-label={`${name}, scrollable`}
      >
        <table aria-label={name} aria-rowcount={count + 1}>
          <thead>
            <tr aria-rowindex={1}>
              {table.columns.map((column) => (
                <Heading key={column.key} column={column} sort={sort} onPress={() => press(column)} />
              ))}
            </tr>
          </thead>
          <Spacer rows={view.first} columns={table.columns.length} />
          <tbody>
            {Array.from({ length: view.end - view.first }, (_, i) => view.first + i).map((at) =>
              at < rows.length ? (
                <Row key={rows[at]} table={table} row={rows[at]!} index={at + 2} hasHue={props.hasHues === true} />
              ) : (
                <FoldedRow key="folded" table={table} index={at + 2} />
              ),
            )}
          </tbody>
          <Spacer rows={count - view.end} columns={table.columns.length} />
        </table>
      </div>
      {count > kPrintedRows && (
        <p class="printed">
          The first <Figure value={kPrintedRows} unit="number" /> of <Figure value={count} unit="number" /> rows.
        </p>
      )}
      {rows.length === 0 && filter !== "" && <p class="empty">No row matches the filter.</p>}
    </section>
  );
}

export function useRowWindow(box: { current: HTMLDivElement | null }, count: number) {
  const view = useView(box, box);
  const isPrinting = useIsPrinting();
  if (isPrinting) return { first: 0, end: Math.min(count, kPrintedRows) };
  return rowWindow(count, kRowHeight, view.scrollTop, view.height || kFirstHeight);
}

function useIsPrinting(): boolean {
  const [isPrinting, setIsPrinting] = useState(false);
  useEffect(() => {
    const begin = () => setIsPrinting(true);
    const end = () => setIsPrinting(false);
    window.addEventListener("beforeprint", begin);
    window.addEventListener("afterprint", end);
    return () => {
      window.removeEventListener("beforeprint", begin);
      window.removeEventListener("afterprint", end);
    };
  }, []);
  return isPrinting;
}

// The button lies over the text, which stays when the button is gone: in print.
function Heading(props: { column: Column; sort: Sort | null; onPress: () => void }) {
  const { column, sort } = props;
  const isSorted = sort?.key === column.key;
  return (
    <th
      scope="col"
      class={column.unit === "text" ? "text" : "figure"}
      data-column={column.key}
      aria-sort={isSorted ? (sort.falling ? "descending" : "ascending") : undefined}
    >
      <span class="heading" aria-hidden="true">
        {column.title}
        <span class="order">{isSorted ? (sort.falling ? "▾" : "▴") : ""}</span>
      </span>
      <button type="button" aria-label={column.title} title={column.documentation.replaceAll("`", "") || undefined} onClick={props.onPress} />
    </th>
  );
}

export function Spacer(props: { rows: number; columns: number }) {
  if (props.rows <= 0) return null;
  return (
    <tbody aria-hidden="true" class="spacer">
      <tr>
        <td colSpan={props.columns} height={props.rows * kRowHeight} />
      </tr>
    </tbody>
  );
}

function Row(props: { table: Table; row: number; index: number; hasHue: boolean }) {
  const { table, row } = props;
  const range = table.ranges[row] ?? null;
  const rank = table.timelineRanks[row] ?? null;
  const linked = (at: number, content: ComponentChildren) =>
    at !== table.linkColumn || (range === null && rank === null) ? content : (
      <TimelineLink range={range} rank={rank}>
        {content}
      </TimelineLink>
    );
  return (
    <tr aria-rowindex={props.index}>
      {table.columns.map((column, at) => {
        const value = column.values[row] ?? null;
        const { exact, text } = format(value, column.unit);
        if (column.unit !== "text") {
          const error = column.errors?.[row] ?? 0;
          const since = sinceBegin(column, value);
          const title = since === null ? undefined : `${format(since, "time").text} since the begin of the trace`;
          return (
            <td key={column.key} class={`figure unit-${column.unit}`} data-value={exact} data-error={error > 0 ? error : undefined} title={title}>
              {error > 0 && "≈ "}
              {linked(at, <AlignedNumber text={text} unit={column.unit} />)}
            </td>
          );
        }
        if (kPaths.has(column.key)) {
          return (
            <td key={column.key} class="text path" data-value={exact} title={text.length > 40 ? text : undefined}>
              <bdi dir="ltr">{text}</bdi>
            </td>
          );
        }
        const isName = at === table.nameColumn;
        return (
          <td key={column.key} class={`text${isName ? " name" : ""}${column.key === "message" ? " message" : ""}`} data-value={exact} title={text.length > 40 ? text : undefined}>
            {isName && props.hasHue && <i class={`hue hue-${hueOf(exact)}`} aria-hidden="true" />}
            {linked(at, text)}
          </td>
        );
      })}
    </tr>
  );
}

function FoldedRow(props: { table: Table; index: number }) {
  const { table } = props;
  return (
    <tr class="folded" aria-rowindex={props.index} data-folded={table.folded?.rows}>
      {table.columns.map((column) => {
        const { exact, text } = format(foldedValue(table, column), column.unit);
        return (
          <td key={column.key} class={column.unit === "text" ? "text" : `figure unit-${column.unit}`} data-value={exact}>
            <AlignedNumber text={text} unit={column.unit} />
          </td>
        );
      })}
    </tr>
  );
}
