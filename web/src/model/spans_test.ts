// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { matchesOf } from "./matches.ts";
import { findSpan, firstChildOf, keyOf, neighbourOf, parentOf } from "./spans.ts";
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

  it("match in the order of begin, then track, then file", () => {
    for (let seed = 1; seed <= 100; ++seed) {
      const list = randomSpans(seed);
      const expected = list.map((span, at) => ({ ...span, at })).filter((span) => span.name !== 2);
      expected.sort((a, b) => a.start - b.start || a.track - b.track || a.at - b.at);
      expect([...matchesOf(makeSpans(list), ["aten::MM", "mm_", "relu"], "Mm")]).toEqual(expected.map((span) => span.at));
    }
  });
});
