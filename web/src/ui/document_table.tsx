// A table of the document by its name there, or the sentence that says why it is empty.
// SPDX-License-Identifier: Apache-2.0
import { useMemo } from "preact/hooks";
import type { TableName, WebDocument } from "../model/document.ts";
import { visibleText } from "../model/numbers.ts";
import { readTable, type Table } from "../model/tables.ts";
import { DataTable, type DataTableProps } from "./data_table.tsx";
import { usePage } from "./page_context.ts";

// Why a table has no rows; "": it has some.
export function whyEmpty(document: WebDocument, key: TableName): string {
  const data = document.tables[key];
  if (data === undefined) return "This page has no data for it.";
  if ((data.values[0]?.length ?? 0) > 0 || data.folded !== null) return "";
  return data.why_empty === "" ? "The trace has no data for it." : visibleText(data.why_empty);
}

export function useTable(key: TableName): Table | null {
  const { document, origin } = usePage();
  const data = document.tables[key];
  return useMemo(() => (data === undefined ? null : readTable(data, document.strings, origin.start)), [data]);
}

interface DocumentTableProps extends Omit<DataTableProps, "table"> {
  table: TableName;
  // The columns to show, in this order; without them all.
  keys?: readonly string[];
  // Headings in place of those of the document.
  titles?: Readonly<Record<string, string>>;
  // Columns of texts that are all empty are left out.
  hidesEmpty?: boolean;
}

export function DocumentTable(props: DocumentTableProps) {
  const { document } = usePage();
  const table = useTable(props.table);
  const shown = useMemo(() => {
    const keyed = props.keys === undefined ? table : (table?.pick(props.keys) ?? null);
    const picked = props.hidesEmpty === true ? (keyed?.withoutEmpty() ?? null) : keyed;
    return props.titles === undefined ? picked : (picked?.titled(props.titles) ?? null);
  }, [table]);
  const reason = whyEmpty(document, props.table);
  if (shown === null || reason !== "") {
    return (
      <section class="table">
        <header>
          <h2>{props.name}</h2>
        </header>
        <p class="empty">{reason}</p>
      </section>
    );
  }
  return <DataTable {...props} table={shown} />;
}
