// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { countOutside, findMark, loadMarks, markKey } from "../model/marks.ts";
import { packMarks, sampleDocument } from "../model/document_for_test.ts";
import { markAt, markRowsOf } from "./marks_layout.ts";

// Two ranges of one track that overlap, and points of two tracks.
const document = sampleDocument();
const tracks = document.timeline.tracks;
tracks[0]!.mark_rows = 3;
tracks[1]!.mark_rows = 1;
const origin = Number(document.clock.start_ns);
document.timeline.ranges = packMarks([
  [0, 0, origin + 10, 50],
  [0, 1, origin + 20, 5],
]);
document.timeline.instants = packMarks([
  [0, 2, origin + 30, 0],
  [0, 2, origin + 32, 0],
  [1, 0, origin + 30, 0],
]);

describe("marks of the timeline", () => {
  it("have lines of their own", async () => {
    const marks = await loadMarks(document);
    expect(marks.firstPoint).toBe(2);
    expect([...markRowsOf(marks)].slice(0, 2)).toEqual([3, 1]);
    expect([...marks.rows.first].slice(0, 5)).toEqual([0, 1, 2, 4, 5]);
  });

  it("follow their tracks where the source has others, in another order", async () => {
    const [first, second] = [tracks[0]!, tracks[1]!];
    const others = [second, { ...first, track: 99, mark_rows: 0 }, first];
    const marks = await loadMarks(document, others);
    expect([...markRowsOf(marks)]).toEqual([1, 0, 3]);
    expect([...marks.track]).toEqual([2, 2, 2, 2, 0]);
    expect([...marks.rows.first]).toEqual([0, 1, 2, 3, 5]);
    const key = markKey(marks, 4);
    expect(key.track).toBe(second.id);
    expect(findMark(marks, key)).toBe(4);
  });

  it("are found at a time, the nearest one first", async () => {
    const marks = await loadMarks(document);
    expect(markAt(marks, 0, 59, 0)).toBe(0);
    expect(markAt(marks, 0, 61, 0)).toBe(-1);
    expect(markAt(marks, 1, 26, 2)).toBe(1);
    expect(markAt(marks, 2, 31.5, 5)).toBe(3);
    expect(markAt(marks, 2, 29, 5)).toBe(2);
    expect(markAt(marks, 3, 100, 5)).toBe(-1);
  });

  it("are counted where the timeline cannot show them", async () => {
    const marks = await loadMarks(document);
    expect([31, 30, 29, 15, 5].map((length) => countOutside(marks, length))).toEqual([1, 1, 3, 4, 5]);
    expect(countOutside({ ...marks, start: marks.start.map((start) => start - 31) }, 100)).toBe(3);
  });

  it("are found again by track, begin and duration", async () => {
    const marks = await loadMarks(document);
    for (let mark = 0; mark < marks.start.length; ++mark) expect(findMark(marks, markKey(marks, mark))).toBe(mark);
    expect(findMark(marks, { track: "none", start: 30, duration: 0 })).toBe(-1);
  });
});
