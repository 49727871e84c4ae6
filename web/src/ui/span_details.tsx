// The region Details: the fields of the selected span, its arguments, and links to the other ends of its flows.
// SPDX-License-Identifier: Apache-2.0
import type { Unit } from "../model/document.ts";
import { format, type Value, visibleText } from "../model/numbers.ts";
import { type Flow, loadArguments } from "../model/span_links.ts";
import { keyOf, type Spans, trackOf } from "../model/spans.ts";
import { Failure } from "./failure.tsx";
import { usePage } from "./page_context.ts";
import { useLoaded } from "./use_loaded.ts";

const kFlowTitles = { launch: "launch", fwdbwd: "forward and backward", async: "asynchronous", other: "flow" };

export function SpanDetails({ spans, span, flows }: { spans: Spans; span: number; flows: Flow[] }) {
  const { document, origin, store } = usePage();
  const { data, failure } = useLoaded(
    () => (span < 0 ? null : loadArguments(document, span).then((list) => ({ span, list }))),
    [document, span],
  );
  // While the arguments of a new span are decoded, those of the one before are not shown.
  const list = data?.span === span ? data.list : null;
  if (span < 0) {
    return (
      <section class="details" role="region" aria-label="Details">
        <p class="hint">Select a span to see its details.</p>
      </section>
    );
  }
  const track = spans.tracks[trackOf(spans, span)]!;
  const name = (index: number | undefined) => document.strings[index ?? -1] ?? "";
  const duration = spans.duration[span]!;
  const fields: [string, Value, Unit][] = [
    ["name", name(spans.name[span]), "text"],
    ["track", `${track.group} / ${track.title} (${track.id})`, "text"],
    ["category", name(spans.category[span]), "text"],
    ["start_ns", origin.exact(spans.start[span]!), "time"],
    ["duration_ns", duration, "time"],
    ["self_ns", duration - spans.covered[span]!, "time"],
  ];
  const leftOut = document.timeline.arguments.left_out;
  return (
    <section class="details" role="region" aria-label="Details">
      <h2>{visibleText(name(spans.name[span])) || "(no name)"}</h2>
      <dl>
        {fields.map(([field, value, unit]) => (
          <Field key={field} field={field} title={field.replace(/_ns$/, "")} value={field === "track" ? track.id : value} text={format(value, unit).text} />
        ))}
        {list?.map(({ key, value }, at) => <Field key={at} field={key === "stack" ? "stack" : `arg:${key}`} title={key} value={value} text={visibleText(value)} />)}
      </dl>
      {failure !== "" && <Failure message={failure} />}
      {list?.length === 0 && leftOut > 0 && <p class="hint">The page has no room for the arguments of some spans.</p>}
      {flows.length > 0 && (
        <ul class="flows" aria-label="Flows">
          {flows.map((flow, at) => {
            const other = flow.from === span ? flow.to : flow.from;
            return (
              <li key={at}>
                {flow.from === span ? "→" : "←"} {kFlowTitles[flow.kind]}:{" "}
                <a
                  data-flow={flow.kind}
                  href={store.link({ tab: "timeline", span: keyOf(spans, other) })}
                  onClick={(event) => {
                    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
                    event.preventDefault();
                    store.set({ span: keyOf(spans, other) }, "push");
                  }}
                >
                  {visibleText(name(spans.name[other])) || "(no name)"}
                </a>
              </li>
            );
          })}
        </ul>
      )}
    </section>
  );
}

function Field(props: { field: string; title: string; value: Value; text: string }) {
  return (
    <div>
      <dt>{visibleText(props.title)}</dt>
      <dd data-field={props.field} data-value={String(props.value ?? "")}>
        {props.text || "–"}
      </dd>
    </div>
  );
}
