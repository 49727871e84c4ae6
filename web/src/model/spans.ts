// The spans of the timeline as columns, with an index of the spans of each row.
//
// A row is one depth of one track: its spans begin one after the other, so a picture finds the first visible one by
// binary search. Times are relative ns (see Origin in document.ts). Spans are in the order of the document: track by
// track, within a track in pre-order. The same columns hold the spans of the document and those of a part of the
// timeline that a server has sent.
// SPDX-License-Identifier: Apache-2.0
import type { SpanKey } from "./address.ts";
import { decodeColumn, decodeIndices } from "./columns.ts";
import { Origin, type SpanColumns, type TimelineData, type TrackData, type WebDocument } from "./document.ts";
import { getOrMake } from "./memo.ts";
import { partitionPoint } from "./search.ts";
import type { FoundSpan } from "./span_source.ts";

// Spans or folded blocks, ordered by row and then by begin.
export interface RowIndex {
  // By row: where its spans begin in `order`; one more at the end.
  first: Int32Array;
  // Numbers of spans or blocks.
  order: Int32Array;
}

export interface Counter {
  title: string;
  group: string;
  unit: "bytes" | "number";
  // Ascending; each value holds until the next time.
  times: Float64Array;
  values: number[];
}

// Blocks that stand for spans that are left out.
export interface Blocks {
  track: Int32Array;
  depth: Int32Array;
  start: Float64Array;
  duration: Float64Array;
  count: Float64Array;
  rows: RowIndex;
}

export interface Spans {
  // Texts that `name` and `category` are indices of.
  strings: readonly string[];
  tracks: readonly TrackData[];
  // By track: number of its first row, and of its first span; one more at the end.
  firstRow: Int32Array;
  firstSpan: Int32Array;
  start: Float64Array;
  duration: Float64Array;
  // Duration less self time.
  covered: Float64Array;
  depth: Int32Array;
  name: Int32Array;
  category: Int32Array;
  // SpanKey.number of each span; null: unknown.
  numbers: Int32Array | null;
  rows: RowIndex;
  folded: Blocks;
  counters: Counter[];
}

const kLoaded = new WeakMap<WebDocument, Promise<Spans>>();

// Decodes the columns once for each document.
export function loadSpans(document: WebDocument): Promise<Spans> {
  return getOrMake(kLoaded, document, () => decodeSpans(document));
}

// Columns of spans and blocks, before their rows are known.
export interface SpanParts {
  strings: readonly string[];
  // By track of the page: how many spans it has here, one after the other.
  kept: readonly number[];
  start: Float64Array;
  duration: Float64Array;
  covered: Float64Array;
  depth: Int32Array;
  name: Int32Array;
  category: Int32Array;
  numbers: Int32Array | null;
  folded: Omit<Blocks, "rows">;
  counters: Counter[];
}

// Puts the parts onto tracks, whose `rows` say how high they are.
export function spansOn(tracks: readonly TrackData[], parts: SpanParts): Spans {
  const { kept, ...columns } = parts;
  const { start, depth, folded } = parts;
  const firstRow = new Int32Array(tracks.length + 1);
  const firstSpan = new Int32Array(tracks.length + 1);
  tracks.forEach((track, at) => {
    firstRow[at + 1] = firstRow[at]! + (track.spans === 0 ? 0 : Math.max(1, track.rows));
    firstSpan[at + 1] = firstSpan[at]! + kept[at]!;
  });
  const rowOfSpan = new Int32Array(start.length);
  for (let track = 0; track < tracks.length; ++track) {
    for (let span = firstSpan[track]!; span < firstSpan[track + 1]!; ++span) rowOfSpan[span] = firstRow[track]! + depth[span]!;
  }
  const rowOfBlock = folded.track.map((track, at) => firstRow[track]! + folded.depth[at]!);
  const rowCount = firstRow[tracks.length]!;
  return {
    ...columns,
    tracks,
    firstRow,
    firstSpan,
    rows: indexRows(rowOfSpan, start, rowCount),
    folded: { ...folded, rows: indexRows(rowOfBlock, folded.start, rowCount) },
  };
}

async function decodeSpans(document: WebDocument): Promise<Spans> {
  const { tracks, kept, folded } = document.timeline;
  const origin = new Origin(document.clock).start;
  const [columns, blocks] = await Promise.all([decodeKept(kept, origin), decodeBlocks(folded, origin)]);
  const counters = await Promise.all(
    document.timeline.counters.map(async ({ name: title, group, unit, times, values }) => ({
      title: document.strings[title] ?? "",
      group,
      unit,
      times: await decodeColumn(times, origin),
      values,
    })),
  );
  const numbers = Int32Array.from(columns.start, (_, span) => span);
  return spansOn(tracks, { ...columns, strings: document.strings, kept: tracks.map((track) => track.kept), numbers, folded: blocks, counters });
}

export async function decodeKept(kept: SpanColumns, origin: bigint) {
  const [start, duration, covered, depth, name, category] = await Promise.all([
    decodeColumn(kept.start, origin),
    decodeColumn(kept.duration),
    decodeColumn(kept.covered),
    decodeIndices(kept.depth),
    decodeIndices(kept.name),
    decodeIndices(kept.category),
  ]);
  return { start, duration, covered, depth, name, category };
}

export async function decodeBlocks(folded: TimelineData["folded"], origin: bigint): Promise<Omit<Blocks, "rows">> {
  const [track, depth, start, duration, count] = await Promise.all([
    decodeIndices(folded.track),
    decodeIndices(folded.depth),
    decodeColumn(folded.start, origin),
    decodeColumn(folded.duration),
    decodeColumn(folded.count),
  ]);
  return { track, depth, start, duration, count };
}

// O(n) if the begins of each row are in order already, as they are in pre-order.
export function indexRows(rowOf: Int32Array, start: Float64Array, rowCount: number): RowIndex {
  const first = new Int32Array(rowCount + 1);
  for (const row of rowOf) ++first[row + 1]!;
  for (let row = 0; row < rowCount; ++row) first[row + 1]! += first[row]!;
  const next = first.slice();
  const order = new Int32Array(rowOf.length);
  for (let span = 0; span < rowOf.length; ++span) order[next[rowOf[span]!]!++] = span;
  for (let row = 0; row < rowCount; ++row) {
    const part = order.subarray(first[row]!, first[row + 1]!);
    const isOrdered = part.every((span, at) => at === 0 || start[part[at - 1]!]! <= start[span]!);
    if (!isOrdered) part.sort((a, b) => start[a]! - start[b]! || a - b);
  }
  return { first, order };
}

// The track of a span.
export function trackOf(spans: Spans, span: number): number {
  return partitionPoint(0, spans.tracks.length, (track) => spans.firstSpan[track + 1]! <= span);
}

export function keyOf(spans: Spans, span: number): SpanKey {
  const key: SpanKey = { track: spans.tracks[trackOf(spans, span)]!.id, start: spans.start[span]!, duration: spans.duration[span]! };
  if (spans.numbers !== null) key.number = spans.numbers[span]!;
  return key;
}

export function foundSpan(spans: Spans, span: number): FoundSpan {
  return {
    key: keyOf(spans, span),
    track: trackOf(spans, span),
    depth: spans.depth[span]!,
    name: spans.strings[spans.name[span]!] ?? "",
    selfTime: spans.duration[span]! - spans.covered[span]!,
  };
}

// Whether the id is that of a further track with the PID/TID of a key: "1/2#2" is the second track of "1/2".
function isFurtherTrack(id: string, key: string): boolean {
  return id.startsWith(`${key}#`) && /^\d+$/.test(id.slice(key.length + 1));
}

// The tracks that a key may mean, the one with exactly this id first. Ids that are cut because they are very long may be
// equal.
export function tracksOfKey<Track extends { id: string }>(tracks: readonly Track[], key: string): { track: Track; at: number }[] {
  const all = tracks.map((track, at) => ({ track, at }));
  return [...all.filter(({ track }) => track.id === key), ...all.filter(({ track }) => isFurtherTrack(track.id, key))];
}

// The first span with this key; -1: none. Numbers are those of `spans.numbers`.
export function findSpan(spans: Spans, key: SpanKey): number {
  const isIt = (span: number) => spans.start[span] === key.start && spans.duration[span] === key.duration;
  const known = key.number === undefined || spans.numbers === null ? -1 : spans.numbers.indexOf(key.number);
  if (known >= 0 && isIt(known)) return known;
  for (const { at: track } of tracksOfKey(spans.tracks, key.track)) {
    for (let span = spans.firstSpan[track]!; span < spans.firstSpan[track + 1]!; ++span) {
      if (isIt(span)) return span;
    }
  }
  return -1;
}

// The nearest span around `span`; -1: none.
export function parentOf(spans: Spans, span: number): number {
  const track = trackOf(spans, span);
  const first = spans.firstSpan[track]!;
  if (span >= spans.firstSpan[track + 1]! - (spans.tracks[track]!.async ?? 0)) return -1;
  for (let before = span - 1; before >= first; --before) {
    if (spans.depth[before]! < spans.depth[span]!) {
      return spans.start[before]! + spans.duration[before]! >= spans.start[span]! ? before : -1;
    }
  }
  return -1;
}

// The first span directly inside `span`; -1: none.
export function firstChildOf(spans: Spans, span: number): number {
  const next = span + 1;
  const last = spans.firstSpan[trackOf(spans, span) + 1]!;
  return next < last && spans.depth[next]! > spans.depth[span]! && parentOf(spans, next) === span ? next : -1;
}

// The span before (`step` -1) or after (`step` 1) `span` on its track, in pre-order; -1: none.
export function neighbourOf(spans: Spans, span: number, step: 1 | -1): number {
  const track = trackOf(spans, span);
  const other = span + step;
  return other >= spans.firstSpan[track]! && other < spans.firstSpan[track + 1]! ? other : -1;
}
