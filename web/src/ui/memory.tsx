// The tab Memory.
// SPDX-License-Identifier: Apache-2.0
import type { WebDocument } from "../model/document.ts";

// Why the tab has no data; "": it has.
export function memoryEmpty(_document: WebDocument): string {
  return "";
}

export function Memory() {
  return <h2>Memory</h2>;
}
