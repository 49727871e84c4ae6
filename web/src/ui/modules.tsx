// The tab Modules.
// SPDX-License-Identifier: Apache-2.0
import type { WebDocument } from "../model/document.ts";

// Why the tab has no data; "": it has.
export function modulesEmpty(_document: WebDocument): string {
  return "";
}

export function Modules() {
  return <h2>Modules</h2>;
}
