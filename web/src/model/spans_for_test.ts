// Spans for tests, made without a document.
// SPDX-License-Identifier: Apache-2.0
import type { TrackData } from "./document.ts";
import { type Spans, spansOn } from "./spans.ts";

export type Made = { track: number; name: number; start: number; duration: number; depth: number };

// `covered`: of each span; without it the self times are unknown.
export function makeSpans(list: Made[], covered: number[] = list.map(() => 0), strings: string[] = []): Spans {
  const count = Math.max(1, ...list.map((span) => span.track + 1));
  const onTrack = Array.from({ length: count }, (_, track) => list.filter((span) => span.track === track));
  const tracks = onTrack.map((spans, track): TrackData => {
    const rows = Math.max(1, ...spans.map((span) => span.depth + 1));
    return { track, id: `1/${track}`, title: `t${track}`, group: "p", kind: "thread", rank: -1, spans: spans.length, kept: spans.length, rows, mark_rows: 0 };
  });
  return spansOn(tracks, {
    strings,
    kept: tracks.map(({ kept }) => kept),
    start: Float64Array.from(list, (span) => span.start),
    duration: Float64Array.from(list, (span) => span.duration),
    covered: Float64Array.from(covered),
    depth: Int32Array.from(list, (span) => span.depth),
    name: Int32Array.from(list, (span) => span.name),
    category: new Int32Array(list.length),
    numbers: null,
    folded: { track: new Int32Array(0), depth: new Int32Array(0), start: new Float64Array(0), duration: new Float64Array(0), count: new Float64Array(0) },
    counters: [],
  });
}

// A generator of pseudo-random integers, the same in every run.
export function randomOf(seed: number) {
  let state = seed;
  return (below: number) => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return (state >> 8) % below;
  };
}

// Nested spans of two tracks in pre-order, all names below 3.
export function randomSpans(seed: number): Made[] {
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

