// What the document says about the spans that it leaves out: how many of a name there are, where they may lie, and how
// long they may be. So the page can say by how much a figure may be wrong.
//
// Example: `mm` has 100 spans, 90 of them are in the document. Three blocks of 4, 20 and 1 spans overlap the range by 50,
// 10 and 5 ns, and no left-out span is longer than 30 ns. Then at most 10 spans of `mm` lie in the range unseen: 4 of up
// to 30 ns, 6 of up to 10 ns. Its count may be too small by 10, its time by 180 ns.
// SPDX-License-Identifier: Apache-2.0
import type { Range } from "./address.ts";
import { decodeColumn, decodeIndices } from "./columns.ts";
import type { WebDocument } from "./document.ts";
import { parseExact } from "./numbers.ts";
import { overlap } from "./ranges.ts";
import { partitionPoint } from "./search.ts";
import type { Spans } from "./spans.ts";

// The places where left-out spans may lie, ordered by their longest possible span, falling; sums from the first place
// to each one.
export interface HiddenPlaces {
  // Most time in the range of one span.
  longest: number[];
  // Spans, and most time of all of them.
  counts: number[];
  times: number[];
}

export interface HiddenSpans {
  // How many left-out spans may have a name (index of a text).
  ofName(name: number): number;
  // Where they may lie in a range.
  placesIn(range: Range): HiddenPlaces;
  // Whether spans may be left out inside a kept span.
  isIn(span: number): boolean;
}

export const kNothingHidden: HiddenSpans = {
  ofName: () => 0,
  placesIn: () => ({ longest: [], counts: [], times: [] }),
  isIn: () => false,
};

// How many spans may lie unseen in the places, of at most `most`.
export function mostHidden(places: HiddenPlaces, most: number): number {
  return Math.min(most, places.counts[places.counts.length - 1] ?? 0);
}

// The most time that so many of them may have.
export function mostHiddenTime(places: HiddenPlaces, count: number): number {
  if (count === 0) return 0;
  const { counts, times, longest } = places;
  const at = partitionPoint(0, counts.length, (place) => counts[place]! <= count);
  const whole = at === 0 ? { count: 0, time: 0 } : { count: counts[at - 1]!, time: times[at - 1]! };
  return whole.time + (count - whole.count) * (longest[at] ?? 0);
}

export async function readHiddenSpans(document: WebDocument, spans: Spans): Promise<HiddenSpans> {
  const { folded, left_out_spans: ofTracks = 0, names } = document.timeline;
  if (folded.spans === 0 && ofTracks === 0) return kNothingHidden;
  const [indices, counts] = await Promise.all([decodeIndices(names.name), decodeColumn(names.count)]);
  const kept = new Map<number, number>();
  for (const name of spans.name) kept.set(name, (kept.get(name) ?? 0) + 1);
  const all = new Map(Array.from(indices, (name, at) => [name, counts[at]!]));
  const longest = folded.longest_ns === undefined ? Infinity : Number(parseExact(folded.longest_ns) ?? Infinity);
  const blocks = spans.folded;
  const firstBlock = spans.tracks.map((_, track) => partitionPoint(0, blocks.track.length, (block) => blocks.track[block]! < track));
  return {
    ofName: (name) => Math.max(0, (all.get(name) ?? names.left_out_spans ?? 0) - (kept.get(name) ?? 0)),

    placesIn: (range) => {
      const found: { longest: number; count: number }[] = [];
      blocks.start.forEach((start, block) => {
        const end = start + blocks.duration[block]!;
        // A span of length 0 may lie at its end.
        if (start < range.end && end >= range.start) found.push({ longest: Math.min(longest, overlap(start, end, range)), count: blocks.count[block]! });
      });
      if (ofTracks > 0) found.push({ longest: range.end - range.start, count: ofTracks });
      found.sort((a, b) => b.longest - a.longest);
      const places: HiddenPlaces = { longest: found.map((place) => place.longest), counts: [], times: [] };
      let [count, time] = [0, 0];
      for (const place of found) {
        places.counts.push((count += place.count));
        places.times.push((time += place.count * place.longest));
      }
      return places;
    },

    // Any row of the track: what begins beside a span may end its self time, too.
    isIn: (span) => {
      const track = partitionPoint(0, spans.tracks.length, (at) => spans.firstSpan[at + 1]! <= span);
      const start = spans.start[span]!;
      const range = { start, end: start + Math.max(1, spans.duration[span]!) };
      for (let block = firstBlock[track]!; block < (firstBlock[track + 1] ?? blocks.track.length); ++block) {
        const begin = blocks.start[block]!;
        if (begin < range.end && begin + Math.max(1, blocks.duration[block]!) > range.start) return true;
      }
      return false;
    },
  };
}
