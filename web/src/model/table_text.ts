// A table as CSV and as text, for the clipboard.
//
// A spreadsheet runs a cell that begins with = + - or @ as a formula, and names come from traces. In CSV such a text gets
// an apostrophe in front. A text that begins with an apostrophe gets one too, so that a reader can take it off again.
// SPDX-License-Identifier: Apache-2.0
import { exactText, format, visibleText, type Value } from "./numbers.ts";
import type { Column, Table } from "./tables.ts";

// A spreadsheet may drop leading tabs and line ends, and some take the full-width signs for the plain ones.
const kFormula = /^['=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

function csvCell(value: Value): string {
  const text = typeof value === "string" && kFormula.test(value) ? `'${value}` : exactText(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

// The words of the row for all rows that are left out.
export function foldedName(rows: number): string {
  return `the other ${rows} rows`;
}

// A cell of the folded row. null: the column has no sum.
export function foldedValue(table: Table, column: Column): Value {
  if (table.folded === null) return null;
  if (table.columns[Math.max(0, table.nameColumn)] === column) return foldedName(table.folded.rows);
  return table.folded.sums.get(column.key) ?? null;
}

function* cells(table: Table, rows: Int32Array): Generator<Value[]> {
  for (const row of rows) yield table.columns.map((column) => column.values[row] ?? null);
  if (table.folded !== null) yield table.columns.map((column) => foldedValue(table, column));
}

// RFC 4180: the keys, then a line per row with exact values.
export function tableCsv(table: Table, rows: Int32Array): string {
  const lines = [table.columns.map((column) => column.key).join(",")];
  for (const line of cells(table, rows)) lines.push(line.map(csvCell).join(","));
  return lines.map((line) => `${line}\r\n`).join("");
}

// Aligned columns under their headings, as the page shows them.
export function tableText(table: Table, rows: Int32Array): string {
  const lines = [table.columns.map((column) => visibleText(column.title))];
  for (const line of cells(table, rows)) {
    lines.push(line.map((value, at) => format(value, table.columns[at]!.unit).text));
  }
  const widths = table.columns.map((_, at) => lines.reduce((width, line) => Math.max(width, line[at]!.length), 0));
  const align = (text: string, at: number) =>
    table.columns[at]!.unit === "text" ? text.padEnd(widths[at]!) : text.padStart(widths[at]!);
  return lines.map((line) => `${line.map(align).join("  ").trimEnd()}\n`).join("");
}
