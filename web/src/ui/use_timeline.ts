// The state of the timeline, which is that of the address, and what its buttons and keys do with it.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useMemo } from "preact/hooks";
import { clampRange, panRange, rangeWith, zoomRange } from "../layout/timeline_layout.ts";
import type { Range } from "../model/address.ts";
import { type Flow, loadFlows } from "../model/span_links.ts";
import { findSpan, firstChildOf, keyOf, neighbourOf, parentOf, type Spans } from "../model/spans.ts";
import { useAddress, usePage } from "./page_context.ts";
import { useLoaded } from "./use_loaded.ts";

export interface TimelineState {
  range: Range;
  length: number;
  selection: Range | null;
  // Number of the selected span; -1: none.
  selected: number;
  // Of the selected span.
  flows: Flow[];
  // Why flows are not there; "": they are.
  failure: string;
  setRange: (range: Range) => void;
  setSelection: (range: Range | null) => void;
  select: (span: number) => void;
  // About the middle, or about a time.
  zoom: (factor: number, about?: number) => void;
  // By a share of the range.
  pan: (share: number) => void;
  showAll: () => void;
  showSelection: () => void;
  // What a key does; false: nothing.
  press: (key: string) => boolean;
}

export function useTimeline(spans: Spans): TimelineState {
  const { document, origin, store } = usePage();
  const length = origin.length;
  const asked = useAddress((state) => state.range);
  const askedSelection = useAddress((state) => state.selection);
  const key = useAddress((state) => state.span);
  const range = useMemo(() => clampRange(asked ?? { start: 0, end: length }, length), [asked, length]);
  const selected = useMemo(() => (key === null ? -1 : findSpan(spans, key)), [spans, key]);
  const { data: allFlows, failure } = useLoaded(() => loadFlows(document), [document]);
  const flows = useMemo(() => (selected < 0 || allFlows === null ? [] : allFlows.filter((flow) => flow.from === selected || flow.to === selected)), [allFlows, selected]);

  useEffect(() => {
    if (selected < 0) return;
    const start = spans.start[selected]!;
    const now = clampRange(store.state.range ?? { start: 0, end: length }, length);
    const visible = rangeWith(now, start, start + spans.duration[selected]!, length);
    if (visible !== now) store.set({ range: visible });
  }, [selected]);

  return useMemo(() => {
    const setRange = (next: Range) => store.set({ range: next.start === 0 && next.end === length ? null : next });
    const select = (span: number) => span >= 0 && store.set({ span: keyOf(spans, span), mark: null });
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
      ".": () => select(selected < 0 ? -1 : neighbourOf(spans, selected, 1)),
      ",": () => select(selected < 0 ? -1 : neighbourOf(spans, selected, -1)),
      ArrowUp: () => select(selected < 0 ? -1 : parentOf(spans, selected)),
      ArrowDown: () => select(selected < 0 ? -1 : firstChildOf(spans, selected)),
      r: () => {
        if (selected < 0) return;
        const start = spans.start[selected]!;
        store.set({ selection: { start, end: start + Math.max(1, spans.duration[selected]!) } });
      },
      Escape: () => store.set({ selection: null }),
    };
    return {
      range,
      length,
      selection: askedSelection,
      selected,
      flows,
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
  }, [spans, range, askedSelection, selected, flows, failure, length]);
}
