// The tab Memory: what each device allocated, and which operators hold its peak.
// SPDX-License-Identifier: Apache-2.0
import type { WebDocument } from "../model/document.ts";
import { MemoryCharts } from "./charts/memory_charts.tsx";
import { PeakComposition } from "./charts/peak_composition.tsx";
import { DocumentTable, whyEmpty } from "./document_table.tsx";

// Why the tab has no data; "": it has.
export function memoryEmpty(document: WebDocument): string {
  const reason = whyEmpty(document, "memory_devices");
  const hasCurves = document.memory.curves.length > 0;
  return reason !== "" && !hasCurves && whyEmpty(document, "memory_rows") !== "" ? reason : "";
}

export function Memory() {
  return (
    <>
      <MemoryCharts />
      <PeakComposition />
      <DocumentTable name="Memory" table="memory_devices" />
      <DocumentTable name="Memory by operator" table="memory_rows" hasHues />
    </>
  );
}
