// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { runsOf } from "./log_folder.ts";

const kNames = [
  "resnet/node10_7.1764350003000000000.pt.trace.json.gz",
  "resnet/node2_9.1764350001000000000.pt.trace.json",
  "resnet/node10_7.1764350001000000000.pt.trace.json.gz",
  "bert/my.worker.1764350001.pt.trace.json",
];

function files(names: string[]) {
  return names.map((name, id) => ({ id: String(id), name }));
}

describe("runsOf", () => {
  it("groups the files of tensorboard_trace_handler by folder and worker, windows in time", () => {
    const runs = runsOf(files(kNames))!;
    const shown = runs.map(({ name, workers }) => [name, workers.map((worker) => [worker.name, worker.windows.map(({ id }) => id)])]);
    expect(shown).toEqual([
      ["bert", [["my.worker", ["3"]]]],
      ["resnet", [["node2_9", ["1"]], ["node10_7", ["2", "0"]]]],
    ]);
  });

  it("takes seconds and nanoseconds for the same time", () => {
    const runs = runsOf(files(kNames))!;
    const text = runs[0]!.workers[0]!.windows[0]!.text;
    expect(text).toMatch(/^1: 2025-11-2\d \d\d:13:21$/);
    expect(runs[1]!.workers[0]!.windows[0]!.text).toBe(text);
  });

  it("numbers windows, which may be of one second", () => {
    const windows = runsOf(files(["w.1764350001000000009.pt.trace.json", "w.1764350001000000002.pt.trace.json"]))![0]!.workers[0]!.windows;
    expect(windows.map(({ id, text }) => [id, text.slice(0, 3)])).toEqual([["1", "1: "], ["0", "2: "]]);
  });

  it("names rank, host and process of the files of opscope run", () => {
    const runs = runsOf(files(["rank10-a0-n1-12-1.opscope", "rank2-a1-n1-11-12.opscope", "rank2-a1-n1-11-2.opscope", "rank_unknown-a0-n_1-5-1.opscope"]))!;
    expect(runs.map(({ name }) => name)).toEqual([""]);
    expect(runs[0]!.workers.map(({ name, windows }) => [name, windows.map(({ id, text }) => [id, text])])).toEqual([
      ["rank 2, n1, 11, attempt 1", [["2", "2"], ["1", "12"]]],
      ["rank 10, n1, 12", [["0", "1"]]],
      ["unknown rank, n_1, 5", [["3", "1"]]],
    ]);
  });

  it("lists another file beside them as a worker of its own", () => {
    const runs = runsOf(files(["a/other.json", "a/w.1764350001000000000.pt.trace.json"]))!;
    expect(runs[0]!.workers.map(({ name, windows }) => [name, windows.length])).toEqual([["other.json", 1], ["w", 1]]);
  });

  it("is not for files with other names, nor for a single one", () => {
    expect(runsOf(files(["a.json", "b/c.opscope"]))).toBeNull();
    expect(runsOf(files([kNames[0]!]))).toBeNull();
  });

  it("takes no name for a member of the language", () => {
    const runs = runsOf(files(["__proto__/constructor.1764350001000000000.pt.trace.json", "__proto__/x.json"]))!;
    expect(runs.map(({ name }) => name)).toEqual(["__proto__"]);
    expect(runs[0]!.workers.map(({ name }) => name)).toEqual(["constructor", "x.json"]);
  });
});
