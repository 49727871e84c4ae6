// The finding of `advise` that memory grows, above the candidates that may explain it.
// SPDX-License-Identifier: Apache-2.0
import { visibleText } from "../../model/numbers.ts";
import { useTable } from "../document_table.tsx";

export function GrowthNote() {
  const findings = useTable("findings");
  const kinds = findings?.column("kind")?.values ?? [];
  const messages = findings?.column("message")?.values ?? [];
  const at = kinds.indexOf("memory_growth");
  if (at < 0 || typeof messages[at] !== "string") return null;
  return (
    <p class="finding" data-value={messages[at]}>
      {visibleText(messages[at])}
    </p>
  );
}
