// The tab Flame graph.
// SPDX-License-Identifier: Apache-2.0
import type { WebDocument } from "../model/document.ts";

// Why the tab has no data; "": it has.
export function flameEmpty(_document: WebDocument): string {
  return "";
}

export function FlameGraph() {
  return <h2>Flame graph</h2>;
}
