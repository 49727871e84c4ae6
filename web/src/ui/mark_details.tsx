// The region Details of an asynchronous range or a point in time.
// SPDX-License-Identifier: Apache-2.0
import { parseExactJson, plainValue } from "../model/exact_json.ts";
import type { Marks } from "../model/marks.ts";
import { visibleText } from "../model/numbers.ts";
import { fullTrackTitle } from "../model/track_titles.ts";
import { ArgumentField, DetailsField, fieldOf, momentField } from "./details_field.tsx";
import { usePage } from "./page_context.ts";

export function MarkDetails({ marks, mark }: { marks: Marks; mark: number }) {
  const { document, origin } = usePage();
  const text = (index: number) => document.strings[index] ?? "";
  const track = marks.tracks[marks.track[mark]!]!;
  const isPoint = mark >= marks.firstPoint;
  const fields = [
    fieldOf("name", text(marks.name[mark]!), "text"),
    fieldOf("track", track.id, "text", `${fullTrackTitle(track)} (${track.id})`),
    fieldOf("category", text(marks.category[mark]!), "text"),
    momentField("start_ns", origin, marks.start[mark]!),
    fieldOf("duration_ns", marks.duration[mark]!, "time"),
    fieldOf(isPoint ? "scope" : "id", text(marks.detail[mark]!), "text"),
  ];
  return (
    <section class="details" role="region" aria-label="Details">
      <h2>{visibleText(text(marks.name[mark]!)) || "(no name)"}</h2>
      <p class="hint">{isPoint ? "A point in time." : "An asynchronous range: it has an id and may end on another thread."}</p>
      <dl>
        {fields.map((field) => (
          <DetailsField key={field.field} {...field} />
        ))}
        {argumentsOf(text(marks.json[mark]!)).map(([key, value], at) => (
          <ArgumentField key={at} name={key} value={value} />
        ))}
      </dl>
    </section>
  );
}

// Not a number that parseExactJson keeps as its text.
function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !("rawJSON" in value);
}

// The members of the event: its arguments, and what else the input has.
function argumentsOf(json: string): [string, string][] {
  if (json === "") return [];
  try {
    const members = Object.entries(parseExactJson(json) as Record<string, unknown>);
    const list = members.flatMap(([key, value]) => (key === "args" && isObject(value) ? Object.entries(value) : [[key, value] as [string, unknown]]));
    return list.map(([key, value]) => [key, plainValue(value)]);
  } catch {
    // A text that was cut because the page had no room for it.
    return [["arguments", json]];
  }
}
