// The tab Timeline: buttons, the list of tracks beside the canvas, the selection, and the details of a span.
// SPDX-License-Identifier: Apache-2.0
import { useMemo } from "preact/hooks";
import type { WebDocument } from "../model/document.ts";
import { countText } from "../model/numbers.ts";
import { loadSpans, type Spans } from "../model/spans.ts";
import { Failure } from "./failure.tsx";
import { usePage } from "./page_context.ts";
import { SelectionTable } from "./selection_table.tsx";
import { SpanDetails } from "./span_details.tsx";
import { TimelineView } from "./timeline_view.tsx";
import { useLoaded } from "./use_loaded.ts";
import { useTimeline } from "./use_timeline.ts";
import "./timeline.css";

// Why the tab has no data; "": it has.
export function timelineEmpty(document: WebDocument): string {
  return document.timeline.tracks.length > 0 ? "" : "No spans: the trace has no tracks.";
}

export function Timeline() {
  const { document } = usePage();
  const { data: spans, failure } = useLoaded(() => loadSpans(document), [document]);
  if (failure !== "") return <Failure message={failure} />;
  return spans === null ? null : <LoadedTimeline spans={spans} />;
}

function LoadedTimeline({ spans }: { spans: Spans }) {
  const { document } = usePage();
  const timeline = useTimeline(spans);
  const left = document.timeline.folded.spans;
  const { left_out_tracks: hiddenTracks, left_out_spans: hiddenSpans } = document.timeline;
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
        {left > 0 && (
          <p class="hint">
            Grey bars stand for <span data-value={left}>{countText(left)}</span> short spans that are left out of this page.
          </p>
        )}
        {hiddenTracks > 0 && (
          <p class="hint">
            <span data-value={hiddenTracks}>{countText(hiddenTracks)}</span> tracks with the fewest spans, <span data-value={hiddenSpans}>{countText(hiddenSpans)}</span> in all, are left out of
            this page.
          </p>
        )}
      </div>
      <TimelineView spans={spans} timeline={timeline} />
      <p id="timeline-keys" class="hint">
        w s zoom, a d pan, 0 all, f selection, . , along the track, ↑ ↓ to parent and child, r selects the range of the span, Escape clears. Ctrl+wheel zooms, dragging pans,
        Shift+drag selects.
      </p>
      <SpanDetails spans={spans} span={timeline.selected} flows={timeline.flows} />
      {timeline.selection !== null && <SelectionTable spans={spans} range={timeline.selection} />}
    </div>
  );
}
