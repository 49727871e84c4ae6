// Where asynchronous ranges and points in time lie: in lines below the spans of their track.
// SPDX-License-Identifier: Apache-2.0
import type { Marks } from "../model/marks.ts";
import { partitionPoint } from "../model/search.ts";

// How near a press must be to a point, in CSS pixels.
export const kPointReach = 7;

// By track: number of lines of marks.
export function markRowsOf(marks: Marks): Int32Array {
  return Int32Array.from(marks.tracks, (_, track) => marks.firstRow[track + 1]! - marks.firstRow[track]!);
}

// The mark of a line at a time, or the nearest one within `reach` ns; -1: none.
export function markAt(marks: Marks, row: number, time: number, reach: number): number {
  const { first, order } = marks.rows;
  const behind = partitionPoint(first[row]!, first[row + 1]!, (at) => marks.start[order[at]!]! <= time + reach);
  let found = -1;
  let least = Infinity;
  for (let at = behind - 1; at >= Math.max(first[row]!, behind - 8); --at) {
    const mark = order[at]!;
    const [start, end] = [marks.start[mark]!, marks.start[mark]! + marks.duration[mark]!];
    const distance = time < start ? start - time : time > end ? time - end : 0;
    if (distance <= reach && distance < least) [found, least] = [mark, distance];
  }
  return found;
}
