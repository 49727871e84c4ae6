// The picture of the timeline with the names of its tracks, and what pointer and wheel do in it.
//
// The canvas is as large as what is in view and stays in place while its box scrolls. The names of the tracks are
// elements, which readers of the screen and tests find; spans are drawn only. Changes within a frame make one picture.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { drawTimeline } from "../draw/timeline_canvas.ts";
import { kPointReach, markAt, markRowsOf } from "../layout/marks_layout.ts";
import { kCounter, kGap, kRow, kScale, panRange, placeCounters, placeOfTrack, placeTracks, spanAt, valueAt } from "../layout/timeline_layout.ts";
import type { Point } from "../layout/tooltip_place.ts";
import type { Range } from "../model/address.ts";
import { type Marks, markKey } from "../model/marks.ts";
import { matchingNames } from "../model/matches.ts";
import { getOrMake } from "../model/memo.ts";
import { visibleText } from "../model/numbers.ts";
import type { FoundSpan } from "../model/span_source.ts";
import { foundSpan, type Spans } from "../model/spans.ts";
import { fullTrackTitle, trackTitle } from "../model/track_titles.ts";
import { drawSoon } from "./draw_soon.ts";
import { Failure } from "./failure.tsx";
import { Figure } from "./figure.tsx";
import { useAddress, usePage } from "./page_context.ts";
import { MarkTooltip } from "./mark_tooltip.tsx";
import { SpanTooltip } from "./span_tooltip.tsx";
import { useColours } from "./theme.ts";
import { useDetail } from "./use_detail.ts";
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

function isSame(a: FoundSpan | null, b: FoundSpan | null): boolean {
  if (a === null || b === null) return a === b;
  return a.track === b.track && a.depth === b.depth && a.key.start === b.key.start && a.key.duration === b.key.duration;
}

// By name, for each list of texts once.
function matchesBy(query: string): (spans: Spans) => Uint8Array | null {
  const found = new WeakMap<readonly string[], Uint8Array>();
  return ({ strings }) => (query === "" ? null : getOrMake(found, strings, () => matchingNames(strings, query)));
}

function keyText({ track, start, duration, number }: FoundSpan["key"]): string {
  return `${track}@${start}+${duration}#${number ?? ""}`;
}

// `mark`: the selected range or point; -1: none.
export function TimelineView(props: { spans: Spans; marks: Marks; mark: number; timeline: TimelineState }) {
  const { spans, marks, mark, timeline } = props;
  const { origin, store } = usePage();
  const query = useAddress((state) => state.query);
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const drag = useRef<Drag | null>(null);
  const latest = useRef(timeline);
  latest.current = timeline;
  const view = useView(box, canvas);
  const colours = useColours();
  const [hovered, setHovered] = useState<FoundSpan | null>(null);
  const [pointer, setPointer] = useState<Point>({ x: 0, y: 0 });
  // The keyboard is in the timeline, so the tooltip belongs to the selected span.
  const [usesKeys, setUsesKeys] = useState(false);
  const [hoveredMark, setHoveredMark] = useState(-1);
  const places = useMemo(() => placeTracks(spans, markRowsOf(marks), timeline.rank), [spans, marks, timeline.rank]);
  const below = places.length === 0 ? 0 : places[places.length - 1]!.top + places[places.length - 1]!.height;
  const groups = useMemo(() => (timeline.rank === null ? null : new Set(places.map(({ track }) => spans.tracks[track]!.group))), [spans, places, timeline.rank]);
  const counters = useMemo(() => placeCounters(spans, below, groups), [spans, below, groups]);
  const total = below + counters.length * kCounter;
  const [pointed, setPointed] = useState<number | null>(null);
  const matches = useMemo(() => matchesBy(query), [query]);
  const { range, selected } = timeline;
  const { layers, failure } = useDetail(spans, places, range, view);

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
    return drawSoon(() => {
      if (canvas.current === null) return;
      const { details } = timeline;
      const flows = (details?.links ?? []).map(({ isOut, span }): [FoundSpan, FoundSpan] => (isOut ? [details!, span] : [span, details!]));
      const shown = { selected, hovered, marks, chosen: mark, hoveredMark, matches, flows };
      drawTimeline(canvas.current, { spans, layers, places, counters, colours, range, selection: timeline.selection, ...shown, ...view });
    });
  }, [spans, marks, mark, layers, places, counters, colours, timeline, hovered, hoveredMark, matches, view]);

  // The row of the selected span comes into view.
  useEffect(() => {
    const element = box.current;
    const place = selected === null ? undefined : placeOfTrack(places, selected.track);
    if (element === null || selected === null || place === undefined) return;
    const top = place.top + selected.depth * kRow;
    if (top < element.scrollTop || top + 2 * kRow > element.scrollTop + element.clientHeight - kScale) element.scrollTop = Math.max(0, top - element.clientHeight / 3);
  }, [selected]);

  const timeAt = (event: MouseEvent) => {
    const left = canvas.current!.getBoundingClientRect().left;
    return range.start + ((event.clientX - left) / Math.max(1, view.width)) * (range.end - range.start);
  };
  // At most one of them; -1: no mark.
  const under = (event: MouseEvent): { span: FoundSpan | null; mark: number } => {
    const y = event.clientY - canvas.current!.getBoundingClientRect().top + view.scrollTop - kScale;
    const place = places.find((each) => y >= each.top && y < each.top + each.height - kGap);
    if (place === undefined || y - view.scrollTop < 0) return { span: null, mark: -1 };
    const pixel = (range.end - range.start) / Math.max(1, view.width);
    const time = timeAt(event);
    const row = spans.firstRow[place.track]! + Math.floor((y - place.top) / kRow);
    const below = row - spans.firstRow[place.track + 1]!;
    if (below >= 0) return { span: null, mark: markAt(marks, marks.firstRow[place.track]! + below, time, kPointReach * pixel) };
    const layer = layers(place.track).find((each) => time < each.range.end)?.spans ?? spans;
    const span = spanAt(layer, row, time, kReach * pixel);
    return { span: span < 0 ? null : foundSpan(layer, span), mark: -1 };
  };
  const onPointerDown = (event: PointerEvent) => {
    if (event.button !== 0) return;
    (event.currentTarget as HTMLElement).setPointerCapture(event.pointerId);
    drag.current = { x: event.clientX, range, from: event.shiftKey ? timeAt(event) : null, hasMoved: false };
  };
  const onPointerMove = (event: PointerEvent) => {
    const active = drag.current;
    if (active === null) {
      const now = under(event);
      setHovered((before) => (isSame(before, now.span) ? before : now.span));
      setHoveredMark(now.mark);
      setPointer({ x: event.clientX, y: event.clientY });
      setUsesKeys(false);
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
    const pressed = under(event);
    if (pressed.mark >= 0) store.set({ span: null, mark: markKey(marks, pressed.mark) });
    else if (pressed.span !== null) timeline.select(pressed.span.key);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey || !timeline.press(event.key)) return;
    setHovered(null);
    setHoveredMark(-1);
    setUsesKeys(true);
    event.preventDefault();
  };
  // Below the visible part of a span.
  const placeOf = (span: FoundSpan): Point | null => {
    const corner = canvas.current?.getBoundingClientRect();
    const place = placeOfTrack(places, span.track);
    if (corner === undefined || place === undefined) return null;
    const toX = (time: number) => Math.max(0, Math.min(view.width, ((time - range.start) / (range.end - range.start)) * view.width));
    const [left, right] = [toX(span.key.start), toX(span.key.start + span.key.duration)];
    const bottom = place.top + (span.depth + 1) * kRow - view.scrollTop + kScale;
    if (bottom < kScale || bottom > view.height + kRow) return null;
    return { x: corner.left + left + Math.min(24, (right - left) / 2), y: corner.top + bottom - 6 };
  };

  // The same element while it does not change: a trace may have thousands of tracks, and panning renders in each frame.
  const trackList = useMemo(
    () => (
      <ul class="tracks" aria-label="Tracks">
        {places.map(({ track, top, height }) => {
          const { id, group, spans: count } = spans.tracks[track]!;
          const title = trackTitle(spans.tracks[track]!);
          return (
            <li key={track} data-track={id} data-value={count} style={{ top: `${top + kScale}px`, height: `${height}px` }} title={visibleText(fullTrackTitle(spans.tracks[track]!))}>
              <strong>{visibleText(title)}</strong>
              {height > 2 * kRow && <small>{visibleText(group)}</small>}
            </li>
          );
        })}
      </ul>
    ),
    [spans, places],
  );
  const tipped = hovered ?? (usesKeys && hoveredMark < 0 ? selected : null);
  return (
    <>
      <div ref={box} class="timeline-box">
        <div class="timeline-inner" style={{ height: `${total + kScale}px` }}>
          {trackList}
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
            aria-describedby={tipped !== null || hoveredMark >= 0 ? "timeline-keys timeline-tip" : "timeline-keys"}
            tabIndex={0}
            data-start={String(origin.exact(range.start))}
            data-end={String(origin.exact(range.end))}
            onKeyDown={onKeyDown}
            onFocus={(event) => setUsesKeys(event.currentTarget.matches(":focus-visible"))}
            onBlur={() => setUsesKeys(false)}
          >
            <canvas
              ref={canvas}
              class={hovered !== null || hoveredMark >= 0 ? "over" : ""}
              onPointerDown={onPointerDown}
              onPointerMove={onPointerMove}
              onPointerUp={onPointerUp}
              onPointerCancel={() => (drag.current = null)}
              onPointerLeave={() => (setHovered(null), setHoveredMark(-1))}
            />
          </div>
        </div>
      </div>
      {tipped !== null && (
        <SpanTooltip key={keyText(tipped.key)} id="timeline-tip" track={spans.tracks[tipped.track]!} span={tipped} length={timeline.length} place={() => (hovered !== null ? pointer : placeOf(tipped))} />
      )}
      {hoveredMark >= 0 && <MarkTooltip key={`mark ${hoveredMark}`} id="timeline-tip" marks={marks} mark={hoveredMark} place={() => pointer} />}
      {failure !== "" && <Failure message={failure} />}
    </>
  );
}
