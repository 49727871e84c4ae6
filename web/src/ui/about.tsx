// The tab About.
// SPDX-License-Identifier: Apache-2.0
import type { WebDocument } from "../model/document.ts";

// Why the tab has no data; "": it has.
export function aboutEmpty(_document: WebDocument): string {
  return "";
}

export function About() {
  return <h2>About</h2>;
}
