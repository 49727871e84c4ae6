// @vitest-environment happy-dom
// SPDX-License-Identifier: Apache-2.0
import { h, render } from "preact";
import { act } from "preact/test-utils";
import { expect, test } from "vitest";
import { AddressStore, kTabs } from "../model/address.ts";
import { Origin } from "../model/document.ts";
import type { FoundSpan, SpanSource } from "../model/span_source.ts";
import { type Page, PageContext } from "./page_context.ts";
import { type TimelineState, useTimeline } from "./use_timeline.ts";

const kOrigin = new Origin({ start_ns: 0, end_ns: 10_000, epoch_ns: null });

// A source that has every span.
function anySource(): SpanSource {
  return { find: async (key) => ({ key, track: 0, depth: 0, name: "" }) satisfies FoundSpan, details: async () => null } as Partial<SpanSource> as SpanSource;
}

let shown: TimelineState;

function Shown() {
  shown = useTimeline();
  return null;
}

async function open(store: AddressStore, source: SpanSource): Promise<void> {
  await act(() => render(h(PageContext.Provider, { value: { store, source, origin: kOrigin } as Partial<Page> as Page }, h(Shown, {})), document.body));
  await settle();
}

async function settle(): Promise<void> {
  await act(() => new Promise<void>((done) => setTimeout(done)));
}

test("a page that is opened with a range inside of the selected span, or beside it, shows that range", async () => {
  for (const range of ["400..500", "9000..9100"]) {
    render(null, document.body);
    await open(new AddressStore(kOrigin, `#range=${range}&span=1/2@100%2B1000`, kTabs), anySource());
    expect(shown.selected).not.toBe(null);
    expect(`${shown.range.start}..${shown.range.end}`).toBe(range);
  }
});

test("a span that becomes selected comes into the visible range, and stays where a followed address shows a part of it", async () => {
  render(null, document.body);
  const store = new AddressStore(kOrigin, "#range=400..500", kTabs);
  await open(store, anySource());
  await act(() => store.set({ span: { track: "1/2", start: 8000, duration: 20 } }));
  await settle();
  expect(shown.range).toEqual({ start: 7960, end: 8060 });
  await act(() => store.follow("#range=400..500&span=1/2@100%2B1000"));
  await settle();
  expect(shown.range).toEqual({ start: 400, end: 500 });
  await act(() => store.follow("#range=400..500&span=1/2@9000%2B10"));
  await settle();
  expect(shown.range).toEqual({ start: 8955, end: 9055 });
});

test("another source of the same span leaves the visible range alone", async () => {
  render(null, document.body);
  const store = new AddressStore(kOrigin, "#range=400..500", kTabs);
  await open(store, anySource());
  await act(() => store.set({ span: { track: "1/2", start: 450, duration: 20 } }));
  await settle();
  await act(() => store.set({ range: { start: 2000, end: 2100 } }));
  await open(store, anySource());
  expect(shown.range).toEqual({ start: 2000, end: 2100 });
});

test("a span too far from the begin for a double to tell its ends apart can be shown and left again", async () => {
  render(null, document.body);
  const far = new Origin({ start_ns: 0, end_ns: "1700000000000020100", epoch_ns: null });
  const store = new AddressStore(far, "", kTabs);
  await act(() => render(h(PageContext.Provider, { value: { store, source: anySource(), origin: far } as Partial<Page> as Page }, h(Shown, {})), document.body));
  await act(() => store.set({ span: { track: "1/2", start: 1.7e18, duration: 100 } }));
  await settle();
  for (const key of ["r", "f", "w", "s", "d"]) {
    await act(() => void shown.press(key));
    expect(shown.range.start, key).toBeLessThan(shown.range.end);
  }
});
