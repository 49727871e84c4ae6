// The tooltip of a span of the timeline.
// SPDX-License-Identifier: Apache-2.0
import type { Point } from "../layout/tooltip_place.ts";
import type { FoundSpan } from "../model/span_source.ts";
import type { Spans } from "../model/spans.ts";
import { trackTitle } from "../model/track_titles.ts";
import { type Fact, Tooltip } from "./tooltip.tsx";

// `length`: of the whole trace, in ns.
export function SpanTooltip(props: { id: string; track: Spans["tracks"][number]; span: FoundSpan; length: number; place: () => Point | null }) {
  const { group } = props.track;
  const { duration } = props.span.key;
  const facts: Fact[] = [
    { title: "duration", value: duration, unit: "time" },
    { title: "of the trace", value: duration / props.length, unit: "share" },
  ];
  if (props.span.selfTime !== undefined) facts.push({ title: "self", value: props.span.selfTime, unit: "time" });
  facts.push({ title: "track", value: `${trackTitle(props.track)}${group === "" ? "" : `, ${group}`}`, unit: "text" });
  return <Tooltip id={props.id} name={props.span.name} facts={facts} place={props.place} />;
}
