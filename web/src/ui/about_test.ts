// @vitest-environment happy-dom
// SPDX-License-Identifier: Apache-2.0
import { h, render } from "preact";
import { act } from "preact/test-utils";
import { expect, test } from "vitest";
import { Origin, type WebDocument } from "../model/document.ts";
import { emptyDocument } from "../model/document_for_test.ts";
import { About } from "./about.tsx";
import { type Page, PageContext } from "./page_context.ts";

async function show(made: WebDocument) {
  const page = { document: made, origin: new Origin(made.clock) } as Partial<Page> as Page;
  render(null, document.body);
  await act(() => render(h(PageContext.Provider, { value: page }, h(About, {})), document.body));
  return [...document.querySelectorAll(".card h2")].map((heading) => heading.textContent);
}

test("members of members are numbers with units, not JSON, and files stand on lines of their own", async () => {
  const made = emptyDocument();
  made.files = ["a.json", "b.json"];
  made.about.info = { "own_cost": { whole_ns: 5, events: 2, kinds: { torch_op: { begin_ns: 74.76, end_ns: 20.5, inside_ns: 0 } } }, dump: { cause: { at_ns: 7 } } };
  await show(made);
  const text = document.body.textContent;
  expect(text).toContain("An operator of torch74.760 ns around its begin20.500 ns around its end");
  expect(text).toContain("at: 7 ns");
  expect(text).not.toContain("{");
  expect(document.querySelector('[data-value="74.76"]')?.textContent).toBe("74.760 ns");
  const lines = [...document.querySelectorAll("li")].map((line) => line.textContent);
  expect(lines).toEqual(expect.arrayContaining(["a.json", "b.json"]));
});

test("machine, versions and options of the user come first, what only the recorder needs comes last", async () => {
  const made = emptyDocument();
  made.clock.epoch_ns = "1795981985146000000";
  made.about.metadata = {
    host_name: "node7",
    opscope_processors: 16,
    deviceProperties: [{ id: 0, name: "NVIDIA H200", totalGlobalMem: 150109880320 }],
    opscope_software: { torch: "2.11.0", python: "3.11.7" },
    opscope_options: { record_shapes: true, with_stack: false },
  };
  made.about.info = { format: "opscope", options: { abi: 2, max_bytes: 1024 }, "own_cost": { whole_ns: 5, events: 2, kinds: {} } };
  const headings = await show(made);
  expect(headings).toEqual(["Machine", "Versions", "Options", "Trace", "Report", "Clock", "Recorder", "Overhead of recording"]);
  const cards = [...document.querySelectorAll(".card")].map((card) => card.textContent);
  expect(cards[0]).toBe("MachineHostnode7Processors16DeviceNVIDIA H200, 139.80 GiB");
  expect(cards[1]).toBe("VersionsPyTorch2.11.0Python3.11.7");
  expect(cards[2]).toBe("OptionsShapes of inputs (record_shapes)yesCall stacks (with_stack)noMemory limit (max_bytes)1.00 KiB");
  expect(cards[3]).toContain("Begin2026-11-29 19:53:05.146 UTC");
  expect(cards[3]).not.toContain(" s");
  expect(cards[6]).toBe("RecorderVersion of the recorder's ABI2");
});
