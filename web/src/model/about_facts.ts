// What the tab About says of the machine, the versions and the user's options, from the metadata of the trace: in the
// words of users, with the exact value beside them. Metadata comes from files, so any value may be of any kind.
// SPDX-License-Identifier: Apache-2.0
import type { Unit } from "./document.ts";
import { bytesText, parseNumber, type Value } from "./numbers.ts";
import { titleOf } from "./tables.ts";

export interface AboutFact {
  title: string;
  // Several: a line each.
  values: Value[];
  unit: Unit;
}

type Facts = Readonly<Record<string, unknown>>;

function factsOf(value: unknown): Facts {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Facts) : {};
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}

function addText(facts: AboutFact[], title: string, ...values: string[]): void {
  const known = values.filter((value) => value !== "");
  if (known.length > 0) facts.push({ title, values: known, unit: "text" });
}

function addNumber(facts: AboutFact[], title: string, value: unknown): void {
  const number = parseNumber(value);
  if (number !== null) facts.push({ title, values: [number], unit: "number" });
}

// "2 × NVIDIA H200, 139.80 GiB": neighbours with one name and size are one line.
function deviceTexts(properties: unknown): string[] {
  if (!Array.isArray(properties)) return [];
  const counts = new Map<string, number>();
  for (const device of properties.map(factsOf)) {
    const name = textOf(device["name"]);
    if (name === "") continue;
    const bytes = parseNumber(device["totalGlobalMem"]);
    const text = bytes === null || Number(bytes) <= 0 ? name : `${name}, ${bytesText(Number(bytes))}`;
    counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return [...counts].map(([text, count]) => (count === 1 ? text : `${count} × ${text}`));
}

export function machineFacts(metadata: Facts): AboutFact[] {
  const facts: AboutFact[] = [];
  const distributed = factsOf(metadata["distributedInfo"]);
  const devices = deviceTexts(metadata["deviceProperties"]);
  addText(facts, "Host", textOf(metadata["host_name"]));
  addNumber(facts, "Processors", metadata["opscope_processors"]);
  addNumber(facts, "Threads of torch", metadata["opscope_threads"]);
  addText(facts, devices.length === 1 ? "Device" : "Devices", ...devices);
  addNumber(facts, "Rank", distributed["rank"]);
  addNumber(facts, "Ranks of the job", distributed["world_size"]);
  addText(facts, "Backend of collectives", textOf(distributed["backend"]));
  return facts;
}

const kSoftware: Readonly<Record<string, string>> = { opscope: "opscope", torch: "PyTorch", paddle: "PaddlePaddle", megengine: "MegEngine", python: "Python", cuda: "CUDA" };

// 12040 is 12.4; numbers of another form are not changed.
function cudaVersion(value: unknown): string {
  const number = parseNumber(value);
  if (number === null) return "";
  const [major, minor] = [Math.floor(Number(number) / 1000), Math.floor((Number(number) % 1000) / 10)];
  return major > 0 ? `${major}.${minor}` : String(number);
}

// 130001 is 13.0.1 since CUDA 13; before, it is the number of the interface.
function cuptiVersion(value: unknown): string {
  const number = Number(parseNumber(value) ?? 0);
  if (number < 10_000) return textOf(value);
  return [Math.floor(number / 10_000), Math.floor((number % 10_000) / 100), number % 100].join(".");
}

export function versionFacts(metadata: Facts): AboutFact[] {
  const facts: AboutFact[] = [];
  const software = factsOf(metadata["opscope_software"]);
  for (const [name, version] of Object.entries(software)) addText(facts, Object.hasOwn(kSoftware, name) ? kSoftware[name]! : name, textOf(version));
  if (!("cuda" in software)) addText(facts, "CUDA", cudaVersion(metadata["cuda_runtime_version"]));
  addText(facts, "CUDA of the driver", cudaVersion(metadata["cuda_driver_version"]));
  addText(facts, "CUPTI", cuptiVersion(metadata["cupti_version"]));
  addText(facts, "NCCL", textOf(factsOf(metadata["distributedInfo"])["nccl_version"]));
  return facts;
}

const kOptions: Readonly<Record<string, string>> = {
  activities: "Activities",
  targets: "Targets",
  record_shapes: "Shapes of inputs",
  profile_memory: "Memory",
  with_stack: "Call stacks",
  with_modules: "Modules",
  with_flops: "FLOPs",
  with_backtrace: "Call stacks",
  max_bytes: "Memory limit",
  at_cap: "At the memory limit",
};

// Options of the recorder (member `options` of `opscope info`) that the user gives.
export const kUsersOptions: ReadonlySet<string> = new Set(["max_bytes", "at_cap"]);

// torch writes these into a trace where they are on; the other entries of the metadata are no options.
const kTorchsOptions = ["record_shapes", "profile_memory", "with_stack", "with_modules", "with_flops"];

// `recorder`: the options of `opscope info`.
export function optionFacts(metadata: Facts, recorder: unknown): AboutFact[] {
  const ofRecorder = Object.entries(factsOf(recorder)).filter(([key]) => kUsersOptions.has(key));
  const ofTorch = kTorchsOptions.filter((key) => metadata[key] !== undefined).map((key) => [key, true] as const);
  const own = Object.entries(factsOf(metadata["opscope_options"]));
  return [...(own.length > 0 ? own : ofTorch), ...ofRecorder].map(([key, value]): AboutFact => {
    const title = Object.hasOwn(kOptions, key) ? `${kOptions[key]!} (${key})` : titleOf(key);
    if (typeof value === "boolean") return { title, values: [value], unit: "truth" };
    if (Array.isArray(value)) return { title, values: [value.map(textOf).join(", ")], unit: "text" };
    const number = typeof value === "number" ? value : null;
    if (number !== null) return { title, values: [number], unit: /(^|_)bytes$/.test(key) ? "bytes" : "number" };
    return { title, values: [typeof value === "string" ? value : JSON.stringify(value)], unit: "text" };
  });
}

// When the recording began, on the clock of Greenwich, to milliseconds: "2026-11-29 19:52:11.153 UTC". "": unknown.
export function beginText(epochNs: bigint | null, startNs: bigint | null): string {
  if (epochNs === null || epochNs === 0n) return "";
  const milliseconds = Number((epochNs + (startNs ?? 0n)) / 1_000_000n);
  if (milliseconds <= 0 || milliseconds >= 8.64e15) return "";
  return `${new Date(milliseconds).toISOString().replace("T", " ").replace("Z", "")} UTC`;
}

const kEvents: Readonly<Record<string, string>> = {
  scope: "A scope",
  async_scope: "A scope that crosses others",
  point: "A counter, an instant, an end of a flow",
  torch_op: "An operator of torch",
  torch_argument: "Each argument of an operator of torch",
  torch_range: "A record_function of torch",
  paddle_range: "An event of Paddle",
  python_call: "A call of a Python function",
  c_call: "A call of a C function from Python",
  module_call: "A call of a module",
};

// What the recording of one event cost, as docs/reference/overhead.md defines it.
export const kCosts: readonly (readonly [key: string, words: string])[] = [
  ["begin_ns", "around its begin"],
  ["end_ns", "around its end"],
  ["async_end_ns", "around its end if it crosses others"],
  ["inside_ns", "of these within the event"],
  ["floor_ns", "of these with empty callbacks, too"],
];

export function eventTitle(kind: string): string {
  return Object.hasOwn(kEvents, kind) ? kEvents[kind]! : titleOf(kind);
}
