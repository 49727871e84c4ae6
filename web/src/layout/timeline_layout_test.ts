// Spans, selections and matches of the timeline, beside their definitions.
// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { clampRange, counterShape, forVisible, rangeWith, spanAt, valueAt, zoomRange } from "./timeline_layout.ts";
import type { TrackData } from "../model/document.ts";
import { matchesOf } from "../model/matches.ts";
import { selectRange } from "../model/selection.ts";
import { findSpan, firstChildOf, indexRows, keyOf, neighbourOf, parentOf, type Spans } from "../model/spans.ts";

type Made = { track: number; name: number; start: number; duration: number; depth: number };

function make(list: Made[]): Spans {
  const count = Math.max(1, ...list.map((span) => span.track + 1));
  const rows = Array.from({ length: count }, (_, track) => Math.max(1, ...list.filter((span) => span.track === track).map((span) => span.depth + 1)));
  const tracks = rows.map((height, track): TrackData => {
    const kept = list.filter((span) => span.track === track).length;
    return { id: `1/${track}`, title: `t${track}`, group: "p", kind: "thread", rank: -1, spans: kept, kept, rows: height, mark_rows: 0 };
  });
  const firstRow = Int32Array.from([0, ...rows.map((_, at) => rows.slice(0, at + 1).reduce((a, b) => a + b, 0))]);
  const firstSpan = Int32Array.from([0, ...tracks.map((_, at) => tracks.slice(0, at + 1).reduce((sum, each) => sum + each.kept, 0))]);
  const start = Float64Array.from(list, (span) => span.start);
  const rowOf = Int32Array.from(list, (span) => firstRow[span.track]! + span.depth);
  const none = new Float64Array(0);
  return {
    tracks,
    firstRow,
    firstSpan,
    start,
    duration: Float64Array.from(list, (span) => span.duration),
    covered: new Float64Array(list.length),
    depth: Int32Array.from(list, (span) => span.depth),
    name: Int32Array.from(list, (span) => span.name),
    category: new Int32Array(list.length),
    rows: indexRows(rowOf, start, firstRow[count]!),
    folded: { start: none, duration: none, count: none, rows: indexRows(new Int32Array(0), none, firstRow[count]!) },
    counters: [],
  };
}

// A generator of pseudo-random integers, the same in every run.
function randomOf(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >> 8) % below;
  };
}

// Nested spans of two tracks in pre-order, all names below 3.
function randomSpans(seed: number): Made[] {
  const random = randomOf(seed);
  const list: Made[] = [];
  const fill = (track: number, from: number, until: number, depth: number) => {
    let at = from + random(4);
    while (at < until && depth < 4) {
      const duration = Math.min(random(9), until - at);
      list.push({ track, name: random(3), start: at, duration, depth });
      fill(track, at, at + duration, depth + 1);
      at += duration + 1 + random(3);
    }
  };
  fill(0, 0, 40, 0);
  fill(1, 0, 40, 0);
  return list;
}

describe("selectRange", () => {
  it("gives outer 30 and 20, and inner 10 and 10, as in the example of its definition", () => {
    const spans = make([
      { track: 0, name: 0, start: 0, duration: 100, depth: 0 },
      { track: 0, name: 1, start: 40, duration: 20, depth: 1 },
    ]);
    expect(selectRange(spans, { start: 50, end: 80 }).rows).toEqual([
      { name: 0, count: 1, total: 30, self: 20 },
      { name: 1, count: 1, total: 10, self: 10 },
    ]);
  });

  it("equals a count moment by moment on random spans", () => {
    for (let seed = 1; seed <= 200; ++seed) {
      const list = randomSpans(seed);
      const random = randomOf(seed + 1000);
      const start = random(30);
      const range = { start, end: start + 1 + random(12) };
      const expected = new Map<number, { count: number; total: number; self: number }>();
      list.forEach((span, at) => {
        const end = span.start + span.duration;
        const counts = span.duration === 0 ? span.start >= range.start && span.start < range.end : span.start < range.end && end > range.start;
        if (!counts) return;
        const row = expected.get(span.name) ?? { count: 0, total: 0, self: 0 };
        ++row.count;
        for (let moment = Math.max(range.start, span.start); moment < Math.min(range.end, end); ++moment) {
          ++row.total;
          const isCovered = list.some((other, number) => number > at && other.track === span.track && other.depth === span.depth + 1 && other.start <= moment && moment < other.start + other.duration);
          if (!isCovered) ++row.self;
        }
        expected.set(span.name, row);
      });
      const found = new Map(selectRange(make(list), range).rows.map(({ name, ...row }) => [name, row]));
      expect(found, `seed ${seed}`).toEqual(expected);
    }
  });
});

describe("spans", () => {
  it("are found by their key, and lead to parent, child and neighbours", () => {
    for (let seed = 1; seed <= 100; ++seed) {
      const list = randomSpans(seed);
      const spans = make(list);
      list.forEach((span, at) => {
        const same = list.findIndex((other) => other.track === span.track && other.start === span.start && other.duration === span.duration);
        expect(findSpan(spans, keyOf(spans, at))).toBe(same);
        const around = list.findLastIndex((other, number) => number < at && other.track === span.track && other.depth === span.depth - 1);
        expect(parentOf(spans, at)).toBe(around);
        const child = firstChildOf(spans, at);
        if (child >= 0) expect(parentOf(spans, child)).toBe(at);
        expect(neighbourOf(spans, at, 1)).toBe(list[at + 1]?.track === span.track ? at + 1 : -1);
      });
    }
  });

  it("match in the order of begin, then track, then file", () => {
    for (let seed = 1; seed <= 100; ++seed) {
      const list = randomSpans(seed);
      const expected = list.map((span, at) => ({ ...span, at })).filter((span) => span.name !== 2);
      expected.sort((a, b) => a.start - b.start || a.track - b.track || a.at - b.at);
      expect([...matchesOf(make(list), ["aten::MM", "mm_", "relu"], "Mm")]).toEqual(expected.map((span) => span.at));
    }
  });
});

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

  it("shows each visible span of a pixel or more, and one for each pixel with shorter ones", () => {
    for (let seed = 1; seed <= 100; ++seed) {
      const spans = make(randomSpans(seed));
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
    const spans = make([
      { track: 0, name: 0, start: 0, duration: 10, depth: 0 },
      { track: 0, name: 1, start: 20, duration: 0, depth: 0 },
    ]);
    expect([spanAt(spans, 0, 5, 0), spanAt(spans, 0, 15, 1), spanAt(spans, 0, 21, 2)]).toEqual([0, -1, 1]);
  });
});
