// @vitest-environment happy-dom
// SPDX-License-Identifier: Apache-2.0
import { h, render } from "preact";
import { act } from "preact/test-utils";
import { expect, test } from "vitest";
import { AddressStore, type Range } from "../model/address.ts";
import { Origin } from "../model/document.ts";
import { emptyDocument } from "../model/document_for_test.ts";
import { loadMarks } from "../model/marks.ts";
import { makeSpans } from "../model/spans_for_test.ts";
import { type Page, PageContext } from "./page_context.ts";
import { TimelineView } from "./timeline_view.tsx";
import type { TimelineState } from "./use_timeline.ts";

test("a pointer that the browser takes away ends its drag", async () => {
  const made = emptyDocument();
  const origin = new Origin(made.clock);
  const spans = makeSpans([{ track: 0, name: 0, start: 0, duration: 1000, depth: 0 }], [0], ["name"]);
  const marks = await loadMarks(made, spans.tracks);
  const ranges: Range[] = [];
  const nothing = { selection: null, rank: null, selected: null, details: null, failure: "" };
  const timeline = { ...nothing, range: { start: 200, end: 600 }, length: 1000, setRange: (range: Range) => ranges.push(range) } as unknown as TimelineState;
  const page = { document: made, origin, store: new AddressStore(origin, "", ["timeline"]), source: { detail: null } } as unknown as Page;
  await act(() => render(h(PageContext.Provider, { value: page }, h(TimelineView, { spans, marks, mark: -1, timeline })), document.body));
  const canvas = document.querySelector("canvas")!;
  canvas.setPointerCapture = () => {};
  const send = (type: string, x: number) => act(() => void canvas.dispatchEvent(new PointerEvent(type, { button: 0, pointerId: 1, clientX: x, clientY: 500, bubbles: true })));
  await send("pointerdown", 100);
  await send("pointermove", 120);
  expect(ranges.length).toBe(1);
  await send("pointercancel", 120);
  await send("pointermove", 140);
  expect(ranges.length).toBe(1);
});
