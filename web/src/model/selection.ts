// What lies in a range of time, by name: the table Selection.
//
// The spans outer [0, 100) and, inside it, inner [40, 60): of the range [50, 80) outer has a total of 30 and a self
// time of 20, inner has 10 and 10. So a span gives its part of the range to its own name, and takes it from the self
// time of the span around it.
// SPDX-License-Identifier: Apache-2.0
import type { Range } from "./address.ts";
import type { Spans } from "./spans.ts";

export interface SelectedName {
  // Index into the strings of the document.
  name: number;
  count: number;
  total: number;
  self: number;
}

export interface SelectedRange {
  rows: SelectedName[];
  // Spans that are left out of the page and may overlap the range.
  leftOut: number;
}

// The part of [start, end) inside of the range.
function overlap(start: number, end: number, range: Range): number {
  return Math.max(0, Math.min(end, range.end) - Math.max(start, range.start));
}

function isIn(start: number, end: number, range: Range): boolean {
  return start === end ? start >= range.start && start < range.end : start < range.end && end > range.start;
}

// O(spans of the document).
export function selectRange(spans: Spans, range: Range): SelectedRange {
  const byName = new Map<number, SelectedName>();
  const of = (name: number): SelectedName => {
    let row = byName.get(name);
    if (row === undefined) byName.set(name, (row = { name, count: 0, total: 0, self: 0 }));
    return row;
  };
  // Around the present span, outermost first: name, depth, and end clipped to the spans around it.
  const names: number[] = [];
  const depths: number[] = [];
  const ends: number[] = [];
  for (let track = 0; track < spans.tracks.length; ++track) {
    names.length = depths.length = ends.length = 0;
    for (let span = spans.firstSpan[track]!; span < spans.firstSpan[track + 1]!; ++span) {
      const start = spans.start[span]!;
      const end = start + spans.duration[span]!;
      while (depths.length > 0 && depths[depths.length - 1]! >= spans.depth[span]!) {
        names.pop();
        depths.pop();
        ends.pop();
      }
      const around = ends.length - 1;
      // An asynchronous span lies below the others and inside none.
      const isInside = around >= 0 && start < ends[around]!;
      const clipped = isInside ? Math.min(end, ends[around]!) : end;
      if (isIn(start, end, range)) {
        const row = of(spans.name[span]!);
        ++row.count;
        row.total += overlap(start, end, range);
        row.self += overlap(start, clipped, range);
        if (isInside) of(names[around]!).self -= overlap(start, clipped, range);
      }
      names.push(spans.name[span]!);
      depths.push(spans.depth[span]!);
      ends.push(clipped);
    }
  }
  const { start, duration, count } = spans.folded;
  let leftOut = 0;
  for (let block = 0; block < start.length; ++block) {
    if (isIn(start[block]!, start[block]! + duration[block]!, range)) leftOut += count[block]!;
  }
  return { rows: [...byName.values()].filter((row) => row.count > 0), leftOut };
}
