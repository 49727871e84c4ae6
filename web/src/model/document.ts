// The data document `opscope.web/1` as TypeScript types (docs/reference/web_data.md), and its check.
//
// Times of the document are nanoseconds on the clock of `opscope info`. The rest of the page computes with numbers
// relative to the begin of that clock ("relative times"), which are exact even where the clock's own values exceed
// 2^53; `Origin` in this file converts in both directions.
// SPDX-License-Identifier: Apache-2.0
import { parseExact } from "./numbers.ts";

// An integer of the document: a number, or digits beyond +-2^53.
export type Integer = number | string;

// A column of integers: base64 of a zlib stream of LEB128 varints of the zigzag of each value. d = 1: differences.
export interface PackedColumn {
  n: number;
  d: 0 | 1;
  z: string;
}

export type Unit = "text" | "number" | "time" | "bytes" | "amount" | "share" | "double" | "truth";

export interface ColumnDescription {
  key: string;
  // Heading; "": the key is the heading.
  title: string;
  unit: Unit;
  // false: no row has a value, so a table for people leaves the column out.
  shown?: boolean;
  documentation: string;
}

export interface FoldedRows {
  rows: number;
  sums: Partial<Record<string, Integer>>;
}

export interface TableData {
  columns: ColumnDescription[];
  // An array per column. Texts are indices into `strings`, -1 for null.
  values: (Integer | boolean | null)[][];
  // Per row, the part [a, b) of the timeline it describes. Only steps and findings have it.
  ranges?: ([Integer, Integer] | null)[];
  // Per row, the rank whose timeline it leads to. Only tables of the tab Ranks have it.
  timeline_ranks?: (number | null)[];
  folded: FoldedRows | null;
  why_empty: string;
}

export type TableName =
  | "steps"
  | "devices"
  | "findings"
  | "operators"
  | "operators_by_shape"
  | "operators_by_stack"
  | "operators_by_module"
  | "roofline"
  | "kernels"
  | "modules"
  | "memory_devices"
  | "memory_rows"
  | "leaks"
  | "compare"
  | "problems"
  | "ranks"
  | "stragglers"
  | "critical_ranks"
  | "critical_steps"
  | "collective_groups"
  | "job_problems";

export interface StepsSummary {
  count: Integer;
  mean_ns: Integer | null;
  p50_ns: Integer | null;
  p99_ns: Integer | null;
  min_ns: Integer | null;
  max_ns: Integer | null;
  stddev_ns: Integer | null;
}

export interface TrackData {
  // Row in the table `tracks` of the trace.
  track: number;
  // "PID/TID".
  id: string;
  title: string;
  // Heading above the track: "python (1234)".
  group: string;
  kind: "thread" | "stream" | "other";
  // -1: unknown.
  rank: number;
  // Spans of the whole trace.
  spans: number;
  // Spans of this document.
  kept: number;
  // How many of these are asynchronous: the last ones.
  async?: number;
  // Greatest depth + 1 among kept spans and folded blocks.
  rows: number;
  // Lines below them, of asynchronous ranges and points in time.
  mark_rows: number;
}

export interface SpanColumns {
  start: PackedColumn;
  duration: PackedColumn;
  // Duration less self time.
  covered: PackedColumn;
  depth: PackedColumn;
  // Indices into `strings`.
  name: PackedColumn;
  category: PackedColumn;
}

export interface CounterData {
  name: number;
  group: string;
  unit: "bytes" | "number";
  times: PackedColumn;
  values: number[];
}

// Asynchronous ranges, or points in time.
export interface MarksData {
  // Index into `tracks`; line below the rows of the track.
  track: PackedColumn;
  depth: PackedColumn;
  start: PackedColumn;
  duration: PackedColumn;
  // Indices into `strings`.
  name: PackedColumn;
  category: PackedColumn;
  // Id of a range, scope of a point.
  detail: PackedColumn;
  // A JSON object, or "".
  arguments: PackedColumn;
  // `count` of all blocks, `counts` of each.
  folded: { count: number; track: PackedColumn; depth: PackedColumn; start: PackedColumn; duration: PackedColumn; counts: PackedColumn };
  left_out: number;
}

export interface TimelineData {
  tracks: TrackData[];
  // Kept spans of all tracks, one after the other, within a track in pre-order; asynchronous spans follow.
  kept: SpanColumns;
  // Blocks that stand for spans that are left out.
  folded: {
    spans: number;
    // None of their spans is longer.
    longest_ns?: Integer;
    track: PackedColumn;
    depth: PackedColumn;
    start: PackedColumn;
    duration: PackedColumn;
    count: PackedColumn;
  };
  // By index of the kept span, ascending. `value` is the index of a JSON text. Spans share lists; the rows of a list are
  // those with its number in `row_list`.
  arguments: {
    span: PackedColumn;
    key: PackedColumn;
    value: PackedColumn;
    lists: { span: PackedColumn; list: PackedColumn; row_list: PackedColumn; row_key: PackedColumn; row_value: PackedColumn };
    integers: { key: number; span: PackedColumn; value: PackedColumn }[];
    left_out: number;
  };
  // Call stack of kept spans: one frame per line, outermost first.
  stacks?: { span: PackedColumn; stack: PackedColumn };
  // Kind 0 launch, 1 fwdbwd, 2 async, 3 other; indices of kept spans.
  flows: { kind: PackedColumn; from: PackedColumn; to: PackedColumn; left_out: number };
  // Spans of tracks that are left out: neither kept nor in blocks.
  left_out_spans?: number;
  // Tracks with spans that are left out.
  left_out_tracks?: number;
  ranges: MarksData;
  instants: MarksData;
  counters: CounterData[];
  // Of the whole trace: how many spans have which name.
  // left_out_spans: spans whose names did not fit into the page.
  names: { name: PackedColumn; count: PackedColumn; left_out_spans?: number };
}

export interface TreeData {
  metric: "time" | "device_time" | "memory" | "flops";
  unit: Unit;
  name: PackedColumn;
  // Parents come before children; node 0 is the root.
  parent: PackedColumn;
  // 0 root, 1 thread, 2 device, 3 operator, 4 range, 5 python call, 6 module.
  kind: PackedColumn;
  count: PackedColumn;
  total: PackedColumn;
  self: PackedColumn;
  folded: number;
}

// A tree of the paths of both runs: count, total and self are those of the run, the others those of the baseline.
export interface TreeDiffData extends TreeData {
  base_count: PackedColumn;
  base_total: PackedColumn;
  base_self: PackedColumn;
}

// Blocks of memory of one device, by begin.
export interface BlocksData {
  device: number;
  // Lowest address, as digits.
  base: string;
  // Less base.
  address: PackedColumn;
  bytes: PackedColumn;
  start: PackedColumn;
  duration: PackedColumn;
  // Sum of: 1 never freed, 2 from before the recording.
  state: PackedColumn;
  // Indices into `strings`.
  name: PackedColumn;
  category: PackedColumn;
  stack: PackedColumn;
  left_out: number;
  left_out_bytes: Integer;
  without_address: number;
}

export interface MemoryData {
  // Step functions: `bytes[k]` holds from `times[k]` until `times[k + 1]`.
  curves: { device: number; category: number; times: PackedColumn; bytes: PackedColumn; error_bytes: Integer }[];
  peaks: {
    device: number;
    time_ns: Integer;
    bytes: Integer;
    // [index of the name, index of the category, bytes]
    parts: [number, number, Integer][];
    other_bytes: Integer;
  }[];
  // Curves that did not fit.
  left_out: number;
  blocks: BlocksData[];
  blocks_left_out_devices: number;
}

// A job of several ranks.
export interface RanksData {
  attempt: Integer;
  // 0: unknown.
  world_size: Integer;
  // Rows of the table `ranks`.
  count: Integer;
  attempts: PackedColumn;
  missing_ranks: PackedColumn;
  steps: Integer;
  mean_step_ns: Integer | null;
  length_ns: Integer;
  what_if_ns: Integer;
  balanced_ns: Integer;
  // The ranks whose spans the page has.
  in_timeline: PackedColumn;
  // Of the durations of steps, and of their durations without waiting.
  step_maps: RankMapData[];
}

// Durations of steps by ranks.
export interface RankMapData {
  measure: "duration_ns" | "own_ns";
  // All ranks, all steps, and the median of each step.
  rank: PackedColumn;
  step: PackedColumn;
  median_ns: PackedColumn;
  ranks_per_cell: number;
  steps_per_cell: number;
  cells: {
    // By cell, row by row: how many durations it has.
    durations: PackedColumn;
    // Of each cell that has some: the longest one compared with the median of its step, by its place in the cell.
    rank: PackedColumn;
    step: PackedColumn;
    over_median_ns: PackedColumn;
  };
}

export type Verdict = "good" | "usable" | "doubtful";

export interface WebDocument {
  schema: string;
  producer: string;
  title: string;
  files: string[];
  clock: { start_ns: Integer; end_ns: Integer; epoch_ns: Integer | null };
  // Of the whole trace.
  spans: Integer;
  // Only what Overview, Timeline, Ranks and About show: the first of two documents that `opscope view` gives.
  is_partial?: boolean;
  quality: { verdict: Verdict; reasons: string[] };
  strings: string[];
  tables: Partial<Record<TableName, TableData>>;
  // Only of a job of several ranks.
  ranks?: RanksData;
  overview: {
    steps: StepsSummary | null;
    memory_peak: { device: string; bytes: Integer; time_ns: Integer | null }[];
  };
  timeline: TimelineData;
  trees: TreeData[];
  // Only with a baseline.
  tree_diffs?: TreeDiffData[];
  memory: MemoryData;
  about: { info: Record<string, unknown>; metadata: Record<string, unknown> };
}

const kSchema = "opscope.web/";
const kMajor = "1";

// An error whose message is a sentence for the reader of the page.
export class DocumentError extends Error {}

// Parses the text of the data element. Throws DocumentError if the text is no document of this major version.
export function parseDocument(text: string, schema: string | null): WebDocument {
  checkSchema(schema);
  if (text.trim() === "") throw new DocumentError("This page has no data. `opscope report` writes pages with data.");
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new DocumentError("The data of this page is damaged: it is not JSON. Write the report again.");
  }
  if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) {
    throw new DocumentError("The data of this page is damaged: it is not an object. Write the report again.");
  }
  const document = parsed as WebDocument;
  checkSchema(document.schema);
  for (const member of ["clock", "quality", "strings", "tables", "timeline"] as const) {
    if (typeof document[member] !== "object" || document[member] === null) {
      throw new DocumentError(`The data of this page is damaged: it has no "${member}". Write the report again.`);
    }
  }
  return document;
}

function checkSchema(schema: unknown): void {
  const version = typeof schema === "string" && schema.startsWith(kSchema) ? schema.slice(kSchema.length) : "";
  if (version.split(".")[0] === kMajor) return;
  throw new DocumentError(
    `The data of this page has the schema "${String(schema)}", and this page reads ${kSchema}${kMajor}. ` +
      "Write the report again with one version of opscope.",
  );
}

// Where a trace begins so late on its clock, as on that of Unix, a moment is shown with the time since the begin beside it.
const kLateNs = 1_000_000_000n;

export function isLate(start: bigint): boolean {
  return start >= kLateNs || start <= -kLateNs;
}

// The begin of the clock, and conversions between exact times and times relative to it.
export class Origin {
  readonly start: bigint;
  // Length of the whole range in ns, at least 1.
  readonly length: number;
  readonly #end: bigint;

  constructor(clock: WebDocument["clock"]) {
    this.start = parseExact(clock.start_ns) ?? 0n;
    const end = parseExact(clock.end_ns) ?? this.start;
    this.length = end > this.start ? Number(end - this.start) : 1;
    this.#end = end > this.start ? end : this.start + 1n;
  }

  relative(time: Integer | bigint): number {
    return Number((typeof time === "bigint" ? time : (parseExact(time) ?? this.start)) - this.start);
  }

  // The time since the begin, shown beside a moment on the clock of `opscope info`; null: the trace begins near 0, and
  // nothing is shown.
  sinceBegin(time: bigint): number | null {
    return isLate(this.start) ? this.relative(time) : null;
  }

  // The time on the clock of `opscope info`, exact: for data-value and the address.
  exact(relative: number): bigint {
    if (relative === this.length) return this.#end; // a double has not all digits of a range of 105 days
    return this.start + BigInt(Math.round(relative));
  }
}
