// The verdict on the data: whether the numbers can be trusted, and why not. It stays in view on every tab, however far the
// page is scrolled. Reasons that take more lines than there is room for end with an ellipsis; they have a tab stop, and are
// whole while they have the focus.
// SPDX-License-Identifier: Apache-2.0
import { visibleText } from "../model/numbers.ts";
import type { Table } from "../model/tables.ts";
import { useTable } from "./document_table.tsx";
import { usePage } from "./page_context.ts";

// The reasons as one line. Reasons with the same kind of problem are joined, followed by the sentence of that problem:
// "problem rank_missing (2 times), of rank 1, 3: ranks of the job have no file".
export function reasonsText(reasons: readonly string[], problems: readonly (Table | null)[]): string {
  const byKind = new Map<string, string>();
  for (const reason of reasons) {
    const [, problem = reason, tail = ""] = /^(problem \S+)(?: (.*))?$/s.exec(reason) ?? [];
    const before = byKind.get(problem);
    byKind.set(problem, before === undefined ? reason : tail === "" ? before : `${before}, ${tail}`);
  }
  const explained = [...byKind].map(([problem, reason]) => {
    const kind = /^problem (\S+)$/.exec(problem)?.[1];
    for (const table of kind === undefined ? [] : problems) {
      const row = table?.column("kind")?.values.indexOf(kind!) ?? -1;
      const message = row < 0 ? null : (table?.column("message")?.values[row] ?? null);
      if (message !== null) return `${reason}: ${message}`;
    }
    return reason;
  });
  return explained.map(visibleText).join("; ");
}

export function DataQuality() {
  const { verdict, reasons } = usePage().document.quality;
  const problems = [useTable("problems"), useTable("job_problems")];
  return (
    <div class="quality" role="status" aria-label="Data quality" data-verdict={verdict}>
      <strong>{verdict}</strong>
      {reasons.length > 0 && (
        <span class="reasons" tabIndex={0}>
          {reasonsText(reasons, problems)}
        </span>
      )}
    </div>
  );
}
