// What the timeline shows beside spans: asynchronous ranges and points in time. They are not spans: counts of spans,
// Search and the table Selection leave them out. Both kinds are in one list, ranges first.
// SPDX-License-Identifier: Apache-2.0
import type { SpanKey } from "./address.ts";
import { decodeColumn, decodeIndices } from "./columns.ts";
import { type MarksData, Origin, type TrackData, type WebDocument } from "./document.ts";
import { getOrMake } from "./memo.ts";
import { indexRows, type RowIndex, tracksOfKey } from "./spans.ts";

export interface Marks {
  // Texts that `name`, `category`, `detail` and `json` are indices of.
  strings: readonly string[];
  tracks: readonly TrackData[];
  // By track: number of its first line in `rows`; one more at the end.
  firstRow: Int32Array;
  // Marks from this number on are points in time.
  firstPoint: number;
  track: Int32Array;
  // Line below the spans of the track.
  depth: Int32Array;
  start: Float64Array;
  // 0 for a point.
  duration: Float64Array;
  // Indices of texts. `detail`: the id of a range, the scope of a point; `json`: an object, or "".
  name: Int32Array;
  category: Int32Array;
  detail: Int32Array;
  json: Int32Array;
  rows: RowIndex;
  // Blocks of marks that are left out.
  folded: { start: Float64Array; duration: Float64Array; count: Float64Array; rows: RowIndex };
  foldedRanges: number;
  foldedPoints: number;
  leftOut: number;
}

const kLoaded = new WeakMap<readonly TrackData[], Promise<Marks>>();

// Decodes the columns once for each list of tracks: those of the document, or those of a source that has more of them.
export function loadMarks(document: WebDocument, tracks: readonly TrackData[] = document.timeline.tracks): Promise<Marks> {
  return getOrMake(kLoaded, tracks, () => decodeMarks(document, tracks));
}

async function decodeMarks(document: WebDocument, tracks: readonly TrackData[]): Promise<Marks> {
  const { ranges, instants, tracks: known } = document.timeline;
  // By track of the document: its number in `tracks`, found by its row in the trace.
  const numbers = new Map(tracks.map((each, at) => [each.track, at]));
  const numberOf = known.map((each) => numbers.get(each.track)!);
  const origin = new Origin(document.clock).start;
  const indices = async (pick: (data: MarksData) => MarksData["track"]) => {
    const [a, b] = await Promise.all([decodeIndices(pick(ranges)), decodeIndices(pick(instants))]);
    return Int32Array.from([...a, ...b]);
  };
  const values = async (pick: (data: MarksData) => MarksData["track"], less = 0n) => {
    const [a, b] = await Promise.all([decodeColumn(pick(ranges), less), decodeColumn(pick(instants), less)]);
    return Float64Array.from([...a, ...b]);
  };
  const firstRow = new Int32Array(tracks.length + 1);
  const lines = new Int32Array(tracks.length);
  known.forEach((each, at) => (lines[numberOf[at]!] = each.mark_rows));
  lines.forEach((count, at) => (firstRow[at + 1] = firstRow[at]! + count));
  const onTracks = (column: Int32Array) => column.map((each) => numberOf[each]!);
  const [ofDocument, depth, name, category] = await Promise.all([indices((d) => d.track), indices((d) => d.depth), indices((d) => d.name), indices((d) => d.category)]);
  const [detail, json, start, duration] = await Promise.all([indices((d) => d.detail), indices((d) => d.arguments), values((d) => d.start, origin), values((d) => d.duration)]);
  const [blockTrack, blockDepth] = await Promise.all([indices((d) => d.folded.track), indices((d) => d.folded.depth)]);
  const [blockStart, blockDuration, blockCount] = await Promise.all([values((d) => d.folded.start, origin), values((d) => d.folded.duration), values((d) => d.folded.counts)]);
  const track = onTracks(ofDocument);
  const rowsOf = (of: Int32Array, at: Int32Array) => of.map((each, i) => firstRow[each]! + at[i]!);
  const rowCount = firstRow[tracks.length]!;
  return {
    ...{ strings: document.strings, tracks, firstRow, track, depth, start, duration, name, category, detail, json },
    firstPoint: ranges.track.n,
    rows: indexRows(rowsOf(track, depth), start, rowCount),
    folded: { start: blockStart, duration: blockDuration, count: blockCount, rows: indexRows(rowsOf(onTracks(blockTrack), blockDepth), blockStart, rowCount) },
    foldedRanges: ranges.folded.count,
    foldedPoints: instants.folded.count,
    leftOut: ranges.left_out + instants.left_out,
  };
}

// How many marks lie wholly outside of [0, length], the range that the timeline can show.
export function countOutside(marks: Marks, length: number): number {
  return marks.start.reduce((count, start, mark) => count + (start > length || start + marks.duration[mark]! < 0 ? 1 : 0), 0);
}

export function markKey(marks: Marks, mark: number): SpanKey {
  return { track: marks.tracks[marks.track[mark]!]!.id, start: marks.start[mark]!, duration: marks.duration[mark]! };
}

// The first mark with this key; -1: no mark has it.
export function findMark(marks: Marks, key: SpanKey): number {
  for (const { at } of tracksOfKey(marks.tracks, key.track)) {
    const found = marks.start.findIndex((start, mark) => start === key.start && marks.duration[mark] === key.duration && marks.track[mark] === at);
    if (found >= 0) return found;
  }
  return -1;
}
