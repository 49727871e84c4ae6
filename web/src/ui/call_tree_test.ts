// @vitest-environment happy-dom
// SPDX-License-Identifier: Apache-2.0
import { h, render } from "preact";
import { act } from "preact/test-utils";
import { expect, test } from "vitest";
import { AddressStore, kTabs } from "../model/address.ts";
import { childrenOf } from "../model/call_tree.ts";
import { Origin } from "../model/document.ts";
import { randomTree } from "../model/tree_for_test.ts";
import { CallTreeTable } from "./call_tree.tsx";
import { type Page, PageContext } from "./page_context.ts";

test("a key that leads nowhere takes the focus from no field later", async () => {
  const tree = randomTree(1, 20);
  const origin = new Origin({ start_ns: 0, end_ns: 100, epoch_ns: null });
  const store = new AddressStore(origin, "", kTabs);
  const field = document.body.appendChild(document.createElement("input"));
  const place = document.body.appendChild(document.createElement("div"));
  const page = { store, origin } as Partial<Page> as Page;
  await act(() => render(h(PageContext.Provider, { value: page }, h(CallTreeTable, { tree, childList: childrenOf(tree, "heaviest") })), place));
  const row = place.querySelector<HTMLElement>('[aria-rowindex="2"]')!;
  await act(() => row.focus());
  for (const key of ["ArrowUp", "Home"]) await act(() => void row.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true })));
  await act(() => field.focus());
  await act(() => store.set({ query: "a" }));
  expect(document.activeElement).toBe(field);
});
