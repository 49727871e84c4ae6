// How many spans of the whole trace have a name that contains a text, ignoring case: the figure "Search results".
//
// The document has each name once, with its count, so that a search looks at thousands of names, not at millions of
// spans.
// SPDX-License-Identifier: Apache-2.0
import { decodeColumn, decodeIndices } from "./columns.ts";
import type { WebDocument } from "./document.ts";

export interface NameCounts {
  // In lower case, as `foldCase` makes it.
  names: string[];
  counts: Float64Array;
}

// Search and "Filter operators" compare texts in this form.
export function foldCase(text: string): string {
  return text.toLowerCase();
}

export async function decodeNames(document: WebDocument): Promise<NameCounts> {
  const { name, count } = document.timeline.names;
  const [indices, counts] = await Promise.all([decodeIndices(name), decodeColumn(count)]);
  return { names: Array.from(indices, (index) => foldCase(document.strings[index] ?? "")), counts };
}

// 0 without a text.
export function countMatches(names: NameCounts, query: string): number {
  const wanted = foldCase(query);
  if (wanted === "") return 0;
  let matches = 0;
  for (let i = 0; i < names.names.length; ++i) {
    if (names.names[i]!.includes(wanted)) matches += names.counts[i]!;
  }
  return matches;
}
