// The region Details: the fields of the selected span, its arguments, and links to the other ends of its flows.
// SPDX-License-Identifier: Apache-2.0
import { visibleText } from "../model/numbers.ts";
import type { SpanDetails, SpanLink } from "../model/span_source.ts";
import type { Spans } from "../model/spans.ts";
import { fullTrackTitle } from "../model/track_titles.ts";
import { ArgumentField, DetailsField, fieldOf, momentField } from "./details_field.tsx";
import { useAddress, usePage } from "./page_context.ts";
import { rangeShowing, type TimelineState } from "./use_timeline.ts";

const kFlowTitles = { launch: "launch", fwdbwd: "forward and backward", async: "asynchronous", other: "flow" };

export function SpanDetailsRegion({ spans, timeline }: { spans: Spans; timeline: TimelineState }) {
  const isAsked = useAddress((state) => state.span) !== null;
  const { details, selected, failure } = timeline;
  const isLoading = isAsked && details === null && failure === "" && selected !== null;
  return (
    <section class="details" role="region" aria-label="Details" aria-busy={isLoading}>
      {details !== null ? <Details spans={spans} details={details} /> : !isLoading && <p class="hint keys">Select a span to see its details.</p>}
    </section>
  );
}

function Details({ spans, details }: { spans: Spans; details: SpanDetails }) {
  const { origin } = usePage();
  const track = spans.tracks[details.track]!;
  const fields = [
    fieldOf("name", details.name, "text"),
    fieldOf("track", track.id, "text", `${fullTrackTitle(track)} (${track.id})`),
    fieldOf("category", details.category, "text"),
    momentField("start_ns", origin, details.key.start),
    fieldOf("duration_ns", details.key.duration, "time"),
    fieldOf("self_ns", details.selfTime, "time"),
  ];
  return (
    <>
      <h2>{visibleText(details.name) || "(no name)"}</h2>
      <dl>
        {fields.map((field) => (
          <DetailsField key={field.field} {...field} />
        ))}
        {details.arguments.map(({ key, value }, at) => (
          <ArgumentField key={at} name={key} value={value} />
        ))}
        {details.stack !== "" && <DetailsField field="stack" value={details.stack} text={details.stack.split("\n").map(visibleText).join("\n")} />}
      </dl>
      {details.mayLackArguments && <p class="hint">The page has no room for the arguments of some spans.</p>}
      {details.links.length > 0 && (
        <ul class="flows" aria-label="Flows">
          {details.links.map((link, at) => (
            <Flow key={at} link={link} />
          ))}
        </ul>
      )}
    </>
  );
}

function Flow({ link }: { link: SpanLink }) {
  const { store } = usePage();
  const { kind, isOut, span } = link;
  return (
    <li>
      {isOut ? "→" : "←"} {kFlowTitles[kind]}:{" "}
      <a
        data-flow={kind}
        href={store.link({ tab: "timeline", span: span.key, range: rangeShowing(store, span.key) })}
        onClick={(event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
          event.preventDefault();
          store.set({ span: span.key }, "push");
        }}
      >
        {visibleText(span.name) || "(no name)"}
      </a>
    </li>
  );
}
