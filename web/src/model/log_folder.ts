// The traces of a log folder by run, worker and window, as TensorBoard's profiler plugin listed them.
//
//   resnet/node1_4711.1764350000000000000.pt.trace.json.gz    run "resnet", worker "node1_4711", "1: 2025-11-28 17:13:20"
//   opscope-run/rank3-a0-node1-4711-2.opscope                 run "opscope-run", worker "rank 3, node1, 4711", window 2
//
// torch's tensorboard_trace_handler gives names of the first form, `opscope run` those of the second. Any other
// file is the only window of a worker with the name of the file.
// SPDX-License-Identifier: Apache-2.0
import { getOrMake } from "./memo.ts";
import type { ServedFile } from "./server.ts";

export interface LogWindow {
  id: string; // of the file
  text: string;
}
export interface LogWorker {
  name: string;
  windows: LogWindow[]; // in the order in which they were recorded
}
export interface LogRun {
  name: string; // the folder; "" for files outside of any folder
  workers: LogWorker[];
}

interface Place {
  worker: string;
  order: bigint; // among the windows of the worker
  window: (at: number) => string; // of the window that is at this place in the order
}

const kOfHandler = /^(.+)\.(\d{10,19})\.pt\.trace\.json(?:\.gz)?$/;
const kOfRun = /^rank(\d+|_unknown)-a(\d+)-([^-]*)-(\d+)-(\d+)\.opscope$/;

// null: the name has neither form.
function placeOf(fileName: string): Place | null {
  const handler = kOfHandler.exec(fileName);
  if (handler !== null) return { worker: handler[1]!, order: BigInt(handler[2]!), window: (at) => `${at + 1}: ${timeText(handler[2]!)}` };
  const run = kOfRun.exec(fileName);
  if (run === null) return null;
  const [, rank, attempt, host, process, number] = run;
  const who = rank === "_unknown" ? "unknown rank" : `rank ${rank}`;
  return { worker: `${who}, ${host}, ${process}${attempt === "0" ? "" : `, attempt ${attempt}`}`, order: BigInt(number!), window: () => number! };
}

// Seconds or nanoseconds since 1970, as a date and a time of this machine.
function timeText(digits: string): string {
  const date = new Date(Number(BigInt(digits.padEnd(19, "0")) / 1_000_000n));
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

// Runs and workers by name, numbers in names by value. null: no file has a name of these forms, or there is one file.
export function runsOf(files: readonly ServedFile[]): LogRun[] | null {
  const runs = new Map<string, Map<string, (Place & { id: string })[]>>();
  let isLog = false;
  for (const { id, name } of files) {
    const slash = name.lastIndexOf("/");
    const place = placeOf(name.slice(slash + 1));
    isLog ||= place !== null;
    const workers = getOrMake(runs, name.slice(0, Math.max(slash, 0)), () => new Map());
    const { worker, order, window } = place ?? { worker: name.slice(slash + 1), order: 0n, window: () => "" };
    getOrMake(workers, worker, () => []).push({ id, worker, order, window });
  }
  if (!isLog || files.length < 2) return null;
  return sorted(runs).map(([name, workers]) => ({
    name,
    workers: sorted(workers).map(([worker, windows]) => ({
      name: worker,
      windows: windows.sort((a, b) => (a.order < b.order ? -1 : a.order > b.order ? 1 : 0)).map(({ id, window }, at) => ({ id, text: window(at) })),
    })),
  }));
}

const kByNumber = new Intl.Collator("en", { numeric: true });

function sorted<Value>(map: Map<string, Value>): [string, Value][] {
  return [...map].sort(([a], [b]) => kByNumber.compare(a, b));
}
