// Reads the answers of `opscope view` (docs/reference/view_server.md). A function throws where a member is missing or of
// another kind; TraceServer.ask makes a sentence of that.
// SPDX-License-Identifier: Apache-2.0
import { decodeIndices } from "./columns.ts";
import type { Origin, PackedColumn, SpanColumns, TimelineData, TrackData, WebDocument } from "./document.ts";
import { plainValue } from "./exact_json.ts";
import { parseExact } from "./numbers.ts";
import { type FoundSpan, kFlowKinds, type Relative, type SelectedRange, type SpanDetails, type SpanLink } from "./span_source.ts";
import { decodeBlocks, decodeKept, type Spans, spansOn } from "./spans.ts";

type Members = Record<string, unknown>;

function membersOf(value: unknown): Members {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Error("not an object");
  return value as Members;
}

function listOf(value: unknown): unknown[] {
  if (!Array.isArray(value)) throw new Error("not a list");
  return value;
}

function textOf(value: unknown): string {
  if (typeof value !== "string") throw new Error("not a text");
  return value;
}

function exactOf(value: unknown): bigint {
  const exact = parseExact(value);
  if (exact === null) throw new Error("not an integer");
  return exact;
}

function integerOf(value: unknown): number {
  return Number(exactOf(value));
}

// A number, exact: BigInt beyond 2^53.
function figureOf(value: unknown): number | bigint {
  const exact = exactOf(value);
  return Number.isSafeInteger(Number(exact)) ? Number(exact) : exact;
}

// The tracks of a trace, and their indices by row of the table `tracks`.
export class ServedTracks {
  readonly tracks: TrackData[];
  readonly #indices: Map<number, number>;

  constructor(tracks: TrackData[]) {
    this.tracks = tracks;
    this.#indices = new Map(tracks.map(({ track }, at) => [track, at]));
  }

  indexOf(row: number): number {
    const index = this.#indices.get(row);
    if (index === undefined) throw new Error("not a track");
    return index;
  }
}

// Those with spans, and behind them those that have only ranges or points in time, which the document knows.
export function readTracks(answer: unknown, document: WebDocument): ServedTracks {
  const tracks = listOf(membersOf(answer)["tracks"]).map((each): TrackData => {
    const { track, id, title, group, kind, rank, spans, rows } = membersOf(each);
    const kinds = ["thread", "stream", "other"] as const;
    return {
      track: integerOf(track),
      id: textOf(id),
      title: textOf(title),
      group: textOf(group),
      kind: kinds.find((known) => known === kind) ?? "other",
      rank: integerOf(rank),
      spans: integerOf(spans),
      kept: 0,
      rows: integerOf(rows),
      mark_rows: 0,
    };
  });
  const withMarks = document.timeline.tracks.filter((track) => track.spans === 0);
  return new ServedTracks([...tracks, ...withMarks.map((track) => ({ ...track }))]);
}

function readSpan(value: unknown, served: ServedTracks, origin: Origin): FoundSpan {
  const { row, track, start, duration, name, depth } = membersOf(value);
  const index = served.indexOf(integerOf(track));
  const key = { track: served.tracks[index]!.id, start: origin.relative(exactOf(start)), duration: integerOf(duration), number: integerOf(row) };
  return { key, track: index, depth: depth === undefined ? 0 : integerOf(depth), name: textOf(name) };
}

export interface ServedSpan extends SpanDetails {
  // Rows of the table `spans`; null: there is none.
  relatives: Record<Relative, number | null>;
}

export function readDetails(answer: unknown, served: ServedTracks, origin: Origin): ServedSpan {
  const members = membersOf(answer);
  const rowOf = (key: string) => (members[key] === null ? null : integerOf(members[key]));
  return {
    ...readSpan(answer, served, origin),
    category: textOf(members["category"]),
    selfTime: integerOf(members["self"]),
    arguments: Object.entries(membersOf(members["arguments"])).map(([key, value]) => ({ key, value: plainValue(value) })),
    stack: listOf(members["stack"]).map(textOf).join("\n"),
    links: listOf(members["flows"]).map((each): SpanLink => {
      const { kind, direction, span } = membersOf(each);
      return { kind: kFlowKinds.find((known) => known === kind) ?? "other", isOut: direction === "out", span: readSpan(span, served, origin) };
    }),
    mayLackArguments: false,
    relatives: { parent: rowOf("parent"), firstChild: rowOf("first_child"), previous: rowOf("previous"), next: rowOf("next") },
  };
}

export interface ServedMatches {
  count: number;
  next: FoundSpan | null;
  previous: FoundSpan | null;
}

export function readMatches(answer: unknown, served: ServedTracks, origin: Origin): ServedMatches {
  const { count, next, previous } = membersOf(answer);
  const spanOf = (value: unknown) => (value === null ? null : readSpan(value, served, origin));
  return { count: integerOf(count), next: spanOf(next), previous: spanOf(previous) };
}

export function readSelection(answer: unknown): SelectedRange {
  const { rows, folded } = membersOf(answer);
  const figuresOf = (row: Members) => ({ count: figureOf(row["count"]), total: figureOf(row["total_with_recursion_ns"]), self: figureOf(row["self_ns"]) });
  const exact = (value: number | bigint) => ({ value, error: 0 });
  return {
    rows: listOf(rows).map((each) => {
      const row = membersOf(each);
      const { count, total, self } = figuresOf(row);
      return { name: textOf(row["name"]), count: exact(count), total: exact(total), self: exact(self) };
    }),
    folded: folded === null ? null : { rows: integerOf(membersOf(folded)["rows"]), ...figuresOf(membersOf(folded)) },
    leftOut: 0,
  };
}

// A part of the timeline, on the tracks of the page.
export async function readWindow(answer: unknown, served: ServedTracks, origin: Origin): Promise<Spans> {
  const { strings, timeline } = membersOf(answer);
  const { tracks, kept, folded } = membersOf(timeline);
  const columns = membersOf(kept);
  const counts = new Array<number>(served.tracks.length).fill(0);
  const indices = listOf(tracks).map((each) => {
    const { track, kept: count } = membersOf(each);
    const index = served.indexOf(integerOf(track));
    counts[index] = integerOf(count);
    return index;
  });
  const spans = await decodeKept(columns as unknown as SpanColumns, origin.start);
  const numbers = await decodeIndices(columns["row"] as PackedColumn);
  const blocks = await decodeBlocks(membersOf(folded) as unknown as TimelineData["folded"], origin.start);
  const all = counts.reduce((sum, count) => sum + count, 0);
  if (all !== spans.start.length || Object.values(spans).some((column) => column.length !== all) || numbers.length !== all) throw new Error("columns differ");
  const track = blocks.track.map((number) => indices[number] ?? -1);
  if (track.some((index) => index < 0)) throw new Error("not a track");
  const highest = (at: number) => served.tracks[at]!.rows;
  return spansOn(served.tracks, {
    ...spans,
    strings: listOf(strings).map(textOf),
    kept: counts,
    depth: clampDepths(spans.depth, counts, highest),
    numbers,
    folded: { ...blocks, track, depth: blocks.depth.map((depth, block) => Math.min(Math.max(0, depth), highest(track[block]!) - 1)) },
    counters: [],
  });
}

// No row lies outside of its track.
function clampDepths(depth: Int32Array<ArrayBuffer>, counts: readonly number[], highest: (track: number) => number): Int32Array<ArrayBuffer> {
  let span = 0;
  counts.forEach((count, track) => {
    for (const end = span + count; span < end; ++span) depth[span] = Math.min(Math.max(0, depth[span]!), Math.max(0, highest(track) - 1));
  });
  return depth;
}
