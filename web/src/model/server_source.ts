// The spans of a trace that `opscope view` serves: all of them. The document gives the first picture; the page asks for
// everything else when it needs it (docs/reference/view_server.md).
// SPDX-License-Identifier: Apache-2.0
import type { Range, SpanKey } from "./address.ts";
import { Origin, type WebDocument } from "./document.ts";
import { parseExactJson } from "./exact_json.ts";
import { readDetails, readMatches, readSelection, readTracks, readWindow, type ServedSpan, type ServedTracks } from "./server_answers.ts";
import { RefusedQuestion, type TraceServer } from "./server.ts";
import type { SpanSource, TimelineDetail } from "./span_source.ts";
import { loadSpans, type Spans, spansOn, tracksOfKey } from "./spans.ts";
import { WindowCache } from "./window_cache.ts";

// Spans whose details are kept: those of the last selections.
const kMaxDetails = 200;
// As the server has it.
const kMaxPixels = 20_000;

// An integer in JSON, exact.
function exactJson(value: bigint): number | string {
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
}

// `windows`: what the page has of the timeline already.
export function serverSource(document: WebDocument, server: TraceServer, file: string, windows: WindowCache): SpanSource {
  const origin = new Origin(document.clock);
  const id = Number(file);
  let tracks: Promise<ServedTracks> | undefined;
  const served = () => {
    tracks ??= server.ask(`/api/tracks?file=${id}`, null, (answer) => readTracks(answer, document));
    tracks.catch(() => (tracks = undefined));
    return tracks;
  };
  let base: Promise<Spans> | undefined;
  const load = () => {
    base ??= Promise.all([loadSpans(document), served()]).then(([spans, list]) => onServedTracks(spans, list));
    base.catch(() => (base = undefined));
    return base;
  };
  const rangeJson = (range: Range) => [exactJson(origin.exact(range.start)), exactJson(origin.exact(range.end))];

  const known = new Map<string, Promise<ServedSpan | null>>();
  // Of a query of /api/span; null: there is no such span.
  const span = (query: string): Promise<ServedSpan | null> => {
    const before = known.get(query);
    if (before !== undefined) return before;
    const asked = served()
      .then((list) => server.ask(`/api/span?file=${id}&${query}`, null, (answer) => readDetails(answer, list, origin), undefined, parseExactJson))
      .catch((error: unknown) => {
        if (error instanceof RefusedQuestion && error.status === 404) return null;
        known.delete(query);
        throw error;
      });
    known.set(query, asked);
    if (known.size > kMaxDetails) known.delete(known.keys().next().value!);
    return asked;
  };
  const details = async (key: SpanKey): Promise<ServedSpan | null> => {
    if (key.number !== undefined) return span(`row=${key.number}`);
    for (const { track: servedTrack } of tracksOfKey((await served()).tracks, key.track)) {
      const { track } = servedTrack;
      const found = await span(`track=${track}&start=${origin.exact(key.start)}&duration=${BigInt(Math.round(key.duration))}`);
      if (found !== null) return found;
    }
    return null;
  };

  return {
    load,
    find: details,
    details,

    relative: async (key, relative) => {
      const row = (await details(key))?.relatives[relative] ?? null;
      return row === null ? null : ((await span(`row=${row}`))?.key ?? null);
    },

    count: async (text, signal) => {
      if (text === "") return { value: 0, error: 0 };
      const list = await served();
      const { count } = await server.ask("/api/search", { file: id, text }, (answer) => readMatches(answer, list, origin), signal);
      return { value: count, error: 0 };
    },

    adjacent: async (text, from, step) => {
      if (text === "") return null;
      const list = await served();
      const place = from === null ? null : await details(from);
      const start = place === null ? {} : { start: exactJson(origin.exact(place.key.start)), row: place.key.number };
      const matches = await server.ask("/api/search", { file: id, text, ...start }, (answer) => readMatches(answer, list, origin));
      return (step === 1 ? matches.next : matches.previous)?.key ?? null;
    },

    select: (range, signal) => server.ask("/api/selection", { file: id, range: rangeJson(range) }, readSelection, signal),
    leftOut: 0,
    detail: new ServedDetail(document, windows, load, async (range, pixel, wanted, signal) => {
      const list = await served();
      const width = Math.min(kMaxPixels, Math.max(1, Math.round((range.end - range.start) / pixel)));
      // A span of length 0 may begin at the end of the trace.
      const body = { file: id, range: rangeJson({ start: range.start, end: range.end + 1 }), width, tracks: wanted.map((track) => list.tracks[track]!.track) };
      return server.ask("/api/spans", body, (answer) => readWindow(answer, list, origin), signal);
    }),
  };
}

// The spans of the document on all tracks of the trace. They do not know their rows in the trace.
function onServedTracks(spans: Spans, list: ServedTracks): Spans {
  const kept = new Array<number>(list.tracks.length).fill(0);
  const indices = spans.tracks.map((track) => {
    const index = list.indexOf(track.track);
    kept[index] = track.kept;
    list.tracks[index]!.kept = track.kept;
    return index;
  });
  const { folded, ...columns } = spans;
  return spansOn(list.tracks, { ...columns, kept, numbers: null, folded: { ...folded, track: folded.track.map((track) => indices[track]!) } });
}

class ServedDetail implements TimelineDetail {
  readonly #cache: WindowCache;
  readonly #end: number;
  readonly #load: () => Promise<Spans>;
  readonly #ask: (range: Range, pixel: number, tracks: readonly number[], signal: AbortSignal) => Promise<Spans>;

  constructor(
    document: WebDocument,
    windows: WindowCache,
    load: () => Promise<Spans>,
    ask: (range: Range, pixel: number, tracks: readonly number[], signal: AbortSignal) => Promise<Spans>,
  ) {
    this.#cache = windows;
    this.#end = new Origin(document.clock).length;
    this.#load = load;
    this.#ask = ask;
  }

  // Fetches half of the range beyond each end, too.
  async fetch(range: Range, pixel: number, tracks: readonly number[], signal: AbortSignal): Promise<boolean> {
    const base = await this.#load();
    const missing = tracks.filter((track) => lacksSpans(base, track, range) && !this.#cache.covers(track, range, pixel));
    if (missing.length === 0) return false;
    const margin = Math.ceil((range.end - range.start) / 2);
    const asked = { start: Math.max(0, Math.floor(range.start) - margin), end: Math.min(this.#end, Math.ceil(range.end) + margin) };
    const spans = await this.#ask(asked, pixel, missing, signal);
    // What is late is not kept: the reader has moved on.
    if (signal.aborted) return false;
    this.#cache.add({ range: asked, pixel, tracks: new Set(missing), spans, bytes: bytesOf(spans) });
    return true;
  }

  pieces(track: number, range: Range, pixel: number) {
    return this.#cache.pieces(track, range, pixel);
  }
}

// Whether the track has spans in the range that the document has not. Blocks are ordered by track.
export function lacksSpans(base: Spans, track: number, range: Range): boolean {
  const { kept, spans } = base.tracks[track]!;
  if (kept === spans) return false;
  const { rows, start, duration } = base.folded;
  const first = rows.first[base.firstRow[track]!]!;
  const last = rows.first[base.firstRow[track + 1]!]!;
  if (first === last) return kept < spans;
  for (let at = first; at < last; ++at) {
    const block = rows.order[at]!;
    if (start[block]! < range.end && start[block]! + duration[block]! >= range.start) return true;
  }
  return false;
}

// About what the columns and indices of a window hold.
function bytesOf(spans: Spans): number {
  const texts = spans.strings.reduce((sum, text) => sum + 2 * text.length + 40, 0);
  return 1000 + texts + 64 * spans.start.length + 56 * spans.folded.start.length + 8 * spans.firstRow.length + 4 * spans.rows.first.length;
}
