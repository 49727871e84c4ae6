// What a track is called on the page. A thread without a name has its number in place of one, as "7" or, in a job,
// "7 (rank 3)"; the page says what that number is. A track without name and number is "unnamed track".
// SPDX-License-Identifier: Apache-2.0
import type { TrackData } from "./document.ts";

const kNumber = /^-?\d+( \(rank \d+\))?$/;

export function trackTitle({ id, title, kind }: Pick<TrackData, "id" | "title" | "kind">): string {
  if (title === "") return id.replace("/", "") === "" ? "unnamed track" : id;
  return kind !== "other" && kNumber.test(title) ? `${kind} ${title}` : title;
}

// With the heading above the track, where it has one: "python (1234) / main".
export function fullTrackTitle(track: Pick<TrackData, "id" | "title" | "kind" | "group">): string {
  return `${track.group === "" ? "" : `${track.group} / `}${trackTitle(track)}`;
}
