// Pictures and ranges of the timeline, beside their definitions.
// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { clampRange, counterShape, forVisible, layersOf, placeCounters, placeOfTrack, placeTracks, rangeWith, ranksOf, spanAt, tickTexts, ticksOf, valueAt, zoomRange } from "./timeline_layout.ts";
import { makeSpans, randomOf, randomSpans } from "../model/spans_for_test.ts";

describe("counters", () => {
  it("have in each pixel the least and greatest of the values that begin there, and the one that holds before", () => {
    for (let seed = 1; seed <= 100; ++seed) {
      const random = randomOf(seed);
      const times = Float64Array.from(Array.from({ length: 30 }, () => random(60)).sort((a, b) => a - b));
      const values = Array.from(times, () => random(9));
      const start = random(40);
      const range = { start, end: start + 1 + random(30) };
      const width = 1 + random(20);
      const scale = width / (range.end - range.start);
      const before = values.findLastIndex((_, at) => times[at]! <= range.start);
      expect(valueAt(times, range.start)).toBe(before);
      const seen = new Map<number, number[]>();
      values.forEach((value, at) => {
        if (at < before || times[at]! >= range.end) return;
        const x = Math.max(0, Math.floor((times[at]! - range.start) * scale));
        seen.set(x, [...(seen.get(x) ?? []), value]);
      });
      const expected = [...seen].map(([x, found]) => [x, Math.min(...found), Math.max(...found)]);
      expect(counterShape(times, values, range, width), `seed ${seed}`).toEqual(expected);
    }
  });
});

describe("the visible range", () => {
  it("never leaves the trace and is at least 1 ns long, whatever is zoomed", () => {
    const random = randomOf(7);
    let range = { start: 0, end: 1000 };
    for (let turn = 0; turn < 2000; ++turn) {
      range = zoomRange(range, random(2) === 0 ? 2 : 0.5, range.start + random(1 + range.end - range.start), 1000);
      expect(range.start).toBeGreaterThanOrEqual(0);
      expect(range.end).toBeLessThanOrEqual(1000);
      expect(range.end - range.start).toBeGreaterThanOrEqual(1);
    }
  });

  it("keeps its middle within 1 ns when it is zoomed by 2", () => {
    const zoomed = zoomRange({ start: 100, end: 301 }, 2, 200.5, 1000);
    expect(Math.abs((zoomed.start + zoomed.end) / 2 - 200.5)).toBeLessThanOrEqual(1);
    expect(zoomed.end - zoomed.start).toBe(101);
  });

  it("moves to a span that is outside, and stays where the span is inside", () => {
    const range = { start: 10, end: 20 };
    expect(rangeWith(range, 12, 14, 100)).toBe(range);
    expect(rangeWith(range, 90, 95, 100)).toEqual({ start: 88, end: 98 });
    expect(clampRange({ start: -5, end: 500 }, 100)).toEqual({ start: 0, end: 100 });
  });

  it("has a length everywhere in a trace that is too long for doubles to count its ns", () => {
    const length = 1.7e18;
    let range = { start: 1.6e18, end: 1.6e18 + 1024 };
    for (let turn = 0; turn < 20; ++turn) range = zoomRange(range, 2, range.start, length);
    expect(range.end).toBeGreaterThan(range.start);
    expect(ticksOf(range, 1000).length).toBeLessThan(20);
    expect(zoomRange(range, 0.5, range.start, length).end).toBeGreaterThan(range.end);
    expect(clampRange({ start: length, end: length }, length)).toEqual({ start: length - 256, end: length });
  });

  it("shows each visible span of a pixel or more, and one for each pixel with shorter ones", () => {
    for (let seed = 1; seed <= 100; ++seed) {
      const spans = makeSpans(randomSpans(seed));
      const random = randomOf(seed);
      const start = random(20);
      const range = { start, end: start + 5 + random(20) };
      const width = 1 + random(60);
      for (let row = 0; row < spans.rows.first.length - 1; ++row) {
        const drawn: number[] = [];
        forVisible(spans.rows, row, spans.start, spans.duration, range, width, (span) => drawn.push(span));
        const scale = width / (range.end - range.start);
        const pixels = new Set(drawn.map((span) => Math.floor((spans.start[span]! - range.start) * scale)));
        for (const span of spans.rows.order.subarray(spans.rows.first[row], spans.rows.first[row + 1])) {
          const left = (spans.start[span]! - range.start) * scale;
          const isVisible = spans.start[span]! < range.end && spans.start[span]! >= range.start;
          if (isVisible && spans.duration[span]! * scale >= 1) expect(drawn, `seed ${seed}`).toContain(span);
          if (isVisible) expect(pixels.has(Math.floor(left)), `seed ${seed}`).toBe(true);
        }
      }
    }
  });

  it("finds the span under the pointer", () => {
    const spans = makeSpans([
      { track: 0, name: 0, start: 0, duration: 10, depth: 0 },
      { track: 0, name: 1, start: 20, duration: 0, depth: 0 },
    ]);
    expect([spanAt(spans, 0, 5, 0), spanAt(spans, 0, 15, 1), spanAt(spans, 0, 21, 2)]).toEqual([0, -1, 1]);
  });

  it("finds no neighbour of the span under the pointer, however near it is", () => {
    const spans = makeSpans([0, 10, 20, 40].map((start, name) => ({ track: 0, name, start, duration: 10, depth: 0 })));
    expect([1, 9, 11, 19, 33, 37, 52].map((time) => spanAt(spans, 0, time, 5))).toEqual([0, 0, 1, 1, 2, 3, 3]);
  });
});

describe("the scale of time", () => {
  it("has texts that differ, however small a part of the trace is visible", () => {
    for (const [start, end] of [[0, 10e9], [5e9, 5e9 + 1e6], [5e9, 5e9 + 20], [12_345e9 + 7, 12_345e9 + 900]] as const) {
      const texts = tickTexts(ticksOf({ start, end }, 1000));
      expect(texts.length).toBeGreaterThan(1);
      expect(new Set(texts).size).toBe(texts.length);
    }
    expect(tickTexts([5e9, 5e9 + 200_000])).toEqual(["5.0000 s", "5.0002 s"]);
    expect(tickTexts([0, 500_000, 1e6])).toEqual(["0 ns", "500.000 us", "1.000 ms"]);
    expect(tickTexts([7])).toEqual(["7 ns"]);
  });
});

describe("layersOf", () => {
  it("fills the range between pieces with the document, without overlap", () => {
    const [base, other] = [makeSpans([]), makeSpans([])];
    const piece = (start: number, end: number) => ({ spans: other, range: { start, end } });
    const layers = layersOf(base, [piece(10, 20), piece(20, 30), piece(60, 100)], { start: 0, end: 100 });
    expect(layers.map(({ spans, range }) => [spans === base, range.start, range.end])).toEqual([
      [true, 0, 10],
      [false, 10, 20],
      [false, 20, 30],
      [true, 30, 60],
      [false, 60, 100],
    ]);
    expect(layersOf(base, [], { start: 3, end: 5 })).toEqual([{ spans: base, range: { start: 3, end: 5 } }]);
  });
});

describe("tracks of one rank", () => {
  const made = makeSpans([0, 1, 2, 3].map((track) => ({ track, name: 0, start: 0, duration: 5, depth: track % 2 })));
  const spans = {
    ...made,
    tracks: made.tracks.map((track, at) => ({ ...track, rank: at >> 1, group: `p${at}` })),
    counters: ["p1", "p3", "p2"].map((group) => ({ title: "c", group, unit: "number" as const, times: new Float64Array(0), values: [] })),
  };

  it("stand below each other without gaps for the others", () => {
    const all = placeTracks(spans);
    const places = placeTracks(spans, undefined, 1);
    expect(all.map(({ track }) => track)).toEqual([0, 1, 2, 3]);
    expect(places.map(({ track }) => track)).toEqual([2, 3]);
    expect(places.map(({ top }) => top)).toEqual([0, all[2]!.height]);
    expect([placeOfTrack(places, 3), placeOfTrack(places, 1), placeOfTrack([], 0)]).toEqual([places[1], undefined, undefined]);
  });

  it("have the counters of their processes below them", () => {
    expect(placeCounters(spans, 100, new Set(["p2", "p3"])).map(({ counter, top }) => [counter, top])).toEqual([[1, 100], [2, 144]]);
    expect(placeCounters(spans, 100).length).toBe(3);
  });

  it("can be chosen where there is more than one rank", () => {
    expect(ranksOf(spans)).toEqual([0, 1]);
    expect(ranksOf(made)).toEqual([]);
  });
});
