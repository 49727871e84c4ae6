// The tab Overview.
// SPDX-License-Identifier: Apache-2.0
import type { WebDocument } from "../model/document.ts";

// Why the tab has no data; "": it has.
export function overviewEmpty(_document: WebDocument): string {
  return "";
}

export function Overview() {
  return <h2>Overview</h2>;
}
