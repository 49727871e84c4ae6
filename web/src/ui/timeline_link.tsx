// A link to a part of the timeline.
// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from "preact";
import type { Integer } from "../model/document.ts";
import { usePage } from "./page_context.ts";

// `range`: [a, b) on the clock of the document.
export function TimelineLink(props: { range: readonly [Integer, Integer]; children: ComponentChildren }) {
  const { origin, store } = usePage();
  const start = origin.relative(props.range[0]);
  const range = { start, end: Math.max(origin.relative(props.range[1]), start + 1) };
  const target = { tab: "timeline", range } as const;
  const onClick = (event: MouseEvent) => {
    // A press with a key opens a new window, as for any link.
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    store.set(target, "push");
    document.getElementById("tab-timeline")?.focus();
  };
  return (
    <a href={store.link(target)} title="Show in the timeline" onClick={onClick}>
      {props.children}
    </a>
  );
}
