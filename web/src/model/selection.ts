// What lies in a range of time, by name: the table Selection of a report.
//
// The spans outer [0, 100) and, inside it, inner [40, 60): of the range [50, 80) outer has a total of 30 and a self
// time of 20, inner has 10 and 10. The pass is that of `opscope`: every span is clipped to the range and to the span
// around it, and gives its part to its own name and takes it from the self time of the span around it. Where the next
// sibling begins before a span ends, the rest is the sibling's.
//
// Where spans are left out, the figures are those of the spans that are there, with the most by which they may be wrong
// (hidden_spans.ts). The self time of a span that lies in the range is exact all the same: the document has it. Of a
// span that the range cuts, with blocks inside it, only bounds are known.
// SPDX-License-Identifier: Apache-2.0
import type { Range } from "./address.ts";
import { type HiddenSpans, kNothingHidden, mostHidden, mostHiddenTime } from "./hidden_spans.ts";
import { getOrMake } from "./memo.ts";
import { isIn, overlap } from "./ranges.ts";
import type { SelectedName, SelectedRange } from "./span_source.ts";
import type { Spans } from "./spans.ts";

// Sums of the spans of one name.
interface Sums {
  count: number;
  total: number;
  self: number;
  // Most by which `self` may be wrong because of spans that the range cuts.
  selfError: number;
}

// The spans around the present one, and their self times in the range.
class OpenSpans {
  readonly #spans: Spans;
  readonly #range: Range;
  readonly #close: (span: number, self: number) => void;
  readonly #open: { span: number; start: number; end: number; self: number }[] = [];

  constructor(spans: Spans, range: Range, close: (span: number, self: number) => void) {
    this.#spans = spans;
    this.#range = range;
    this.#close = close;
  }

  enter(span: number, isAsync: boolean): void {
    const { start: starts, duration, depth } = this.#spans;
    const begin = starts[span]!;
    while (this.#open.length > 0 && (isAsync || depth[this.#open[this.#open.length - 1]!.span]! >= depth[span]!)) {
      const top = this.#open.pop()!;
      if (!isAsync) this.#endSelfTime(top, begin);
      this.#close(top.span, top.self);
    }
    let start = Math.max(begin, this.#range.start);
    let end = Math.min(begin + duration[span]!, this.#range.end);
    const around = this.#open[this.#open.length - 1];
    if (around !== undefined) {
      start = Math.max(start, around.start);
      end = Math.min(end, around.end);
    }
    const self = Math.max(0, end - start);
    if (around !== undefined) around.self -= self;
    this.#open.push({ span, start, end, self });
  }

  leave(): void {
    for (let top = this.#open.pop(); top !== undefined; top = this.#open.pop()) this.#close(top.span, top.self);
  }

  // The rest of a span behind the begin of its next sibling returns to the span around it.
  #endSelfTime(top: { start: number; end: number; self: number }, next: number): void {
    const rest = Math.max(0, top.end - Math.max(top.start, next));
    top.self -= rest;
    const around = this.#open[this.#open.length - 1];
    if (around !== undefined) around.self += rest;
  }
}

// O(spans and blocks of the document).
export function selectRange(spans: Spans, range: Range, hidden: HiddenSpans): SelectedRange {
  const byName = new Map<number, Sums>();
  const sumsOf = (name: number) => getOrMake(byName, name, () => ({ count: 0, total: 0, self: 0, selfError: 0 }));
  const places = hidden.placesIn(range);
  const close = (span: number, self: number) => {
    const start = spans.start[span]!;
    const length = spans.duration[span]!;
    const inside = overlap(start, start + length, range);
    const sums = sumsOf(spans.name[span]!);
    const isWhole = inside === length && hidden !== kNothingHidden;
    if (!isWhole && (inside === 0 || !hidden.isIn(span))) {
      sums.self += Math.max(0, self);
      return;
    }
    // Of its self time, what cannot lie outside of the range, and what can lie inside.
    const whole = length - spans.covered[span]!;
    const least = Math.min(inside, Math.max(0, whole - (length - inside)));
    const most = Math.max(least, Math.min(whole, inside));
    const guess = Math.min(most, Math.max(least, self));
    sums.self += guess;
    sums.selfError += Math.max(most - guess, guess - least);
  };
  const open = new OpenSpans(spans, range, close);
  spans.tracks.forEach((track, at) => {
    const last = spans.firstSpan[at + 1]!;
    const firstAsync = last - (track.async ?? 0);
    for (let span = spans.firstSpan[at]!; span < last; ++span) {
      const start = spans.start[span]!;
      const end = start + spans.duration[span]!;
      if (isIn(start, end, range)) {
        const sums = sumsOf(spans.name[span]!);
        ++sums.count;
        sums.total += overlap(start, end, range);
      }
      open.enter(span, span >= firstAsync);
    }
    open.leave();
  });
  const rows: SelectedName[] = [];
  for (const [name, { count, total, self, selfError }] of byName) {
    if (count === 0) continue;
    const hiddenCount = mostHidden(places, hidden.ofName(name));
    const hiddenTime = mostHiddenTime(places, hiddenCount);
    rows.push({
      name: spans.strings[name] ?? "",
      count: { value: count, error: hiddenCount },
      total: { value: total, error: hiddenTime },
      self: { value: self, error: selfError + hiddenTime },
    });
  }
  return { rows, folded: null, leftOut: mostHidden(places, Infinity) };
}
