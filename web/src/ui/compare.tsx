// The tab Compare.
// SPDX-License-Identifier: Apache-2.0
import type { WebDocument } from "../model/document.ts";

// Why the tab has no data; "": it has.
export function compareEmpty(_document: WebDocument): string {
  return "";
}

export function Compare() {
  return <h2>Compare</h2>;
}
