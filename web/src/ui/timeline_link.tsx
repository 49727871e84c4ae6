// A link to a part of the timeline, of all ranks or of one.
// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from "preact";
import { shortestRange } from "../layout/timeline_layout.ts";
import type { Range } from "../model/address.ts";
import type { Integer, Origin } from "../model/document.ts";
import { usePage } from "./page_context.ts";

type TimelineRange = readonly [Integer, Integer] | null;

// The state of the page that shows a part of the timeline. With a rank no span stays selected, since it may be of another
// one, which would come into view.
export function timelineTarget(origin: Origin, part: TimelineRange, rank: number | null) {
  let range: Range | null = null;
  if (part !== null) {
    const start = origin.relative(part[0]);
    range = { start, end: Math.max(origin.relative(part[1]), start + shortestRange(origin.length)) };
  }
  return rank === null ? ({ tab: "timeline", range, rank } as const) : ({ tab: "timeline", range, rank, span: null, mark: null } as const);
}

// `range`: [a, b) on the clock of the document; null: all of it. `rank`: the timeline shows only its tracks.
export function TimelineLink(props: { range: TimelineRange; rank?: number | null; children: ComponentChildren }) {
  const { origin, store } = usePage();
  const rank = props.rank ?? null;
  const target = timelineTarget(origin, props.range, rank);
  const onClick = (event: MouseEvent) => {
    // A press with a key opens a new window, as for any link.
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    store.set(target, "push");
    document.getElementById("tab-timeline")?.focus();
  };
  return (
    <a href={store.link(target)} title={rank === null ? "Show in the timeline" : `Show rank ${rank} in the timeline`} onClick={onClick}>
      {props.children}
    </a>
  );
}
