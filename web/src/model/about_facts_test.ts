// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { beginText, machineFacts, optionFacts, versionFacts } from "./about_facts.ts";

const lines = (facts: ReturnType<typeof machineFacts>) => facts.map(({ title, values }) => [title, ...values]);

describe("facts of the tab About", () => {
  it("counts devices of one name and size", () => {
    const devices = [{ name: "A", totalGlobalMem: 2 ** 30 }, { name: "A", totalGlobalMem: 2 ** 30 }, { name: "B" }];
    expect(lines(machineFacts({ deviceProperties: devices }))).toEqual([["Devices", "2 × A, 1.00 GiB", "B"]]);
  });

  it("reads the versions that Kineto writes", () => {
    const ofKineto = { cupti_version: 18, cuda_runtime_version: 12040, cuda_driver_version: 13000 };
    expect(lines(versionFacts(ofKineto))).toEqual([["CUDA", "12.4"], ["CUDA of the driver", "13.0"], ["CUPTI", "18"]]);
    const own = { cupti_version: 130001, opscope_software: { torch: "2.11.0", cuda: "13.0" }, cuda_runtime_version: 12040 };
    expect(lines(versionFacts(own))).toEqual([["PyTorch", "2.11.0"], ["CUDA", "13.0"], ["CUPTI", "13.0.1"]]);
  });

  it("has the options of the recording, else those that torch writes where they are on", () => {
    const recorded = { opscope_options: { activities: ["CPU", "CUDA"], with_stack: false }, with_stack: 1 };
    expect(lines(optionFacts(recorded, { abi: 2, at_cap: "stop" }))).toEqual([
      ["Activities (activities)", "CPU, CUDA"],
      ["Call stacks (with_stack)", false],
      ["At the memory limit (at_cap)", "stop"],
    ]);
    expect(lines(optionFacts({ record_shapes: 1, host_name: "a" }, {}))).toEqual([["Shapes of inputs (record_shapes)", true]]);
  });

  it("takes any value of a foreign file for what it is", () => {
    const odd = { host_name: ["a"], deviceProperties: { name: 1 }, opscope_software: 7, opscope_options: null, cupti_version: "x", distributedInfo: [] };
    expect(lines(machineFacts(odd))).toEqual([]);
    expect(lines(optionFacts(odd, null))).toEqual([]);
    expect(lines(versionFacts(odd))).toEqual([["CUPTI", "x"]]);
  });

  it("says when the recording began if the trace has a date", () => {
    expect(beginText(1_795_981_985_000_000_000n, 146_000_000n)).toBe("2026-11-29 19:53:05.146 UTC");
    expect([beginText(0n, 5n), beginText(null, null)]).toEqual(["", ""]);
  });
});
