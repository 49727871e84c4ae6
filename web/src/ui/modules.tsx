// The tab Modules: the modules of the program, the heaviest first.
// SPDX-License-Identifier: Apache-2.0
import type { WebDocument } from "../model/document.ts";
import { DocumentTable, whyEmpty } from "./document_table.tsx";

// Why the tab has no data; "": it has.
export function modulesEmpty(document: WebDocument): string {
  return whyEmpty(document, "modules");
}

export function Modules() {
  return <DocumentTable name="Modules" table="modules" keys={["name", "count", "total_ns", "self_ns"]} firstSort={{ key: "total_ns", falling: true }} hasHues />;
}
