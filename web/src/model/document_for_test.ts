// Documents for tests and for a look at the page: a small training run, made from the rules of
// docs/reference/web_data.md without opscope.
// SPDX-License-Identifier: Apache-2.0
import { deflateSync } from "node:zlib";
import type { ColumnDescription, MarksData, PackedColumn, TableData, TrackData, Unit, WebDocument } from "./document.ts";

// The reverse of decodeColumn.
export function packColumn(values: readonly (number | bigint)[], d: 0 | 1 = 0): PackedColumn {
  if (values.length === 0) return { n: 0, d, z: "" };
  const bytes: number[] = [];
  let last = 0n;
  for (const item of values) {
    const value = BigInt(item);
    let rest = zigzag(d === 1 ? value - last : value);
    last = value;
    for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
    bytes.push(Number(rest));
  }
  return { n: values.length, d, z: deflateSync(Uint8Array.from(bytes)).toString("base64") };
}

function zigzag(value: bigint): bigint {
  return value < 0n ? -value * 2n - 1n : value * 2n;
}

type Cell = string | number | boolean | null;

// Gathers each text once.
export class StringTable {
  readonly texts: string[] = [];
  readonly #indices = new Map<string, number>();

  index(text: string): number {
    let index = this.#indices.get(text);
    if (index === undefined) {
      index = this.texts.push(text) - 1;
      this.#indices.set(text, index);
    }
    return index;
  }
}

// A table from rows; `head` has "key:unit" per column, and for integers beyond 2^53 a cell of digits.
export function packTable(strings: StringTable, head: readonly string[], rows: readonly Cell[][]): TableData {
  const columns = head.map((text): ColumnDescription => {
    const [key = "", unit = "text"] = text.split(":");
    return { key, title: "", unit: unit as Unit, documentation: `The column \`${key}\`.` };
  });
  const values = columns.map((column, at) =>
    rows.map((row) => {
      const cell = row[at] ?? null;
      if (column.unit !== "text") return cell;
      return cell === null ? -1 : strings.index(String(cell));
    }),
  );
  return { columns, values, folded: null, why_empty: rows.length === 0 ? "The trace has none of these." : "" };
}

// Marks from rows of [track, depth, start, duration].
export function packMarks(rows: readonly (readonly [number, number, number, number])[]): MarksData {
  const none = packColumn([]);
  const pick = (at: number) => packColumn(rows.map((row) => row[at]!));
  const zeros = packColumn(rows.map(() => 0));
  return {
    ...{ track: pick(0), depth: pick(1), start: pick(2), duration: pick(3) },
    ...{ name: zeros, category: zeros, detail: zeros, arguments: zeros },
    folded: { count: 0, track: none, depth: none, start: none, duration: none, counts: none },
    left_out: 0,
  };
}

export function emptyDocument(): WebDocument {
  const none = packColumn([]);
  const strings = new StringTable();
  strings.index("");
  const names = ["steps", "devices", "findings", "operators", "kernels", "modules", "memory_devices", "memory_rows", "problems"];
  return {
    schema: "opscope.web/1",
    producer: "opscope 0.1.0",
    title: "empty.json",
    files: ["empty.json"],
    clock: { start_ns: 0, end_ns: 1, epoch_ns: null },
    spans: 0,
    quality: { verdict: "good", reasons: [] },
    strings: strings.texts,
    tables: Object.fromEntries(names.map((name) => [name, packTable(strings, ["name:text", "count:number"], [])])),
    overview: { steps: null, memory_peak: [] },
    timeline: {
      tracks: [],
      kept: { start: none, duration: none, covered: none, depth: none, name: none, category: none },
      folded: { spans: 0, track: none, depth: none, start: none, duration: none, count: none },
      arguments: {
        span: none,
        key: none,
        value: none,
        lists: { span: none, list: none, row_list: none, row_key: none, row_value: none },
        integers: [],
        left_out: 0,
      },
      flows: { kind: none, from: none, to: none, left_out: 0 },
      ranges: packMarks([]),
      instants: packMarks([]),
      counters: [],
      names: { name: none, count: none },
    },
    trees: [],
    memory: { curves: [], peaks: [], left_out: 0, blocks: [], blocks_left_out_devices: 0 },
    about: { info: {}, metadata: {} },
  };
}

// The same numbers in every run.
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const kOperators = ["aten::mm", "aten::addmm", "aten::relu", "aten::conv2d", "aten::layer_norm", "aten::copy_", "aten::softmax"];
const kStep = 4_200_000;
const kSteps = 12;

export interface SampleOptions {
  // Rows of Operators; more than 150 make it virtual.
  operators?: number;
  hasBaseline?: boolean;
  // The begin of the clock; digits beyond 2^53.
  start?: number | string;
}

// A training run of twelve steps with operators on a thread and kernels on a stream.
export function sampleDocument(options: SampleOptions = {}): WebDocument {
  const strings = new StringTable();
  strings.index("");
  const base = BigInt(options.start ?? 0);
  const time = (relative: number) => (options.start === undefined ? relative : String(base + BigInt(relative)));
  const next = random(7);
  const document = emptyDocument();

  const spans = { start: [] as bigint[], duration: [] as number[], covered: [] as number[], depth: [] as number[], name: [] as number[] };
  const counts = new Map<number, number>();
  const add = (start: number, duration: number, covered: number, depth: number, name: string) => {
    const index = strings.index(name);
    spans.start.push(base + BigInt(start));
    spans.duration.push(duration);
    spans.covered.push(covered);
    spans.depth.push(depth);
    spans.name.push(index);
    counts.set(index, (counts.get(index) ?? 0) + 1);
  };
  const perStep = 40;
  for (let step = 0; step < kSteps; ++step) {
    const at = step * kStep;
    add(at, kStep - 50_000, perStep * 80_000, 0, `ProfilerStep#${step}`);
    for (let i = 0; i < perStep; ++i) {
      add(at + 20_000 + i * 100_000, 80_000, 50_000, 1, kOperators[i % kOperators.length]!);
      add(at + 30_000 + i * 100_000, 50_000, 0, 2, "cudaLaunchKernel");
    }
  }
  const onThread = spans.start.length;
  for (let i = 0; i < kSteps * perStep; ++i) {
    add(Math.floor(i / perStep) * kStep + 60_000 + (i % perStep) * 100_000, 70_000, 0, 0, `void gemm_${i % 5}<float, 128, 64>(float*)`);
  }
  const total = spans.start.length;
  const track = (id: string, title: string, kind: TrackData["kind"], count: number, rows: number): TrackData => ({
    track: kind === "thread" ? 0 : 1, id, title, group: "python (1234)", kind, rank: -1, spans: count, kept: count, rows, mark_rows: 0,
  });

  const operators: Cell[][] = Array.from({ length: options.operators ?? 24 }, (_, i) => {
    const count = 1 + Math.floor(next() * 4000);
    const self = Math.floor(next() ** 4 * 40_000_000);
    const name = i < kOperators.length ? kOperators[i]! : `aten::op_${i}`;
    return [name, count, self + 5000, self, next() ** 3, Math.floor(self / count), Math.floor(next() * 2 ** 28) - 2 ** 20, Math.floor(next() * 1e12), "host"];
  });
  const head = ["name:text", "count:number", "total_ns:time", "self_ns:time", "self_share:share", "mean_ns:time", "self_memory_bytes:bytes", "flops:amount", "on:text"];
  const steps = Array.from({ length: kSteps }, (_, i): Cell[] => {
    const duration = kStep - 50_000 + Math.floor(next() * 300_000);
    return [-1, i, `ProfilerStep#${i}`, time(i * kStep), duration, duration - 900_000, 300_000, 600_000, 0];
  });
  const range = (from: number, to: number): [string | number, string | number] => [time(from), time(to)];

  document.title = "train.json";
  document.files = ["train.json"];
  document.clock = { start_ns: time(0), end_ns: time(kSteps * kStep), epoch_ns: "1785000000000000000" };
  document.spans = total;
  document.quality = { verdict: "usable", reasons: ["12 flows have no begin.", "The clock of device 0 was adjusted by 1.2 us."] };
  document.tables = {
    steps: {
      ...packTable(strings, ["rank:number", "step:number", "name:text", "start_ns:time", "duration_ns:time", "compute_ns:time", "copy_ns:time", "host_ns:time", "idle_ns:time"], steps),
      ranges: steps.map((_, i) => range(i * kStep, (i + 1) * kStep)),
    },
    devices: packTable(strings, ["rank:number", "device:number", "stream:text", "spans:number", "busy_ns:time", "busy_share:share", "idle_ns:time", "queue_mean:double"],
      [[-1, 0, "all", 480, 33_600_000, 0.666667, 16_800_000, 1.75], [-1, 0, "7", 480, 33_600_000, 0.666667, 16_800_000, 0.052]]),
    findings: {
      ...packTable(strings, ["message:text", "saving_ns:time", "share:share"], [
        ["The device waits for the host: 40 launches per step take 2.0 ms, and the device is idle for 1.4 ms of it. Use CUDA graphs or larger batches.", 1_400_000, 0.333333],
        ["cudaStreamSynchronize blocks the host once per step.", 150_000, 0.0357],
        ["The input thread is never waited for.", null, null],
      ]),
      ranges: [range(0, kStep), range(3 * kStep, 3 * kStep + 200_000), null],
    },
    operators: packTable(strings, head, operators),
    kernels: packTable(strings, ["name:text", "count:number", "total_ns:time", "mean_ns:time"],
      Array.from({ length: 5 }, (_, i) => [`void gemm_${i}<float, 128, 64>(float*)`, 96, 6_720_000 + i, 70_000])),
    modules: packTable(strings, ["name:text", "count:number", "total_ns:time", "self_ns:time"],
      [["Net_0", 12, 48_000_000, 1_000_000], ["Net_0.Linear_0", 12, 20_000_000, 20_000_000], ["Net_0.ReLU_1", 12, 27_000_000, 27_000_000]]),
    memory_devices: packTable(strings, ["device:text", "peak_bytes:bytes", "allocations:number"], [["cuda:0", 5_368_709_120, 40_123], ["cpu", 123_456, 17]]),
    memory_rows: packTable(strings, ["name:text", "allocations:number", "allocated_bytes:bytes", "peak_bytes:bytes"],
      kOperators.map((name, i) => [name, 100 * i, 2 ** (20 + i), i === 0 ? 0 : 2 ** (18 + i)])),
    problems: packTable(strings, ["kind:text", "severity:text", "count:number", "message:text"],
      [["unpaired_flow", "info", 12, "flow ends without their other end were dropped"]]),
  };
  if (options.hasBaseline) {
    document.tables.compare = packTable(strings, ["name:text", "status:text", "delta_ns:time", "a_self_ns:time", "b_self_ns:time", "p:double"],
      [["aten::mm", "slower", 120_000, 1_000_000, 1_120_000, 0.00123], ["aten::relu", "faster", -30_000, 90_000, 60_000, 0.04]]);
  }
  document.overview = {
    steps: { count: kSteps, mean_ns: 4_301_234, p50_ns: 4_290_000, p99_ns: 4_449_000, min_ns: 4_151_000, max_ns: 4_449_999, stddev_ns: 80_123 },
    memory_peak: [{ device: "cuda:0", bytes: 5_368_709_120, time_ns: time(20_000_000) }, { device: "cpu", bytes: 123_456, time_ns: null }],
  };
  document.timeline.tracks = [track("1234/1", "main", "thread", onThread, 3), track("0/7", "stream 7", "stream", total - onThread, 1)];
  document.timeline.kept = {
    start: packColumn(spans.start, 1),
    duration: packColumn(spans.duration),
    covered: packColumn(spans.covered),
    depth: packColumn(spans.depth),
    name: packColumn(spans.name),
    category: packColumn(spans.name.map(() => 0)),
  };
  document.timeline.names = { name: packColumn([...counts.keys()], 1), count: packColumn([...counts.values()]) };
  document.about.info = {
    schema: "opscope.info/1", format: "chrome-json", format_version: "1", spans: total, start_ns: 0, end_ns: kSteps * kStep, epoch_ns: 0,
    options: { activities: "cpu, cuda", record_shapes: true },
    machine: { host: "node-17", gpu: "NVIDIA H100", memory_bytes: 137_438_953_472 },
  };
  document.strings = strings.texts;
  return document;
}
