// The verdict on the data, visible on every tab: whether the numbers can be trusted, and why not.
// SPDX-License-Identifier: Apache-2.0
import { visibleText } from "../model/numbers.ts";
import { usePage } from "./page_context.ts";

export function DataQuality() {
  const { verdict, reasons } = usePage().document.quality;
  return (
    <div class="quality" role="status" aria-label="Data quality" data-verdict={verdict}>
      <strong>{verdict}</strong>
      {reasons.length > 0 && <span class="reasons">{reasons.map(visibleText).join(" ")}</span>}
    </div>
  );
}
