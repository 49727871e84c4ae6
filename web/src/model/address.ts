// The state of the page, and the fragment of the address that carries it: `#tab=timeline&range=5..90&q=mm`.
//
// `AddressStore` is the one place of that state. Components read `state`, change it with `set` and listen with
// `subscribe`; src/ui/location.ts connects the store with the browser's address. A value of the fragment that is wrong
// is ignored, as is an unknown key. The token of `opscope view` stays, whatever else changes.
// SPDX-License-Identifier: Apache-2.0
import type { Origin } from "./document.ts";
import { type Group, kGroups } from "./grouping.ts";

export const kTabs = [
  "overview",
  "timeline",
  "ranks",
  "flame",
  "operators",
  "kernels",
  "memory",
  "modules",
  "compare",
  "about",
] as const;
export type Tab = (typeof kTabs)[number];

// [start, end) in relative ns (see Origin in document.ts).
export interface Range {
  start: number;
  end: number;
}

// The selected span: the first span in the file with this track, begin and duration.
export interface SpanKey {
  // "PID/TID".
  track: string;
  // Relative ns.
  start: number;
  duration: number;
  // Number of the span in the page's source of spans, where it is known: it tells spans with one key apart. It is not in
  // the address.
  number?: number;
}

export interface Sort {
  key: string;
  falling: boolean;
}

export interface PageState {
  tab: Tab;
  // The visible range of the timeline; null: all.
  range: Range | null;
  // The selection; null: none.
  selection: Range | null;
  span: SpanKey | null;
  // The timeline shows only the tracks of this rank; null: of all.
  rank: number | null;
  // The selected asynchronous range or point in time: the first one with this key.
  mark: SpanKey | null;
  // Text of Search.
  query: string;
  // Text of "Filter operators".
  filter: string;
  // Order of Operators; null: the first order.
  sort: Sort | null;
  // What the rows of Operators have in common.
  group: Group;
  token: string;
}

export const kFirstState: PageState = {
  tab: "overview",
  range: null,
  selection: null,
  span: null,
  rank: null,
  mark: null,
  query: "",
  filter: "",
  sort: null,
  group: "name",
  token: "",
};

// Reads a fragment, with or without its #. `tabs`: the tabs that this page has.
export function parseFragment(fragment: string, origin: Origin, tabs: readonly Tab[] = kTabs): PageState {
  const state = { ...kFirstState };
  for (const part of fragment.replace(/^#/, "").split("&")) {
    const split = part.indexOf("=");
    if (split < 0) continue;
    const value = decode(part.slice(split + 1));
    if (value === null) continue;
    switch (decode(part.slice(0, split))) {
      case "tab":
        state.tab = tabs.find((tab) => tab === value) ?? state.tab;
        break;
      case "range":
        state.range = clippedRange(parseRange(value, origin), origin.length) ?? state.range;
        break;
      case "sel":
        state.selection = parseRange(value, origin) ?? state.selection;
        break;
      case "span":
        state.span = parseSpan(value, origin) ?? state.span;
        break;
      case "rank":
        state.rank = parseRank(value) ?? state.rank;
        break;
      case "mark":
        state.mark = parseSpan(value, origin) ?? state.mark;
        break;
      case "q":
        state.query = value;
        break;
      case "filter":
        state.filter = value;
        break;
      case "sort":
        state.sort = parseSort(value) ?? state.sort;
        break;
      case "group":
        state.group = kGroups.find((group) => group === value) ?? state.group;
        break;
      case "token":
        state.token = value;
        break;
    }
  }
  return state;
}

// The fragment of a state, without #. Values as at first are left out, except the tab.
export function formatFragment(state: PageState, origin: Origin): string {
  const parts = [`tab=${state.tab}`];
  const add = (key: string, value: string) => parts.push(`${key}=${encode(value)}`);
  if (state.range !== null) add("range", formatRange(state.range, origin));
  if (state.selection !== null) add("sel", formatRange(state.selection, origin));
  if (state.span !== null) add("span", formatSpan(state.span, origin));
  if (state.rank !== null) add("rank", String(state.rank));
  if (state.mark !== null) add("mark", formatSpan(state.mark, origin));
  if (state.query !== "") add("q", state.query);
  if (state.filter !== "") add("filter", state.filter);
  if (state.sort !== null) add("sort", `${state.sort.key}:${state.sort.falling ? "desc" : "asc"}`);
  if (state.group !== "name") add("group", state.group);
  if (state.token !== "") add("token", state.token);
  return parts.join("&");
}

function decode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

// Percent-encodes, except what is allowed in fragments and makes addresses easier to read.
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(/%(3A|2F|40|2C)/g, decodeURIComponent);
}

function formatRange(range: Range, origin: Origin): string {
  return `${origin.exact(range.start)}..${origin.exact(range.end)}`;
}

function parseRange(text: string, origin: Origin): Range | null {
  const match = /^(-?\d{1,20})\.\.(-?\d{1,20})$/.exec(text);
  if (match === null) return null;
  const range = { start: origin.relative(match[1]!), end: origin.relative(match[2]!) };
  return range.start < range.end ? range : null;
}

// The part of a range that lies within the trace; null: none does.
function clippedRange(range: Range | null, length: number): Range | null {
  if (range === null || range.start >= length || range.end <= 0) return null;
  return { start: Math.max(0, range.start), end: Math.min(length, range.end) };
}

function formatSpan({ track, start, duration }: SpanKey, origin: Origin): string {
  return `${track}@${origin.exact(start)}+${BigInt(Math.round(duration))}`;
}

function parseSpan(text: string, origin: Origin): SpanKey | null {
  const match = /^([\s\S]+)@(-?\d{1,20})\+(\d{1,20})$/.exec(text);
  if (match === null) return null;
  return { track: match[1]!, start: origin.relative(match[2]!), duration: Number(match[3]) };
}

function parseRank(text: string): number | null {
  return /^\d{1,10}$/.test(text) ? Number(text) : null;
}

function parseSort(text: string): Sort | null {
  const match = /^(\w{1,64}):(asc|desc)$/.exec(text);
  return match === null ? null : { key: match[1]!, falling: match[2] === "desc" };
}

function isSameKey(a: SpanKey, b: SpanKey): boolean {
  return a.track === b.track && a.start === b.start && a.duration === b.duration;
}

// What a change does to the browser's history: `push` keeps the place before the change for the Back button.
export type Change = "replace" | "push";

export class AddressStore {
  readonly origin: Origin;
  readonly tabs: readonly Tab[];
  #state: PageState;
  // The span of the address that the page was opened with, and of the last one that it followed.
  readonly #opened: SpanKey | null;
  #followed: SpanKey | null = null;
  #listeners = new Set<(change: Change | "follow") => void>();

  constructor(origin: Origin, fragment: string, tabs: readonly Tab[]) {
    this.origin = origin;
    this.tabs = tabs;
    this.#state = parseFragment(fragment, origin, tabs);
    this.#opened = this.#state.span;
  }

  get state(): Readonly<PageState> {
    return this.#state;
  }

  set(changes: Partial<PageState>, change: Change = "replace"): void {
    this.#state = { ...this.#state, ...changes };
    this.#notify(change);
  }

  // Takes over the fragment that the user or a link has put into the address.
  follow(fragment: string): void {
    const state = parseFragment(fragment, this.origin, this.tabs);
    if (state.token === "") state.token = this.#state.token;
    // The same span stays the one that it is.
    const { span } = this.#state;
    if (span !== null && state.span !== null && isSameKey(span, state.span)) state.span = span;
    else this.#followed = state.span;
    this.#state = state;
    this.#notify("follow");
  }

  // Whether selecting `span` leaves the visible range unchanged, because the address has both. The page was opened with
  // the range, or it has followed a link or the Back button to a range in which a part of the span is visible.
  keepsRange(span: SpanKey): boolean {
    if (span === this.#opened) return true;
    const { range } = this.#state;
    return span === this.#followed && range !== null && span.start < range.end && span.start + span.duration >= range.start;
  }

  // The fragment of the present state with `changes`, with #: for links.
  link(changes: Partial<PageState> = {}): string {
    return `#${formatFragment({ ...this.#state, ...changes }, this.origin)}`;
  }

  // Returns the function that ends the subscription.
  subscribe(listener: (change: Change | "follow") => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #notify(change: Change | "follow"): void {
    for (const listener of [...this.#listeners]) listener(change);
  }
}
