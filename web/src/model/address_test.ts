// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { AddressStore, formatFragment, kFirstState, kTabs, parseFragment, type PageState } from "./address.ts";
import { Origin } from "./document.ts";

const kOrigin = new Origin({ start_ns: "1661203462584767001", end_ns: "1661203463064022000", epoch_ns: null });
const kZero = new Origin({ start_ns: 0, end_ns: 1000, epoch_ns: null });

describe("the fragment", () => {
  it("gives back the state that it was written from", () => {
    const state: PageState = {
      tab: "operators",
      range: { start: 5, end: 900 },
      selection: { start: 0, end: 1 },
      span: { track: "12/a b@7", start: 10, duration: 0 },
      rank: 4095,
      mark: { track: "1/3#2", start: 30, duration: 0 },
    query: "a&b=c#d+é%",
      filter: "mm\u2028",
      sort: { key: "total_ns", falling: true },
      group: "shape",
      token: "abc",
    };
    expect(parseFragment(`#${formatFragment(state, kOrigin)}`, kOrigin)).toEqual(state);
  });

  it("has times on the clock of the document, exact beyond 2^53", () => {
    const fragment = formatFragment({ ...kFirstState, range: { start: 1, end: 9 } }, kOrigin);
    expect(fragment).toBe("tab=overview&range=1661203462584767002..1661203462584767010");
  });

  it("escapes what a form decoder would change", () => {
    const fragment = formatFragment({ ...kFirstState, span: { track: "1/2", start: 3, duration: 4 } }, kZero);
    expect(fragment).toBe("tab=overview&span=1/2@3%2B4");
  });

  it("is read in any order, without unknown keys and wrong values", () => {
    const state = parseFragment("q=mm&x=1&range=9..5&sel=a..b&span=1@2&sort=self_ns:up&group=size&tab=nowhere&filter=%zz&&=", kZero);
    expect(state).toEqual({ ...kFirstState, query: "mm" });
  });

  it("has the part of a range that lies within the trace, and no range beyond it", () => {
    const range = (text: string) => parseFragment(`range=${text}`, kZero).range;
    expect(range("-5..10")).toEqual({ start: 0, end: 10 });
    expect(range("990..2000")).toEqual({ start: 990, end: 1000 });
    expect([range("-9..0"), range("1000..1001")]).toEqual([null, null]);
  });

  it("has a rank only if it is a number", () => {
    expect(parseFragment("rank=17", kZero).rank).toBe(17);
    for (const wrong of ["", "-1", "x", "1e3", "12345678901"]) expect(parseFragment(`rank=${wrong}`, kZero).rank).toBe(null);
  });

  it("names only tabs that the page has", () => {
    const tabs = kTabs.filter((tab) => tab !== "compare");
    expect(parseFragment("tab=compare", kZero, tabs).tab).toBe("overview");
    expect(parseFragment("tab=compare", kZero).tab).toBe("compare");
  });
});

describe("AddressStore", () => {
  it("keeps the token when a link or the user drops it", () => {
    const store = new AddressStore(kZero, "#token=secret&tab=about", kTabs);
    store.follow("#tab=kernels");
    expect(store.state.token).toBe("secret");
    expect(store.link()).toBe("#tab=kernels&token=secret");
  });

  it("tells its listeners until they end their subscription", () => {
    const store = new AddressStore(kZero, "", kTabs);
    const heard: string[] = [];
    const end = store.subscribe((change) => heard.push(`${change} ${store.state.tab}`));
    store.set({ tab: "flame" });
    store.set({ tab: "about" }, "push");
    store.follow("#tab=memory");
    end();
    store.set({ tab: "overview" });
    expect(heard).toEqual(["replace flame", "push about", "follow memory"]);
  });

  it("keeps the number of the selected span when the address names the same one again", () => {
    const store = new AddressStore(new Origin({ start_ns: 0, end_ns: 100, epoch_ns: null }), "", kTabs);
    const span = { track: "1/2", start: 5, duration: 3, number: 17 };
    store.set({ span });
    store.follow("#range=1..9&span=1/2@5%2B3");
    expect(store.state.span).toBe(span);
    store.follow("#span=1/2@5%2B4");
    expect(store.state.span).toEqual({ track: "1/2", start: 5, duration: 4 });
  });
});
