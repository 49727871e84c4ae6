// The kept spans whose name contains the text of Search, ordered by begin, track and order in the file.
// SPDX-License-Identifier: Apache-2.0
import type { SpanKey } from "./address.ts";
import type { WebDocument } from "./document.ts";
import { foldCase } from "./names.ts";
import { partitionPoint } from "./search.ts";
import { findSpan, keyOf, loadSpans, type Spans } from "./spans.ts";

// By name: 1 if it contains `query`, ignoring case.
export function matchingNames(strings: readonly string[], query: string): Uint8Array {
  const wanted = foldCase(query);
  return Uint8Array.from(strings, (text) => (wanted !== "" && foldCase(text).includes(wanted) ? 1 : 0));
}

// Numbers of the spans that match. Their numbers follow tracks, so that equal begins are in the order of tracks.
export function matchesOf(spans: Spans, strings: readonly string[], query: string): Int32Array {
  const isMatch = matchingNames(strings, query);
  const found: number[] = [];
  spans.name.forEach((name, span) => {
    if (isMatch[name] === 1) found.push(span);
  });
  return Int32Array.from(found).sort((a, b) => spans.start[a]! - spans.start[b]! || a - b);
}

const kLastMatches = new WeakMap<WebDocument, { query: string; matches: Int32Array }>();

// The match after (`step` 1) or before (`step` -1) the span `from`, which wraps around at the ends; without `from` the
// first or the last match. null: nothing matches.
export async function adjacentMatch(
  document: WebDocument,
  query: string,
  from: SpanKey | null,
  step: 1 | -1,
): Promise<SpanKey | null> {
  const spans = await loadSpans(document);
  let last = kLastMatches.get(document);
  if (last?.query !== query) {
    last = { query, matches: matchesOf(spans, document.strings, query) };
    kLastMatches.set(document, last);
  }
  const { matches } = last;
  if (matches.length === 0) return null;
  const current = from === null ? -1 : findSpan(spans, from);
  if (current < 0) return keyOf(spans, matches[step === 1 ? 0 : matches.length - 1]!);
  const isBefore = (span: number) => spans.start[span]! < spans.start[current]! || (spans.start[span] === spans.start[current] && span < current);
  const at = partitionPoint(0, matches.length, (match) => isBefore(matches[match]!));
  const next = step === -1 ? at - 1 : matches[at] === current ? at + 1 : at;
  return keyOf(spans, matches[(next + matches.length) % matches.length]!);
}
