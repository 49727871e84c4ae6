// @vitest-environment happy-dom
// SPDX-License-Identifier: Apache-2.0
import { afterEach, expect, test, vi } from "vitest";
import { AddressStore, kTabs } from "../model/address.ts";
import { Origin } from "../model/document.ts";
import { connectLocation } from "./location.ts";

afterEach(() => vi.useRealTimers());

test("a browser that refuses to change the address neither stops the page nor loses the last state", () => {
  vi.useFakeTimers();
  const store = new AddressStore(new Origin({ start_ns: 0, end_ns: 100, epoch_ns: null }), "", kTabs);
  connectLocation(store);
  const refusing = vi.spyOn(history, "replaceState").mockImplementation(() => {
    throw new DOMException("more than 100 times per 10 seconds", "SecurityError");
  });
  const heard: string[] = [];
  store.subscribe(() => heard.push(store.state.query));
  store.set({ query: "a" });
  store.set({ query: "ab" });
  expect(heard).toEqual(["a", "ab"]);
  refusing.mockRestore();
  const written = vi.spyOn(history, "replaceState");
  vi.runAllTimers();
  expect(written.mock.calls.map(([, , address]) => String(address).replace(/^.*#/, ""))).toEqual(["tab=overview&q=ab"]);
});
