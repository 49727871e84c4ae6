// Where the page finds spans. The timeline, Search, Selection and Details ask a `SpanSource` and do not know which one:
// the one of a report knows the spans of its document (document_source.ts), the one of `opscope view` asks the server,
// which knows all of them (server_source.ts).
//
// Answers may come late: who asks drops those whose question no longer counts (latest.ts). A promise that fails gives a
// DocumentError, whose message is a sentence for the reader.
// SPDX-License-Identifier: Apache-2.0
import type { Range, SpanKey } from "./address.ts";
import type { Spans } from "./spans.ts";
import type { Piece } from "./window_cache.ts";

// A span, with what a picture needs.
export interface FoundSpan {
  key: SpanKey;
  // Index in the source's tracks.
  track: number;
  // Row within the track.
  depth: number;
  name: string;
  // Without its children; undefined: who found it did not say.
  selfTime?: number;
}

// In the order of their numbers in the document.
export const kFlowKinds = ["launch", "fwdbwd", "async", "other"] as const;
export type FlowKind = (typeof kFlowKinds)[number];

export interface SpanLink {
  kind: FlowKind;
  // The flow leads from the span to `span`.
  isOut: boolean;
  span: FoundSpan;
}

export interface SpanArgument {
  key: string;
  // The text itself, or the JSON of any other value.
  value: string;
}

export interface SpanDetails extends FoundSpan {
  category: string;
  selfTime: number;
  arguments: SpanArgument[];
  // Frames, a line each, outermost first; "": none.
  stack: string;
  links: SpanLink[];
  // The source does not know the arguments of some spans.
  mayLackArguments: boolean;
}

export type Relative = "parent" | "firstChild" | "previous" | "next";

// A number, and by how much it may be wrong; 0: it is exact.
export interface Figure {
  value: number | bigint;
  error: number;
}

export interface SelectedName {
  name: string;
  count: Figure;
  total: Figure;
  self: Figure;
}

export interface SelectedRange {
  rows: SelectedName[];
  // Sums of the rows that are not listed; null: all are.
  folded: { rows: number; count: number | bigint; total: number | bigint; self: number | bigint } | null;
  // Spans that may lie in the range under names that are not listed.
  leftOut: number;
}

// Parts of the timeline that the document lacks.
export interface TimelineDetail {
  // Fetches what `tracks` (numbers) lack in the range at ns per pixel; true: something has come.
  fetch(range: Range, pixel: number, tracks: readonly number[], signal: AbortSignal): Promise<boolean>;
  // What is there, by begin; the document has the rest of the range.
  pieces(track: number, range: Range, pixel: number): Piece[];
}

export interface SpanSource {
  // The spans of the document, on all tracks that the source has.
  load(): Promise<Spans>;
  // The span with a key; null: there is none.
  find(key: SpanKey): Promise<FoundSpan | null>;
  // null: there is none.
  details(key: SpanKey): Promise<SpanDetails | null>;
  // null: it has none.
  relative(key: SpanKey, relative: Relative): Promise<SpanKey | null>;
  // How many spans have a name that contains the text, ignoring case; 0 without a text.
  count(text: string, signal: AbortSignal): Promise<Figure>;
  // The match after (`step` 1) or before (`step` -1) a span, which wraps around at the ends; without a span the first or
  // the last. null: nothing matches.
  adjacent(text: string, from: SpanKey | null, step: 1 | -1): Promise<SpanKey | null>;
  select(range: Range, signal: AbortSignal): Promise<SelectedRange>;
  // Spans that the timeline never shows, but for blocks.
  readonly leftOut: number;
  // null: there is no more than the document has.
  readonly detail: TimelineDetail | null;
}
