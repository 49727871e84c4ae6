// The tab Compare: the difference to the baseline by name, the rows of `opscope diff`.
// SPDX-License-Identifier: Apache-2.0
import type { WebDocument } from "../model/document.ts";
import { DocumentTable, whyEmpty } from "./document_table.tsx";

// Why the tab has no data; "": it has.
export function compareEmpty(document: WebDocument): string {
  return whyEmpty(document, "compare");
}

export function Compare() {
  return <DocumentTable name="Compare" table="compare" hasHues />;
}
