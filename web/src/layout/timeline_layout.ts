// Where tracks and spans of the timeline lie, in CSS pixels; what a wheel, a key or a drag makes of the visible range.
//
// Nothing here depends on how many spans the trace has: a row is searched, not walked, so that a picture of a million
// spans costs as much as one of a thousand.
// SPDX-License-Identifier: Apache-2.0
import type { Range } from "../model/address.ts";
import { timeText } from "../model/numbers.ts";
import { partitionPoint } from "../model/search.ts";
import type { RowIndex, Spans } from "../model/spans.ts";
import type { Piece } from "../model/window_cache.ts";

export const kRow = 18;
// Space below a track.
export const kGap = 8;
// Height of the scale of time above the tracks.
export const kScale = 26;

export interface TrackPlace {
  track: number;
  // From the top of all tracks.
  top: number;
  height: number;
}

// `markRows`: by track the number of lines below its spans, for ranges and points. `rank`: the others' tracks have no
// place; null: all have one.
export function placeTracks(spans: Spans, markRows?: Int32Array, rank: number | null = null): TrackPlace[] {
  const places: TrackPlace[] = [];
  let top = 0;
  spans.tracks.forEach((data, track) => {
    if (rank !== null && data.rank !== rank) return;
    const height = (spans.firstRow[track + 1]! - spans.firstRow[track]! + (markRows?.[track] ?? 0)) * kRow + kGap;
    places.push({ track, top, height });
    top += height;
  });
  return places;
}

// The place of a track; undefined: it has none.
export function placeOfTrack(places: readonly TrackPlace[], track: number): TrackPlace | undefined {
  const place = places[partitionPoint(0, places.length, (at) => places[at]!.track < track)];
  return place?.track === track ? place : undefined;
}

// The ranks that have tracks, ascending; none where all tracks are of one.
export function ranksOf(spans: Spans): number[] {
  const ranks = [...new Set(spans.tracks.map(({ rank }) => rank).filter((rank) => rank >= 0))].sort((a, b) => a - b);
  return ranks.length > 1 ? ranks : [];
}

// The visible range of a track, divided: pieces that lie in it, ordered by begin, and `base` between them. A span that
// lies in several is drawn in each, clipped to it.
export function layersOf(base: Spans, pieces: readonly Piece[], range: Range): Piece[] {
  const layers: Piece[] = [];
  let at = range.start;
  for (const piece of pieces) {
    if (piece.range.start > at) layers.push({ spans: base, range: { start: at, end: piece.range.start } });
    layers.push(piece);
    at = piece.range.end;
  }
  if (at < range.end) layers.push({ spans: base, range: { start: at, end: range.end } });
  return layers;
}

// Counters are below the tracks, one below the other.
export const kCounter = 44;

export interface CounterPlace {
  counter: number;
  top: number;
}

// `groups`: the processes whose counters are shown; null: all.
export function placeCounters(spans: Spans, below: number, groups: ReadonlySet<string> | null = null): CounterPlace[] {
  const shown = spans.counters.map((_, counter) => counter).filter((counter) => groups === null || groups.has(spans.counters[counter]!.group));
  return shown.map((counter, at) => ({ counter, top: below + at * kCounter }));
}

// The number of the value that holds at `time`; -1: before the first.
export function valueAt(times: Float64Array, time: number): number {
  return partitionPoint(0, times.length, (at) => times[at]! <= time) - 1;
}

// The least and greatest value in each pixel column that has some, as [x, least, greatest].
export function counterShape(times: Float64Array, values: readonly number[], range: Range, width: number): [number, number, number][] {
  const shape: [number, number, number][] = [];
  const scale = width / (range.end - range.start);
  for (let at = Math.max(0, valueAt(times, range.start)); at < times.length && times[at]! < range.end; ++at) {
    const x = Math.max(0, Math.floor((times[at]! - range.start) * scale));
    const value = values[at]!;
    const last = shape[shape.length - 1];
    if (last?.[0] === x) {
      last[1] = Math.min(last[1], value);
      last[2] = Math.max(last[2], value);
    } else {
      shape.push([x, value, value]);
    }
  }
  return shape;
}

// The shortest range that a double can tell from a point anywhere in [0, length]: 1 ns up to 2^53 ns (104 days).
export function shortestRange(length: number): number {
  return 2 ** Math.max(0, Math.floor(Math.log2(length)) - 52);
}

// The range moved and shortened until it lies in [0, length] and is at least 1 ns long, or shortestRange.
export function clampRange(range: Range, length: number): Range {
  const size = Math.min(length, Math.max(shortestRange(length), range.end - range.start));
  const start = Math.min(length - size, Math.max(0, range.start));
  return { start, end: start + size };
}

// `factor` 2 shows half of the range; the time `about` stays where it is.
export function zoomRange(range: Range, factor: number, about: number, length: number): Range {
  const size = Math.max(1, Math.round((range.end - range.start) / factor));
  const share = (about - range.start) / (range.end - range.start);
  const start = Math.round(about - share * size);
  return clampRange({ start, end: start + size }, length);
}

export function panRange(range: Range, by: number, length: number): Range {
  const start = range.start + Math.round(by);
  return clampRange({ start, end: start + (range.end - range.start) }, length);
}

// The range in which [start, end) is visible: the same one if it is already, else one of the same length around it.
export function rangeWith(range: Range, start: number, end: number, length: number): Range {
  if (start >= range.start && end <= range.end) return range;
  const size = Math.max(range.end - range.start, (end - start) * 1.5);
  const middle = (start + end) / 2;
  return clampRange({ start: Math.round(middle - size / 2), end: Math.round(middle + size / 2) }, length);
}

// Calls `draw` with the spans of a row that are visible. Spans of less than a pixel are joined: of those that begin in
// one pixel the first is drawn, and the search goes on behind that pixel, so a row costs O(pixels * log spans).
export function forVisible(
  rows: RowIndex,
  row: number,
  start: Float64Array,
  duration: Float64Array,
  range: Range,
  width: number,
  draw: (span: number, left: number, width: number) => void,
): void {
  const scale = width / (range.end - range.start);
  const last = rows.first[row + 1]!;
  let at = Math.max(rows.first[row]!, firstFrom(rows.order, start, rows.first[row]!, last, range.start) - 1);
  while (at < last) {
    const span = rows.order[at]!;
    const begin = start[span]!;
    if (begin >= range.end) return;
    const left = (begin - range.start) * scale;
    const length = duration[span]! * scale;
    if (left + length >= 0) draw(span, left, length);
    ++at;
    if (length >= 1 || left < 0) continue;
    // Only the last one that begins in the pixel can reach beyond it.
    const next = firstFrom(rows.order, start, at, last, range.start + (Math.floor(left) + 1) / scale);
    at = next > at && duration[rows.order[next - 1]!]! * scale >= 1 ? next - 1 : next;
  }
}

// The first position in order[low, high) whose span begins at `time` or later.
function firstFrom(order: Int32Array, start: Float64Array, low: number, high: number, time: number): number {
  return partitionPoint(low, high, (at) => start[order[at]!]! < time);
}

// The span of a row at a time, or the nearest one within `reach` ns; -1: none. Of several the last one to begin.
export function spanAt(spans: Spans, row: number, time: number, reach: number): number {
  const { first, order } = spans.rows;
  const behind = partitionPoint(first[row]!, first[row + 1]!, (at) => spans.start[order[at]!]! <= time);
  let found = -1;
  let least = Infinity;
  // The next one to begin, and the last ones that have begun.
  for (let at = Math.min(behind, first[row + 1]! - 1); at >= Math.max(first[row]!, behind - 3); --at) {
    const [start, length] = [spans.start[order[at]!]!, spans.duration[order[at]!]!];
    const distance = Math.max(0, start - time, time - start - length);
    if (distance <= reach && distance < least) [found, least] = [order[at]!, distance];
  }
  return found;
}

// Round times for the scale, `spacing` pixels apart or more.
export function ticksOf(range: Range, width: number, spacing = 110): number[] {
  const least = ((range.end - range.start) * spacing) / Math.max(1, width);
  const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
  const step = Math.max(1, [1, 2, 5, 10].map((digit) => digit * power).find((size) => size >= least) ?? power);
  const ticks: number[] = [];
  // Beyond 2^53 ns a step may be too small to change the time.
  for (let time = Math.ceil(range.start / step) * step; time <= range.end && time !== ticks[ticks.length - 1]; time += step) ticks.push(time);
  return ticks;
}

// The texts of the ticks, with as many digits as tell neighbours apart: "5.00001 s", "5.00002 s".
export function tickTexts(ticks: readonly number[]): string[] {
  return ticks.map((time) => timeText(time, ticks.length > 1 ? ticks[1]! - ticks[0]! : Infinity));
}
