// Parts of the timeline that a server has sent: each has some tracks in a range of time, in the detail of a width of
// pixel. For a picture, `pieces` says from which of them each part of a track's visible range is drawn:
//
//   visible [0, 100), pixel 1      window a [0, 60) pixel 1      window b [40, 200) pixel 4
//   pieces: a [0, 60), b [60, 100)
//
// Of the windows that are fine enough the newest is used, not the finest. Parts that no window covers are drawn from the
// document. The oldest windows are dropped when all together hold more than a number of bytes.
// SPDX-License-Identifier: Apache-2.0
import type { Range } from "./address.ts";
import type { Spans } from "./spans.ts";

export interface TimelineWindow {
  range: Range;
  // ns per pixel of the request. The server may have taken wider ones: asking again would give the same.
  pixel: number;
  // Numbers of tracks.
  tracks: ReadonlySet<number>;
  spans: Spans;
  // About how much memory it holds.
  bytes: number;
}

export interface Piece {
  spans: Spans;
  range: Range;
}

// A window whose pixels are wider than this many times those of the picture is not shown: the document has more detail.
const kCoarsest = 8;
// Widths of pixels that differ by less than this factor are equal: the difference is from rounding.
const kSlack = 1.001;

export class WindowCache {
  readonly #maxBytes: number;
  // The last used one last.
  #windows: TimelineWindow[] = [];
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#windows.length;
  }

  // The newest window stays, however large it is.
  add(window: TimelineWindow): void {
    this.#windows.push(window);
    this.#bytes += window.bytes;
    while (this.#bytes > this.#maxBytes && this.#windows.length > 1) this.#bytes -= this.#windows.shift()!.bytes;
  }

  clear(): void {
    this.#windows = [];
    this.#bytes = 0;
  }

  // Whether all of the range is there in this detail.
  covers(track: number, range: Range, pixel: number): boolean {
    return this.#parts(track, range, pixel, 1).every((part) => part.window !== null);
  }

  // The parts of the range that a window has, by begin.
  pieces(track: number, range: Range, pixel: number): Piece[] {
    const used = new Set<TimelineWindow>();
    const pieces: Piece[] = [];
    for (const { window, start, end } of this.#parts(track, range, pixel, kCoarsest)) {
      if (window === null) continue;
      used.add(window);
      pieces.push({ spans: window.spans, range: { start, end } });
    }
    if (used.size > 0) this.#windows.sort((a, b) => Number(used.has(a)) - Number(used.has(b)));
    return pieces.sort((a, b) => a.range.start - b.range.start);
  }

  // Divides the range among windows; null: no window has this part.
  #parts(track: number, range: Range, pixel: number, coarsest: number): { window: TimelineWindow | null; start: number; end: number }[] {
    const usable = this.#windows.filter((window) => window.tracks.has(track) && window.pixel <= pixel * coarsest * kSlack);
    const isFine = (window: TimelineWindow) => window.pixel <= pixel * kSlack;
    // Newest first, those that are fine enough before the others, and these by detail.
    const ordered = usable.reverse().sort((a, b) => (isFine(a) && isFine(b) ? 0 : a.pixel - b.pixel));
    const parts: { window: TimelineWindow | null; start: number; end: number }[] = [];
    let rest: Range[] = [range];
    for (const window of ordered) {
      const left: Range[] = [];
      for (const part of rest) {
        const start = Math.max(part.start, window.range.start);
        const end = Math.min(part.end, window.range.end);
        if (start >= end) {
          left.push(part);
          continue;
        }
        parts.push({ window, start, end });
        if (part.start < start) left.push({ start: part.start, end: start });
        if (end < part.end) left.push({ start: end, end: part.end });
      }
      rest = left;
      if (rest.length === 0) break;
    }
    return [...parts, ...rest.map(({ start, end }) => ({ window: null, start, end }))];
  }
}
