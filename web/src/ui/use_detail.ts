// Fetches what the document lacks of the visible part of the timeline, a moment after the last zoom, pan or scroll. Until
// it is there, and where nothing more is to be had, the document is drawn.
// SPDX-License-Identifier: Apache-2.0
import { useMemo } from "preact/hooks";
import { layersOf, type TrackPlace } from "../layout/timeline_layout.ts";
import type { Range } from "../model/address.ts";
import type { Spans } from "../model/spans.ts";
import type { Piece } from "../model/window_cache.ts";
import { usePage } from "./page_context.ts";
import { useLoaded } from "./use_loaded.ts";
import type { View } from "./use_view.ts";

const kDelayMs = 100;

export interface Detail {
  // What a track is drawn from. Another function when something has come.
  layers: (track: number) => Piece[];
  failure: string;
}

export function useDetail(spans: Spans, places: readonly TrackPlace[], range: Range, view: View): Detail {
  const { source } = usePage();
  const { detail } = source;
  const pixel = (range.end - range.start) / Math.max(1, view.width);
  // Those in view, and as much above and below.
  const tracks = useMemo(() => {
    if (detail === null) return [];
    const [top, bottom] = [view.scrollTop - view.height, view.scrollTop + 2 * view.height];
    return places.filter((place) => place.top + place.height > top && place.top < bottom).map((place) => place.track);
  }, [detail, places, view.scrollTop, view.height]);
  const load = (signal: AbortSignal) => {
    if (detail === null || view.width === 0 || tracks.length === 0) return null;
    // A new object for each part that has come; null, and so no change, if nothing has.
    return detail.fetch(range, pixel, tracks, signal).then((hasCome) => (hasCome ? {} : null));
  };
  const { data, failure } = useLoaded<object>(load, [detail, range, view.width, tracks], kDelayMs);
  const layers = useMemo(
    () => (track: number) => detail === null ? [{ spans, range }] : layersOf(spans, detail.pieces(track, range, pixel), range),
    [spans, detail, range, pixel, data],
  );
  return { layers, failure };
}
