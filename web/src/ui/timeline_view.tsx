// The picture of the timeline with the names of its tracks, and what pointer and wheel do in it.
//
// The canvas is as large as what is in view and stays in place while its box scrolls. The names of the tracks are
// elements, which readers of the screen and tests find; spans are drawn only. Changes within a frame make one picture.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { drawTimeline } from "../draw/timeline_canvas.ts";
import { kPointReach, markAt, markRowsOf } from "../layout/marks_layout.ts";
import { kCounter, kGap, kRow, kScale, panRange, placeCounters, placeTracks, spanAt, valueAt } from "../layout/timeline_layout.ts";
import type { Range } from "../model/address.ts";
import { type Marks, markKey } from "../model/marks.ts";
import { matchingNames } from "../model/matches.ts";
import { format, visibleText } from "../model/numbers.ts";
import { type Spans, trackOf } from "../model/spans.ts";
import { Figure } from "./figure.tsx";
import { useAddress, usePage } from "./page_context.ts";
import { useColours } from "./theme.ts";
import { useView } from "./use_view.ts";
import type { TimelineState } from "./use_timeline.ts";

// How near a press must be to a span, and how far a drag must go, in CSS pixels.
const kReach = 3;

interface Drag {
  x: number;
  range: Range;
  // Where a selection begins; null: the drag pans.
  from: number | null;
  hasMoved: boolean;
}

export function TimelineView(props: { spans: Spans; marks: Marks; mark: number; timeline: TimelineState }) {
  const { spans, marks, mark, timeline } = props;
  const { document, origin, store } = usePage();
  const query = useAddress((state) => state.query);
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const drag = useRef<Drag | null>(null);
  const latest = useRef(timeline);
  latest.current = timeline;
  const view = useView(box, canvas);
  const colours = useColours();
  const [hovered, setHovered] = useState(-1);
  const [hoveredMark, setHoveredMark] = useState(-1);
  const places = useMemo(() => placeTracks(spans, markRowsOf(marks)), [spans, marks]);
  const below = places.length === 0 ? 0 : places[places.length - 1]!.top + places[places.length - 1]!.height;
  const counters = useMemo(() => placeCounters(spans, below), [spans, below]);
  const total = below + counters.length * kCounter;
  const [pointed, setPointed] = useState<number | null>(null);
  const matches = useMemo(() => (query === "" ? null : matchingNames(document.strings, query)), [document, query]);
  const { range, selected } = timeline;

  useEffect(() => {
    const element = box.current;
    const picture = canvas.current;
    if (element === null || picture === null) return;
    const onWheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const now = latest.current.range;
      const share = (event.clientX - picture.getBoundingClientRect().left) / Math.max(1, picture.clientWidth);
      latest.current.zoom(2 ** (-event.deltaY / 200), now.start + share * (now.end - now.start));
    };
    element.addEventListener("wheel", onWheel, { passive: false });
    return () => element.removeEventListener("wheel", onWheel);
  }, []);

  // Several changes within a frame make one picture.
  useLayoutEffect(() => {
    const frame = requestAnimationFrame(() => {
      if (canvas.current === null) return;
      const flows = timeline.flows.map((flow) => [flow.from, flow.to] as const);
      drawTimeline(canvas.current, { spans, strings: document.strings, places, counters, colours, range, selection: timeline.selection, selected, hovered, marks, chosen: selected < 0 ? mark : -1, hoveredMark, matches, flows, ...view });
    });
    return () => cancelAnimationFrame(frame);
  }, [spans, marks, mark, places, counters, colours, timeline, hovered, hoveredMark, matches, view]);

  // The row of the selected span comes into view.
  useEffect(() => {
    const element = box.current;
    if (element === null || selected < 0) return;
    const top = places[trackOf(spans, selected)]!.top + spans.depth[selected]! * kRow;
    if (top < element.scrollTop || top + 2 * kRow > element.scrollTop + element.clientHeight - kScale) element.scrollTop = Math.max(0, top - element.clientHeight / 3);
  }, [selected]);

  const timeAt = (event: MouseEvent) => {
    const left = canvas.current!.getBoundingClientRect().left;
    return range.start + ((event.clientX - left) / Math.max(1, view.width)) * (range.end - range.start);
  };
  // The span and the mark under the pointer, at most one of them; -1: none.
  const under = (event: MouseEvent): [number, number] => {
    const y = event.clientY - canvas.current!.getBoundingClientRect().top + view.scrollTop - kScale;
    const place = places.find((each) => y >= each.top && y < each.top + each.height - kGap);
    if (place === undefined || y - view.scrollTop < 0) return [-1, -1];
    const pixel = (range.end - range.start) / Math.max(1, view.width);
    const row = spans.firstRow[place.track]! + Math.floor((y - place.top) / kRow);
    const below = row - spans.firstRow[place.track + 1]!;
    if (below < 0) return [spanAt(spans, row, timeAt(event), kReach * pixel), -1];
    return [-1, markAt(marks, marks.firstRow[place.track]! + below, timeAt(event), kPointReach * pixel)];
  };
  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0) return;
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    drag.current = { x: event.clientX, range, from: event.shiftKey ? timeAt(event) : null, hasMoved: false };
  };
  const onPointerMove = (event: PointerEvent) => {
    const active = drag.current;
    if (active === null) {
      const [span, pointedMark] = under(event);
      setHovered(span);
      setHoveredMark(pointedMark);
      setPointed(timeAt(event));
      return;
    }
    const by = event.clientX - active.x;
    active.hasMoved ||= Math.abs(by) > kReach;
    if (!active.hasMoved) return;
    if (active.from === null) {
      timeline.setRange(panRange(active.range, (-by / Math.max(1, view.width)) * (active.range.end - active.range.start), timeline.length));
    } else {
      const [start, end] = [active.from, timeAt(event)].sort((a, b) => a - b) as [number, number];
      const clipped = { start: Math.max(0, Math.floor(start)), end: Math.min(timeline.length, Math.ceil(end)) };
      if (clipped.start < clipped.end) timeline.setSelection(clipped);
    }
  };
  const onPointerUp = (event: PointerEvent) => {
    const active = drag.current;
    drag.current = null;
    if (active === null || active.hasMoved) return;
    const [span, pressedMark] = under(event);
    if (pressedMark >= 0) store.set({ span: null, mark: markKey(marks, pressedMark) });
    else timeline.select(span);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey || !timeline.press(event.key)) return;
    event.preventDefault();
  };

  const shownMark = hoveredMark >= 0 ? hoveredMark : selected < 0 ? mark : -1;
  const shown = hovered >= 0 ? hovered : selected;
  return (
    <>
      <div ref={box} class="timeline-box">
        <div class="timeline-inner" style={{ height: `${total + kScale}px` }}>
          <ul class="tracks" aria-label="Tracks">
            {places.map(({ track, top, height }) => {
              const { id, title, group, spans: count } = spans.tracks[track]!;
              return (
                <li key={track} data-track={id} data-value={count} style={{ top: `${top + kScale}px`, height: `${height}px` }} title={visibleText(`${group} / ${title}`)}>
                  <strong>{visibleText(title) || id}</strong>
                  {height > 2 * kRow && <small>{visibleText(group)}</small>}
                </li>
              );
            })}
          </ul>
          {counters.length > 0 && (
            <ul class="counters" aria-label="Counters">
              {counters.map(({ counter, top }) => {
                const { title, group, unit, times, values } = spans.counters[counter]!;
                const at = valueAt(times, pointed ?? range.end);
                return (
                  <li key={counter} style={{ top: `${top + kScale}px`, height: `${kCounter}px` }} title={visibleText(`${group} / ${title}`)}>
                    <strong>{visibleText(title)}</strong>
                    <Figure value={at < 0 ? null : values[at]!} unit={unit === "bytes" ? "bytes" : "double"} />
                  </li>
                );
              })}
            </ul>
          )}
          <div
            class="timeline-picture"
            role="application"
            aria-label="Timeline"
            aria-describedby="timeline-keys"
            tabIndex={0}
            data-start={String(origin.exact(range.start))}
            data-end={String(origin.exact(range.end))}
            onKeyDown={onKeyDown}
          >
            <canvas
              ref={canvas}
              class={hovered >= 0 || hoveredMark >= 0 ? "over" : ""}
              onPointerDown={onPointerDown}
              onPointerMove={onPointerMove}
              onPointerUp={onPointerUp}
              onPointerLeave={() => (setHovered(-1), setHoveredMark(-1))}
            />
          </div>
        </div>
      </div>
      <p class="under-pointer" aria-hidden="true">
        {shownMark >= 0 && hovered < 0 && visibleText(document.strings[marks.name[shownMark]!] ?? "")}
        {shown >= 0 && hoveredMark < 0 && `${visibleText(document.strings[spans.name[shown]!] ?? "")} · ${format(spans.duration[shown]!, "time").text}`}
      </p>
    </>
  );
}
