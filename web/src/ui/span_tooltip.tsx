// The tooltip of a span of the timeline.
// SPDX-License-Identifier: Apache-2.0
import type { Point } from "../layout/tooltip_place.ts";
import { type Spans, trackOf } from "../model/spans.ts";
import { usePage } from "./page_context.ts";
import { type Fact, Tooltip } from "./tooltip.tsx";

// `length`: of the whole trace, in ns.
export function SpanTooltip(props: { id: string; spans: Spans; span: number; length: number; place: () => Point | null }) {
  const { document } = usePage();
  const { spans, span } = props;
  const { id, title, group } = spans.tracks[trackOf(spans, span)]!;
  const duration = spans.duration[span]!;
  const facts: Fact[] = [
    { title: "duration", value: duration, unit: "time" },
    { title: "of the trace", value: duration / props.length, unit: "share" },
    { title: "self", value: duration - spans.covered[span]!, unit: "time" },
    { title: "track", value: `${title || id}${group === "" ? "" : `, ${group}`}`, unit: "text" },
  ];
  return <Tooltip id={props.id} name={document.strings[spans.name[span]!] ?? ""} facts={facts} place={props.place} />;
}
