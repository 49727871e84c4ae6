// The verdict on the data: whether the numbers can be trusted, and why not. It stays in view on every tab, however far the
// page is scrolled; reasons that take more than three lines scroll, and have a tab stop for that.
// SPDX-License-Identifier: Apache-2.0
import { visibleText } from "../model/numbers.ts";
import type { Table } from "../model/tables.ts";
import { useTable } from "./document_table.tsx";
import { usePage } from "./page_context.ts";

// The reasons as one line. One that names a kind of problem is followed by the sentence of that problem.
export function reasonsText(reasons: readonly string[], problems: readonly (Table | null)[]): string {
  const explained = reasons.map((reason) => {
    const kind = /^problem (\S+)/.exec(reason)?.[1];
    if (kind === undefined) return reason;
    for (const table of problems) {
      const row = table?.column("kind")?.values.indexOf(kind) ?? -1;
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
