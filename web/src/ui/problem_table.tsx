// A table of problems. In a narrow window the sentences come right after the kinds, then the other columns.
// SPDX-License-Identifier: Apache-2.0
import type { TableName } from "../model/document.ts";
import { DocumentTable } from "./document_table.tsx";
import { usePage } from "./page_context.ts";
import { useIsNarrow } from "./use_is_narrow.ts";

const kFirst = ["kind", "message"];

export function ProblemTable({ name, table }: { name: string; table: TableName }) {
  const keys = (usePage().document.tables[table]?.columns ?? []).map(({ key }) => key);
  const isNarrow = useIsNarrow();
  if (!isNarrow) return <DocumentTable key="wide" name={name} table={table} wraps />;
  return <DocumentTable key="narrow" name={name} table={table} keys={[...kFirst, ...keys.filter((key) => !kFirst.includes(key))]} wraps />;
}
