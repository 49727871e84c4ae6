// The tab Kernels: the work of devices by name.
// SPDX-License-Identifier: Apache-2.0
import type { WebDocument } from "../model/document.ts";
import { DocumentTable, whyEmpty } from "./document_table.tsx";

// Why the tab has no data; "": it has.
export function kernelsEmpty(document: WebDocument): string {
  return whyEmpty(document, "kernels");
}

export function Kernels() {
  return <DocumentTable name="Kernels" table="kernels" keys={["name", "count", "total_ns", "mean_ns"]} firstSort={{ key: "total_ns", falling: true }} hasHues />;
}
