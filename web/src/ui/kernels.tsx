// The tab Kernels.
// SPDX-License-Identifier: Apache-2.0
import type { WebDocument } from "../model/document.ts";

// Why the tab has no data; "": it has.
export function kernelsEmpty(_document: WebDocument): string {
  return "";
}

export function Kernels() {
  return <h2>Kernels</h2>;
}
