// The tab Modules: the modules of the program, the heaviest first.
// SPDX-License-Identifier: Apache-2.0
import { DocumentTable } from "./document_table.tsx";

export function Modules() {
  return <DocumentTable name="Modules" table="modules" keys={["name", "count", "total_ns", "self_ns"]} firstSort={{ key: "total_ns", falling: true }} hasHues />;
}
