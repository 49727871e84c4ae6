// The tooltip of an asynchronous range or a point in time.
// SPDX-License-Identifier: Apache-2.0
import type { Point } from "../layout/tooltip_place.ts";
import type { Marks } from "../model/marks.ts";
import { trackTitle } from "../model/track_titles.ts";
import { type Fact, Tooltip } from "./tooltip.tsx";

export function MarkTooltip({ id, marks, mark, place }: { id: string; marks: Marks; mark: number; place: () => Point | null }) {
  const track = marks.tracks[marks.track[mark]!]!;
  const isPoint = mark >= marks.firstPoint;
  const facts: Fact[] = isPoint
    ? [{ title: "scope", value: marks.strings[marks.detail[mark]!] ?? "", unit: "text" }]
    : [{ title: "duration", value: marks.duration[mark]!, unit: "time" }];
  facts.push({ title: "track", value: `${trackTitle(track)}${track.group === "" ? "" : `, ${track.group}`}`, unit: "text" });
  return <Tooltip id={id} name={marks.strings[marks.name[mark]!] ?? ""} facts={facts} place={place} />;
}
