// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { makeSpans, randomOf } from "./spans_for_test.ts";
import { type TimelineWindow, WindowCache } from "./window_cache.ts";

function windowOf(start: number, end: number, pixel: number, tracks: number[], bytes = 10): TimelineWindow {
  return { range: { start, end }, pixel, tracks: new Set(tracks), spans: makeSpans([]), bytes };
}

describe("WindowCache", () => {
  it("draws each part from a window that is fine enough, else from the finest, as in the example", () => {
    const cache = new WindowCache(1000);
    const a = windowOf(0, 60, 1, [0]);
    const b = windowOf(40, 200, 4, [0]);
    cache.add(a);
    cache.add(b);
    expect(cache.pieces(0, { start: 0, end: 100 }, 1)).toEqual([
      { spans: a.spans, range: { start: 0, end: 60 } },
      { spans: b.spans, range: { start: 60, end: 100 } },
    ]);
    expect(cache.covers(0, { start: 0, end: 60 }, 1)).toBe(true);
    expect(cache.covers(0, { start: 0, end: 61 }, 1)).toBe(false);
    expect(cache.covers(0, { start: 0, end: 100 }, 4)).toBe(true);
    expect(cache.pieces(1, { start: 0, end: 100 }, 1)).toEqual([]);
    expect(cache.pieces(0, { start: 100, end: 200 }, 0.4)).toEqual([]);
  });

  it("never holds more bytes than its bound, and drops what was used least recently", () => {
    const cache = new WindowCache(100);
    const random = randomOf(3);
    for (let at = 0; at < 500; ++at) {
      cache.add(windowOf(at, at + 1 + random(9), 1, [0], 1 + random(40)));
      expect(cache.bytes).toBeLessThanOrEqual(100);
    }
    cache.clear();
    cache.add(windowOf(0, 10, 1, [0], 40));
    cache.add(windowOf(10, 20, 1, [0], 40));
    cache.pieces(0, { start: 0, end: 10 }, 1);
    cache.add(windowOf(20, 30, 1, [0], 40));
    expect([0, 10, 20].map((start) => cache.covers(0, { start, end: start + 10 }, 1))).toEqual([true, false, true]);
  });

  it("keeps the newest window even if it is larger than the bound", () => {
    const cache = new WindowCache(100);
    cache.add(windowOf(0, 10, 1, [0], 60));
    cache.add(windowOf(10, 20, 1, [0], 400));
    expect([cache.size, cache.bytes]).toEqual([1, 400]);
    cache.add(windowOf(20, 30, 1, [0], 5));
    expect([cache.size, cache.bytes]).toEqual([1, 5]);
  });

  it("divides a range without gaps and overlaps, on random windows", () => {
    for (let seed = 1; seed <= 200; ++seed) {
      const random = randomOf(seed);
      const cache = new WindowCache(1e9);
      const windows = Array.from({ length: 6 }, () => {
        const start = random(50);
        return windowOf(start, start + 1 + random(40), 1 + random(12), [random(2)]);
      });
      windows.forEach((window) => cache.add(window));
      const pieces = cache.pieces(0, { start: 10, end: 70 }, 1);
      for (let moment = 10; moment < 70; ++moment) {
        const covering = pieces.filter(({ range }) => range.start <= moment && moment < range.end);
        const usable = windows.filter(({ range, pixel, tracks }) => tracks.has(0) && pixel <= 8 && range.start <= moment && moment < range.end);
        expect(covering.length, `seed ${seed}`).toBe(Math.min(1, usable.length));
        const best = Math.min(...usable.map(({ pixel }) => pixel));
        if (covering.length > 0) expect(windows.find(({ spans }) => spans === covering[0]!.spans)!.pixel).toBe(best);
      }
    }
  });
});
