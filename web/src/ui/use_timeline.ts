// The state of the timeline, which is that of the address, and what its buttons and keys do with it.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useMemo, useRef } from "preact/hooks";
import { clampRange, panRange, rangeWith, shortestRange, zoomRange } from "../layout/timeline_layout.ts";
import type { AddressStore, Range, SpanKey } from "../model/address.ts";
import type { FoundSpan, Relative, SpanDetails } from "../model/span_source.ts";
import { useAddress, usePage } from "./page_context.ts";
import { useLoaded } from "./use_loaded.ts";
import { useSteps } from "./use_steps.ts";

export interface TimelineState {
  range: Range;
  length: number;
  selection: Range | null;
  // Whose tracks are shown; null: those of all.
  rank: number | null;
  // null: none, or it is not found yet.
  selected: FoundSpan | null;
  // Of the selected span; null: they are not there yet.
  details: SpanDetails | null;
  // Why something is not there; "": it is.
  failure: string;
  setRange: (range: Range) => void;
  setSelection: (range: Range | null) => void;
  select: (span: SpanKey) => void;
  // About the middle, or about a time.
  zoom: (factor: number, about?: number) => void;
  // By a share of the range.
  pan: (share: number) => void;
  showAll: () => void;
  showSelection: () => void;
  // What a key does; false: nothing.
  press: (key: string) => boolean;
}

const kRelatives: Record<string, Relative> = { ".": "next", ",": "previous", ArrowUp: "parent", ArrowDown: "firstChild" };

// The visible range, moved if the span is not in it; null: all.
export function rangeShowing(store: AddressStore, { start, duration }: SpanKey): Range | null {
  const { range } = store.state;
  const { length } = store.origin;
  if (range === null) return null;
  const now = clampRange(range, length);
  const showing = rangeWith(now, start, start + duration, length);
  return showing === now ? range : showing;
}

export function useTimeline(): TimelineState {
  const { origin, store, source } = usePage();
  const length = origin.length;
  const asked = useAddress((state) => state.range);
  const askedSelection = useAddress((state) => state.selection);
  const rank = useAddress((state) => state.rank);
  const key = useAddress((state) => state.span);
  const range = useMemo(() => clampRange(asked ?? { start: 0, end: length }, length), [asked, length]);
  const found = useLoaded(() => (key === null ? null : source.find(key).then((span) => ({ key, span }))), [source, key]);
  const loaded = useLoaded(() => (key === null ? null : source.details(key).then((details) => ({ key, details }))), [source, key]);
  // The same object while the same span is selected: it comes into view once, not anew when another source has it.
  const last = useRef<{ key: SpanKey; span: FoundSpan } | null>(null);
  if (key !== null && last.current?.key !== key && found.data?.key === key && found.data.span !== null) last.current = { key, span: found.data.span };
  const selected = key !== null && last.current?.key === key ? last.current.span : null;
  const details = key !== null && loaded.data?.key === key ? loaded.data.details : null;
  const steps = useSteps();
  const failure = found.failure || loaded.failure || steps.failure;

  useEffect(() => {
    if (selected === null || key === null || store.keepsRange(key)) return;
    const range = rangeShowing(store, selected.key);
    if (range !== store.state.range) store.set({ range });
  }, [selected]);

  return useMemo(() => {
    const setRange = (next: Range) => store.set({ range: next.start === 0 && next.end === length ? null : next });
    const select = (span: SpanKey) => store.set({ span, mark: null });
    const zoom = (factor: number, about = (range.start + range.end) / 2) => setRange(zoomRange(range, factor, about, length));
    const pan = (share: number) => setRange(panRange(range, share * (range.end - range.start), length));
    const showAll = () => setRange({ start: 0, end: length });
    const showSelection = () => askedSelection !== null && setRange(clampRange(askedSelection, length));
    const actions: Record<string, () => void> = {
      w: () => zoom(2),
      s: () => zoom(0.5),
      a: () => pan(-0.25),
      d: () => pan(0.25),
      0: showAll,
      f: showSelection,
      r: () => {
        if (selected === null) return;
        const { start, duration } = selected.key;
        store.set({ selection: { start, end: start + Math.max(shortestRange(length), duration) } });
      },
      Escape: () => store.set({ selection: null }),
    };
    for (const [name, relative] of Object.entries(kRelatives)) {
      actions[name] = () => steps.go(async (from) => (from === null ? null : source.relative(from, relative)));
    }
    return {
      range,
      length,
      selection: askedSelection,
      rank,
      selected,
      details,
      failure,
      setRange,
      setSelection: (selection) => store.set({ selection }),
      select,
      zoom,
      pan,
      showAll,
      showSelection,
      press: (name) => {
        const act = actions[name];
        act?.();
        return act !== undefined;
      },
    };
  }, [source, range, askedSelection, rank, selected, details, failure, length]);
}
