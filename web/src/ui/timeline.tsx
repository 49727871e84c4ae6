// The tab Timeline: buttons, the list of tracks beside the canvas, the selection, and the details of a span.
// SPDX-License-Identifier: Apache-2.0
import { useMemo } from "preact/hooks";
import type { WebDocument } from "../model/document.ts";
import { countText } from "../model/numbers.ts";
import type { Spans } from "../model/spans.ts";
import { Failure } from "./failure.tsx";
import { usePage } from "./page_context.ts";
import { SelectionTable } from "./selection_table.tsx";
import { SpanDetailsRegion } from "./span_details.tsx";
import { TimelineView } from "./timeline_view.tsx";
import { useLoaded } from "./use_loaded.ts";
import { useTimeline } from "./use_timeline.ts";
import "./timeline.css";

// Why the tab has no data; "": it has.
export function timelineEmpty(document: WebDocument): string {
  return document.timeline.tracks.length > 0 ? "" : "No spans: the trace has no tracks.";
}

export function Timeline() {
  const { source } = usePage();
  const { data: spans, failure } = useLoaded(() => source.load(), [source]);
  if (failure !== "") return <Failure message={failure} />;
  return spans === null ? null : <LoadedTimeline spans={spans} />;
}

function LoadedTimeline({ spans }: { spans: Spans }) {
  const { source } = usePage();
  const timeline = useTimeline();
  const left = source.leftOut;
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
      </div>
      <TimelineView spans={spans} timeline={timeline} />
      <p id="timeline-keys" class="hint keys">
        w s zoom, a d pan, 0 all, f selection, . , along the track, ↑ ↓ to parent and child, r selects the range of the span, Escape clears. Ctrl+wheel zooms, dragging pans,
        Shift+drag selects.
      </p>
      <SpanDetailsRegion spans={spans} timeline={timeline} />
      {timeline.selection !== null && <SelectionTable range={timeline.selection} />}
    </div>
  );
}
