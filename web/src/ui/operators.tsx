// The tab Operators.
// SPDX-License-Identifier: Apache-2.0
import type { WebDocument } from "../model/document.ts";

// Why the tab has no data; "": it has.
export function operatorsEmpty(_document: WebDocument): string {
  return "";
}

export function Operators() {
  return <h2>Operators</h2>;
}
