// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { matchesOf } from "./matches.ts";
import { findSpan, firstChildOf, keyOf, neighbourOf, parentOf, tracksOfKey } from "./spans.ts";
import { makeSpans, randomSpans } from "./spans_for_test.ts";

describe("spans", () => {
  it("are found by their key, and lead to parent, child and neighbours", () => {
    for (let seed = 1; seed <= 100; ++seed) {
      const list = randomSpans(seed);
      const spans = makeSpans(list);
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

  it("are found on the other tracks of a PID/TID", () => {
    const spans = makeSpans([
      { track: 0, name: 0, start: 0, duration: 5, depth: 0 },
      { track: 1, name: 0, start: 0, duration: 5, depth: 0 },
      { track: 1, name: 0, start: 9, duration: 5, depth: 0 },
    ]);
    spans.tracks[0]!.id = "1/2";
    spans.tracks[1]!.id = "1/2#2";
    expect(findSpan(spans, { track: "1/2", start: 0, duration: 5 })).toBe(0);
    expect(findSpan(spans, { track: "1/2#2", start: 0, duration: 5 })).toBe(1);
    expect(findSpan(spans, { track: "1/2", start: 9, duration: 5 })).toBe(2);
    expect(findSpan(spans, { track: "1/2#2", start: 1, duration: 5 })).toBe(-1);
    const others = ["1/2#2", "1/2", "1/2#x", "1/20#2", "1/2#3"].map((id) => ({ id }));
    expect(tracksOfKey(others, "1/2").map(({ at }) => at)).toEqual([1, 0, 4]);
  });

  it("match in the order of begin, then track, then file", () => {
    for (let seed = 1; seed <= 100; ++seed) {
      const list = randomSpans(seed);
      const expected = list.map((span, at) => ({ ...span, at })).filter((span) => span.name !== 2);
      expected.sort((a, b) => a.start - b.start || a.track - b.track || a.at - b.at);
      expect([...matchesOf(makeSpans(list), ["aten::MM", "mm_", "relu"], "Mm")]).toEqual(expected.map((span) => span.at));
    }
  });
});
