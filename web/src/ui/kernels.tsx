// The tab Kernels: the work of devices by name.
// SPDX-License-Identifier: Apache-2.0
import { DocumentTable } from "./document_table.tsx";

export function Kernels() {
  return <DocumentTable name="Kernels" table="kernels" keys={["name", "count", "total_ns", "mean_ns"]} firstSort={{ key: "total_ns", falling: true }} hasHues />;
}
