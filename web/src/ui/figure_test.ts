// @vitest-environment happy-dom
// SPDX-License-Identifier: Apache-2.0
import { h, render } from "preact";
import { act } from "preact/test-utils";
import { beforeEach, expect, test } from "vitest";
import { Origin } from "../model/document.ts";
import { packTable, StringTable } from "../model/document_for_test.ts";
import { readTable } from "../model/tables.ts";
import { StepChart } from "./charts/step_chart.tsx";
import { DataTable } from "./data_table.tsx";
import { DetailsField, momentField } from "./details_field.tsx";
import { changesOf } from "./frame_facts.ts";
import { type Page, PageContext } from "./page_context.ts";
import { FactChanges, FactText } from "./tooltip.tsx";

beforeEach(() => render(null, document.body));
const shown = () => Array.from(document.querySelectorAll<HTMLElement>("[data-value]"), (each) => [each.dataset["value"], each.textContent]);

test("a moment of a trace that begins late is followed by the time since the begin", () => {
  const origin = new Origin({ start_ns: "1661938466240491000", end_ns: "1661938467010384000", epoch_ns: "0" });
  render(h(DetailsField, momentField("start_ns", origin, 25_318_000)), document.body);
  expect(shown()).toEqual([
    ["1661938466265809000", "1661938466.266 s"],
    ["25318000", "25.318 ms"],
  ]);
  expect(document.querySelectorAll("[data-field]").length).toBe(1);
});

test("a moment of a trace that begins near 0 stands alone", () => {
  const origin = new Origin({ start_ns: 7_467_055, end_ns: 2_564_923_721, epoch_ns: "0" });
  render(h(DetailsField, momentField("start_ns", origin, 945)), document.body);
  expect(shown()).toEqual([["7468000", "7.468 ms"]]);
});

test("a change has an element for each of its numbers", () => {
  const arrays = (total: number) => ({ unit: "time", total: [total], self: [total], count: [1] });
  const change = (now: number, before: number) => {
    const fact = changesOf({ run: arrays(now), base: arrays(before) } as never, 0)[0]!;
    render(h("p", null, h(FactText, { fact }), h(FactChanges, { fact })), document.body);
    return [document.body.textContent, ...shown()];
  };
  expect(change(150, 100)).toEqual(["150 ns (+50 ns, +50.00 %)", ["150", "150 ns"], ["50", "+50 ns"], ["0.5", "+50.00 %"]]);
  expect(change(0, 100)).toEqual(["0 ns (-100 ns, gone)", ["0", "0 ns"], ["-100", "-100 ns"]]);
  expect(change(100, 100)).toEqual(["100 ns", ["100", "100 ns"]]);
});

test("the words of a bar have the exact numbers of rank and step", async () => {
  const strings = new StringTable();
  const rows = [[0, 1009, 100, 70], [1, 1010, 90, 60]];
  const of = (list: number[][]) => packTable(strings, ["rank:number", "step:number", "duration_ns:time", "compute_ns:time"], list);
  const words = async (list: number[][]) => {
    const made = { tables: { steps: of(list) }, strings: strings.texts, overview: { steps: null } };
    const page = { document: made, origin: new Origin({ start_ns: 0, end_ns: 9, epoch_ns: null }) } as unknown as Page;
    render(null, document.body);
    await act(() => render(h(PageContext.Provider, { value: page }, h(StepChart, {})), document.body));
    const first = document.querySelector(".words")!;
    return [first.textContent, ...Array.from(first.querySelectorAll("[data-value]"), (each) => each.getAttribute("data-value"))];
  };
  expect(await words(rows.slice(0, 1))).toEqual(["Step 1009: 100 ns, Compute 70 ns", "1009", "100", "70"]);
  expect(await words(rows)).toEqual(["Rank 0, step 1009: 100 ns, Compute 70 ns", "0", "1009", "100", "70"]);
});

test("the text of a heading is no part of its button, and a moment says in its title when it is since the begin", async () => {
  const strings = new StringTable();
  const table = readTable(packTable(strings, ["name:text", "start_ns:time"], [["a", "1661938466265034999"]]), strings.texts, 1661938466265034000n);
  await act(() => render(h(DataTable, { name: "Steps", table }), document.body));
  const headings = Array.from(document.querySelectorAll("th"), (heading) => [heading.textContent, heading.querySelector("button")?.textContent, heading.querySelector("button")?.getAttribute("aria-label")]);
  expect(headings).toEqual([
    ["Name", "", "Name"],
    ["Start", "", "Start"],
  ]);
  expect(Array.from(document.querySelectorAll("td"), (cell) => cell.title)).toEqual(["", "999 ns since the begin of the trace"]);
});
