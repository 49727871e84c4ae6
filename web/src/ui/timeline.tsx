// The tab Timeline: buttons, the list of tracks beside the canvas, the selection, and the details of a span.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useMemo } from "preact/hooks";
import { ranksOf } from "../layout/timeline_layout.ts";
import type { WebDocument } from "../model/document.ts";
import { countOutside, findMark, loadMarks, type Marks } from "../model/marks.ts";
import type { Spans } from "../model/spans.ts";
import { Choice } from "./choice.tsx";
import { Failure } from "./failure.tsx";
import { Figure } from "./figure.tsx";
import { MarkDetails } from "./mark_details.tsx";
import { useAddress, usePage } from "./page_context.ts";
import { SelectionTable } from "./selection_table.tsx";
import { SpanDetailsRegion } from "./span_details.tsx";
import { TimelineView } from "./timeline_view.tsx";
import { useLoaded } from "./use_loaded.ts";
import { useTimeline } from "./use_timeline.ts";
import "./timeline.css";

// Why the tab has no data; "": it has.
export function timelineEmpty(document: WebDocument): string {
  const { tracks, counters } = document.timeline;
  if (tracks.length > 0) return "";
  return counters.length > 0 ? "No spans: the trace has counters alone, and the timeline lasts from the first span to the last one." : "No spans: the trace has no tracks.";
}

export function Timeline() {
  const { document, source } = usePage();
  const { data, failure } = useLoaded(() => source.load().then(async (spans) => ({ spans, marks: await loadMarks(document, spans.tracks) })), [document, source]);
  if (failure !== "") return <Failure message={failure} />;
  return data === null ? null : <LoadedTimeline spans={data.spans} marks={data.marks} />;
}

function LoadedTimeline({ spans, marks }: { spans: Spans; marks: Marks }) {
  const { source, store } = usePage();
  // A selected span goes before a selected range or point.
  const key = useAddress((state) => (state.span === null ? state.mark : null));
  const mark = useMemo(() => (key === null ? -1 : findMark(marks, key)), [marks, key]);
  const timeline = useTimeline();
  const left = source.leftOut;
  const ranks = useMemo(() => ranksOf(spans), [spans]);
  const { selected } = timeline;
  // A selected span, which comes into view, may be of another rank; and an address may name a rank without tracks.
  useEffect(() => {
    const rank = store.state.rank;
    if (rank === null) return;
    const isOther = selected !== null && spans.tracks[selected.track]!.rank !== rank;
    if (isOther || !spans.tracks.some((track) => track.rank === rank)) store.set({ rank: null });
  }, [spans, selected, timeline.rank]);
  const buttons = useMemo(
    () =>
      [
        ["Zoom in", "+", () => timeline.zoom(2)],
        ["Zoom out", "−", () => timeline.zoom(0.5)],
        ["Pan left", "←", () => timeline.pan(-0.25)],
        ["Pan right", "→", () => timeline.pan(0.25)],
        ["Show all", "All", timeline.showAll],
        ["Zoom to selection", "Selection", timeline.showSelection],
      ] as const,
    [timeline],
  );
  return (
    <div class="timeline">
      {timeline.failure !== "" && <Failure message={timeline.failure} />}
      <div class="timeline-bar" role="toolbar" aria-label="Range">
        {buttons.map(([label, text, press]) => (
          <button key={label} type="button" aria-label={label} title={label} onClick={press}>
            {text}
          </button>
        ))}
        {ranks.length > 0 && (
          <Choice
            label="Rank"
            value={timeline.rank === null ? "" : String(timeline.rank)}
            options={[{ value: "", title: "all ranks" }, ...ranks.map((rank) => ({ value: String(rank), title: `rank ${rank}` }))]}
            onChange={(value) => store.set(value === "" ? { rank: null } : { rank: Number(value), span: null, mark: null })}
          />
        )}
        {left > 0 && (
          <p class="hint">
            Grey bars stand for <Figure value={left} unit="number" /> short {left === 1 ? "span that is" : "spans that are"} left out of this page.
          </p>
        )}
        <LeftOutMarks marks={marks} />
      </div>
      <TimelineView spans={spans} marks={marks} mark={mark} timeline={timeline} />
      <p id="timeline-keys" class="hint keys">
        w s zoom, a d pan, 0 all, f selection, . , along the track, ↑ ↓ to parent and child, r selects the range of the span, Escape clears. Ctrl+wheel zooms, dragging pans,
        Shift+drag selects.
      </p>
      {mark >= 0 ? <MarkDetails marks={marks} mark={mark} /> : <SpanDetailsRegion spans={spans} timeline={timeline} />}
      {timeline.selection !== null && <SelectionTable range={timeline.selection} />}
    </div>
  );
}

// Ranges and points that the picture lacks.
function LeftOutMarks({ marks }: { marks: Marks }) {
  const { length } = usePage().origin;
  const outside = useMemo(() => countOutside(marks, length), [marks, length]);
  const parts = [
    [outside, "range or point lies", "ranges and points lie", " before the first span or after the last one, beyond the timeline"],
    [marks.foldedRanges, "asynchronous range is in a grey bar", "asynchronous ranges are in grey bars", ""],
    [marks.foldedPoints, "point in time is in a grey bar", "points in time are in grey bars", ""],
    [marks.leftOut, "range or point belongs", "ranges and points belong", " to no track of this page"],
  ] as const;
  return (
    <>
      {parts.map(
        ([count, one, several, text]) =>
          count > 0 && (
            <p key={several} class="hint">
              <Figure value={count} unit="number" /> {count === 1 ? one : several}
              {text}.
            </p>
          ),
      )}
    </>
  );
}
