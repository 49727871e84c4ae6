// A table of the document: rows of typed cells, their order and their filter. The rows stay where they are; an order is
// a list of row numbers, so that sorting a table of 100,000 rows moves integers only.
// SPDX-License-Identifier: Apache-2.0
import type { Sort } from "./address.ts";
import { type ColumnDescription, type Integer, isLate, type TableData, type Unit } from "./document.ts";
import { foldCase } from "./names.ts";
import { parseExact, parseNumber, type Value } from "./numbers.ts";

export interface Column {
  key: string;
  title: string;
  unit: Unit;
  documentation: string;
  values: Value[];
  // Set for a column of moments if the trace begins late on the clock of `values`: its begin.
  origin?: bigint;
  // By row: by how much the value may be wrong; 0: it is exact. Without them all are.
  errors?: readonly number[];
}

export interface Folded {
  // Number of rows that were left out.
  rows: number;
  // Their sums by key of the column.
  sums: ReadonlyMap<string, number | bigint>;
}

export class Table {
  readonly columns: Column[];
  readonly size: number;
  readonly folded: Folded | null;
  readonly ranges: ([Integer, Integer] | null)[];
  readonly timelineRanks: (number | null)[];
  // Number of the column that names a row: ties are ordered by it, and filters look at it.
  readonly nameColumn: number;
  // Number of the column whose cells lead to the timeline.
  readonly linkColumn: number;

  constructor(columns: Column[], folded: Folded | null = null, ranges: ([Integer, Integer] | null)[] = [], timelineRanks: (number | null)[] = []) {
    this.columns = columns;
    this.size = columns[0]?.values.length ?? 0;
    this.folded = folded;
    this.ranges = ranges;
    this.timelineRanks = timelineRanks;
    const named = columns.findIndex((column) => column.key === "name");
    this.nameColumn = named >= 0 ? named : columns.findIndex((column) => column.unit === "text");
    const ranked = timelineRanks.length === 0 || named >= 0 ? -1 : columns.findIndex((column) => column.key === "rank");
    this.linkColumn = ranked >= 0 ? ranked : this.nameColumn;
  }

  column(key: string): Column | undefined {
    return this.columns.find((column) => column.key === key);
  }

  name(row: number): string {
    const value = this.columns[this.nameColumn]?.values[row];
    return typeof value === "string" ? value : "";
  }

  // The rows whose name contains `filter`, ignoring case, in the order `sort`. Unknown values come last in both
  // directions. Ties are ordered by name, then as in the document.
  rows(sort: Sort | null, filter = ""): Int32Array {
    const wanted = foldCase(filter);
    const rows: number[] = [];
    for (let row = 0; row < this.size; ++row) {
      if (wanted === "" || foldCase(this.name(row)).includes(wanted)) rows.push(row);
    }
    const values = sort === null ? undefined : this.column(sort.key)?.values;
    if (sort !== null && values !== undefined) {
      const sign = sort.falling ? -1 : 1;
      rows.sort((a, b) => {
        const order = compareValues(values[a] ?? null, values[b] ?? null, sign);
        return order !== 0 ? order : compareTexts(this.name(a), this.name(b)) || a - b;
      });
    }
    return Int32Array.from(rows);
  }

  // The part of the table with these columns, in this order; columns that it lacks are left out.
  pick(keys: readonly string[]): Table {
    const columns = keys.map((key) => this.column(key)).filter((column) => column !== undefined);
    return new Table(columns, this.folded, this.ranges, this.timelineRanks);
  }

  // The table without columns of texts that are all empty.
  withoutEmpty(): Table {
    return this.pick(this.columns.filter(({ unit, values }) => unit !== "text" || values.some((value) => value !== "")).map(({ key }) => key));
  }

  // The table with other headings, by key.
  titled(titles: Readonly<Record<string, string>>): Table {
    const columns = this.columns.map((column) => ({ ...column, title: titles[column.key] ?? column.title }));
    return new Table(columns, this.folded, this.ranges, this.timelineRanks);
  }
}

// The order after a press of a column's button: numbers falling and names rising at first, then the other direction.
export function nextSort(column: Column, sort: Sort | null): Sort {
  if (sort?.key === column.key) return { key: column.key, falling: !sort.falling };
  return { key: column.key, falling: column.unit !== "text" };
}

function compareValues(a: Value, b: Value, sign: number): number {
  if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
  if (typeof a === "string" || typeof b === "string") return sign * compareTexts(String(a), String(b));
  return a === b ? 0 : a < b ? -sign : a > b ? sign : 0;
}

// By code points, as `opscope` sorts. UTF-16 differs from it only where one side has a surrogate.
export function compareTexts(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; ++i) {
    const left = a.charCodeAt(i);
    const right = b.charCodeAt(i);
    if (left === right) continue;
    if (left >= 0xd800 && right >= 0xd800) {
      const isLeftPair = left <= 0xdfff;
      const isRightPair = right <= 0xdfff;
      if (isLeftPair !== isRightPair) return isLeftPair ? 1 : -1;
    }
    return left - right;
  }
  return a.length - b.length;
}

// Columns of moments, not of lengths.
const kMoments: ReadonlySet<string> = new Set(["start_ns", "peak_ns"]);

// The time of a moment since the begin of the trace, as on the axis of the timeline. null: the cell has no moment, or
// the trace begins near 0.
export function sinceBegin(column: Pick<Column, "origin">, value: Value): number | null {
  const time = column.origin === undefined ? null : parseExact(value);
  return time === null ? null : Number(time - column.origin!);
}

// The table of the document with its texts and exact numbers. `origin`: the begin of the trace.
export function readTable(data: TableData, strings: readonly string[], origin?: bigint): Table {
  const taken = new Set(data.columns.map((column) => column.title));
  const columns = data.columns.map((description, at) => {
    const title = description.title === "" ? titleOf(description.key, taken) : headingOf(description.title);
    const column = readColumn({ ...description, title }, data.values[at] ?? [], strings);
    return origin !== undefined && isLate(origin) && kMoments.has(column.key) ? { ...column, origin } : column;
  });
  // What a row is about comes first, before numbers of ranks and devices.
  const named = columns.findIndex((column) => column.key === "name");
  if (named > 0 && columns[0]!.unit !== "text") columns.unshift(...columns.splice(named, 1));
  const folded =
    data.folded === null
      ? null
      : { rows: data.folded.rows, sums: new Map(Object.entries(data.folded.sums).map(([key, sum]) => [key, parseNumber(sum) ?? 0])) };
  return new Table(columns, folded, data.ranges ?? [], data.timeline_ranks ?? []);
}

function readColumn(
  description: ColumnDescription,
  values: readonly (Integer | boolean | null)[],
  strings: readonly string[],
): Column {
  const { key, title, unit, documentation } = description;
  const read = (value: Integer | boolean | null): Value => {
    if (unit === "text") return typeof value === "number" ? (strings[value] ?? null) : null;
    return typeof value === "boolean" ? value : parseNumber(value);
  };
  return { key, title, unit, documentation, values: values.map(read) };
}

// Words begin with a capital, symbols such as p stay.
function headingOf(title: string): string {
  return title.length > 1 ? title.charAt(0).toUpperCase() + title.slice(1) : title;
}

// A heading for a column without one: "total_with_recursion_ns" becomes "Total with recursion". Where another column has
// that heading, the unit follows in words: "peak_ns" becomes "Peak time" beside "Peak".
export function titleOf(key: string, taken: ReadonlySet<string> = new Set()): string {
  const title = (text: string) => text.charAt(0).toUpperCase() + text.slice(1).replaceAll("_", " ");
  const short = title(key.replace(/_(ns|bytes)$/, ""));
  return taken.has(short) ? title(key).replace(/ ns$/, " time") : short;
}
