// Where blocks of memory lie in a picture of time across and addresses up.
//
// Addresses of the heap and of mappings lie terabytes apart; drawn to scale, blocks would be lines too thin to see. So a
// gap between used addresses is shortened to at most 1/100 of the used bytes:
//
//   addresses  [a  b]                        [c d]     ->  heights  [a  b] [c d]
// SPDX-License-Identifier: Apache-2.0
import { partitionPoint } from "../model/search.ts";

// Used addresses without a gap, relative to the lowest one, and their height in the picture (bytes).
export interface Segment {
  first: number;
  end: number;
  height: number;
}

export interface AddressAxis {
  segments: Segment[];
  // Height of all segments and of the gaps between them.
  size: number;
}

export function placeAddresses(address: Float64Array, bytes: Float64Array): AddressAxis {
  const order = Array.from(address.keys()).sort((a, b) => address[a]! - address[b]!);
  const segments: Segment[] = [];
  for (const block of order) {
    const [first, end] = [address[block]!, address[block]! + bytes[block]!];
    const last = segments[segments.length - 1];
    if (last === undefined || first > last.end) segments.push({ first, end, height: 0 });
    else last.end = Math.max(last.end, end);
  }
  const used = segments.reduce((sum, { first, end }) => sum + end - first, 0);
  const widest = Math.max(1, used / 100);
  for (let at = 1; at < segments.length; ++at) {
    const before = segments[at - 1]!;
    segments[at]!.height = before.height + (before.end - before.first) + Math.min(segments[at]!.first - before.end, widest);
  }
  const top = segments[segments.length - 1];
  return { segments, size: top === undefined ? 0 : top.height + top.end - top.first };
}

function segmentBefore(axis: AddressAxis, is: (segment: Segment) => boolean): Segment | undefined {
  return axis.segments[Math.max(0, partitionPoint(0, axis.segments.length, (at) => is(axis.segments[at]!)) - 1)];
}

// The height of an address that is used, or of the end of a segment.
export function heightOf(axis: AddressAxis, address: number): number {
  const segment = segmentBefore(axis, ({ first }) => first <= address);
  return segment === undefined ? 0 : segment.height + address - segment.first;
}

// The address at a height; in a gap the end of the addresses below it.
export function addressAt(axis: AddressAxis, height: number): number {
  const segment = segmentBefore(axis, (each) => each.height <= height);
  return segment === undefined ? 0 : Math.min(segment.end, segment.first + Math.max(0, height - segment.height));
}

// The visible part: [start, end) in relative ns, [low, high) in heights.
export interface MapView {
  start: number;
  end: number;
  low: number;
  high: number;
}

export interface MapBlocks {
  start: Float64Array;
  duration: Float64Array;
  bytes: Float64Array;
  // By block: heightOf its address.
  height: Float64Array;
}

// All blocks, at least 1 ns and 1 byte large.
export function wholeView(blocks: MapBlocks, axis: AddressAxis): MapView {
  const view = { start: Infinity, end: -Infinity, low: 0, high: Math.max(1, axis.size) };
  for (let at = 0; at < blocks.start.length; ++at) {
    view.start = Math.min(view.start, blocks.start[at]!);
    view.end = Math.max(view.end, blocks.start[at]! + blocks.duration[at]!);
  }
  if (view.start > view.end) [view.start, view.end] = [0, 0];
  view.end = Math.max(view.end, view.start + 1);
  return view;
}

function zoomAxis(low: number, high: number, factor: number, share: number, least: number, most: number): [number, number] {
  const size = Math.min(most - least, Math.max(1, (high - low) / factor));
  const begin = Math.min(most - size, Math.max(least, low + share * (high - low - size)));
  return [begin, begin + size];
}

// `factor` 2 shows half of each axis; the point at the shares (0 to 1) of width and height from below stays.
export function zoomMap(view: MapView, whole: MapView, factor: number, across = 0.5, up = 0.5): MapView {
  const [start, end] = zoomAxis(view.start, view.end, factor, across, whole.start, whole.end);
  const [low, high] = zoomAxis(view.low, view.high, factor, up, whole.low, whole.high);
  return { start, end, low, high };
}

// Moves by shares of what is visible.
export function panMap(view: MapView, whole: MapView, across: number, up: number): MapView {
  const time = Math.min(whole.end - view.end, Math.max(whole.start - view.start, across * (view.end - view.start)));
  const rise = Math.min(whole.high - view.high, Math.max(whole.low - view.low, up * (view.high - view.low)));
  return { start: view.start + time, end: view.end + time, low: view.low + rise, high: view.high + rise };
}

// The view with a block in it; the same one if the block is visible in part.
export function viewWith(view: MapView, whole: MapView, blocks: MapBlocks, block: number): MapView {
  const [start, end] = [blocks.start[block]!, blocks.start[block]! + blocks.duration[block]!];
  const [low, high] = [blocks.height[block]!, blocks.height[block]! + blocks.bytes[block]!];
  if (start < view.end && end >= view.start && low < view.high && high > view.low) return view;
  const across = (start + end) / 2 - (view.start + view.end) / 2;
  const up = (low + high) / 2 - (view.low + view.high) / 2;
  return panMap(view, whole, across / (view.end - view.start), up / (view.high - view.low));
}

export interface MapRectangle {
  left: number;
  top: number;
  width: number;
  height: number;
}

// In CSS pixels, at least one pixel wide and high. Addresses grow upwards.
export function rectangleOf(blocks: MapBlocks, block: number, view: MapView, width: number, height: number): MapRectangle {
  const across = width / (view.end - view.start);
  const up = height / (view.high - view.low);
  const left = (blocks.start[block]! - view.start) * across;
  const top = height - (blocks.height[block]! + blocks.bytes[block]! - view.low) * up;
  return { left, top, width: Math.max(1, blocks.duration[block]! * across), height: Math.max(1, blocks.bytes[block]! * up) };
}

// Calls `draw` for the blocks that are visible.
export function forVisibleBlocks(blocks: MapBlocks, view: MapView, width: number, height: number, draw: (block: number, rectangle: MapRectangle) => void): void {
  for (let block = 0; block < blocks.start.length; ++block) {
    if (blocks.start[block]! > view.end || blocks.start[block]! + blocks.duration[block]! < view.start) continue;
    if (blocks.height[block]! > view.high || blocks.height[block]! + blocks.bytes[block]! < view.low) continue;
    draw(block, rectangleOf(blocks, block, view, width, height));
  }
}

// The block at a point of the picture, with a reach of two pixels: of several the smallest, which lies in front; -1: none.
export function blockAt(blocks: MapBlocks, view: MapView, width: number, height: number, x: number, y: number): number {
  const reach = 2;
  let found = -1;
  let least = Infinity;
  forVisibleBlocks(blocks, view, width, height, (block, rectangle) => {
    if (x < rectangle.left - reach || x > rectangle.left + rectangle.width + reach) return;
    if (y < rectangle.top - reach || y > rectangle.top + rectangle.height + reach) return;
    const isInside = x >= rectangle.left && x <= rectangle.left + rectangle.width && y >= rectangle.top && y <= rectangle.top + rectangle.height;
    const area = rectangle.width * rectangle.height + (isInside ? 0 : 1e12);
    if (area < least) [found, least] = [block, area];
  });
  return found;
}

// Sums of bytes by key, the largest first: what the legend shows.
export function largestKeys(keys: Int32Array, bytes: Float64Array, most: number): { key: number; bytes: number }[] {
  const sums = new Map<number, number>();
  for (let at = 0; at < keys.length; ++at) sums.set(keys[at]!, (sums.get(keys[at]!) ?? 0) + bytes[at]!);
  return [...sums].map(([key, sum]) => ({ key, bytes: sum })).sort((a, b) => b.bytes - a.bytes || a.key - b.key).slice(0, most);
}
