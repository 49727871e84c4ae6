// The tab Timeline.
// SPDX-License-Identifier: Apache-2.0
import type { WebDocument } from "../model/document.ts";

// Why the tab has no data; "": it has.
export function timelineEmpty(_document: WebDocument): string {
  return "";
}

export function Timeline() {
  return <h2>Timeline</h2>;
}
