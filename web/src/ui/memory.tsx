// The tab Memory: what each device allocated, its blocks, which operators hold its peak, and what may be a leak.
// SPDX-License-Identifier: Apache-2.0
import type { WebDocument } from "../model/document.ts";
import { GrowthNote } from "./charts/growth_note.tsx";
import { MemoryCharts } from "./charts/memory_charts.tsx";
import { MemoryMaps } from "./charts/memory_map.tsx";
import { PeakComposition } from "./charts/peak_composition.tsx";
import { DocumentTable, whyEmpty } from "./document_table.tsx";

// Why the tab has no data; "": it has.
export function memoryEmpty(document: WebDocument): string {
  const reason = whyEmpty(document, "memory_devices");
  const hasPictures = document.memory.curves.length > 0 || document.memory.blocks.length > 0;
  return reason !== "" && !hasPictures && whyEmpty(document, "memory_rows") !== "" ? reason : "";
}

export function Memory() {
  return (
    <>
      <MemoryCharts />
      <PeakComposition />
      <MemoryMaps />
      <DocumentTable name="Memory" table="memory_devices" />
      <DocumentTable name="Memory by operator" table="memory_rows" hasHues />
      <GrowthNote />
      <DocumentTable name="Leak candidates" table="leaks" keys={["name", "rank", "place", "bytes", "allocations", "steps", "stack"]} hasHues />
    </>
  );
}
