// Step time over steps: a bar per step with its parts stacked, and a line at the median. A press opens the step in the
// timeline. The table Steps has the same numbers as text.
// SPDX-License-Identifier: Apache-2.0
import { parseNumber, timeText } from "../../model/numbers.ts";
import { useTable } from "../document_table.tsx";
import { Figure } from "../figure.tsx";
import { usePage } from "../page_context.ts";
import { TimelineLink } from "../timeline_link.tsx";
import "./charts.css";

const kParts = [
  ["compute_ns", "Compute", 2],
  ["communication_ns", "Communication", 5],
  ["copy_ns", "Copies", 1],
  ["input_ns", "Input", 6],
  ["host_ns", "Host", 0],
  ["other_ns", "Other", 3],
  ["idle_ns", "Idle", 7],
] as const;
// With more steps, a bar is the longest of several.
const kBars = 120;
const kHeight = 180;

// Numbers of ranks and steps are names, so they have no commas at the thousands.
function StepName({ rank, step }: { rank: number | null; step: number }) {
  return (
    <>
      {rank !== null && (
        <>
          Rank <span data-value={rank}>{rank}</span>,{" "}
        </>
      )}
      {rank === null ? "Step" : "step"} <span data-value={step}>{step}</span>
    </>
  );
}

export function StepChart() {
  const { document } = usePage();
  const table = useTable("steps");
  if (table === null || table.size === 0) return null;
  const value = (key: string, row: number) => Number(table.column(key)?.values[row] ?? 0);
  const group = Math.ceil(table.size / kBars);
  const rows = Array.from({ length: Math.ceil(table.size / group) }, (_, bar) => {
    const members = Array.from({ length: Math.min(group, table.size - bar * group) }, (_, i) => bar * group + i);
    return members.reduce((best, row) => (value("duration_ns", row) > value("duration_ns", best) ? row : best));
  });
  const longest = Math.max(1, ...rows.map((row) => value("duration_ns", row)));
  const p50 = Number(parseNumber(document.overview.steps?.p50_ns ?? null) ?? 0);
  const parts = kParts.filter(([key]) => rows.some((row) => value(key, row) > 0));
  const isMultiRank = new Set(table.column("rank")?.values).size > 1;
  const over = isMultiRank ? "Step time over the steps of each rank" : "Step time over steps";
  const title = group === 1 ? over : `${over}, the longest of each ${group}`;
  const nameOf = (row: number) => (isMultiRank ? `Rank ${value("rank", row)}, step ${value("step", row)}` : `Step ${value("step", row)}`);
  return (
    <figure class="chart steps" aria-label={title}>
      <figcaption>{title}</figcaption>
      <p class="scale">
        longest <Figure value={longest} unit="time" />
        {p50 > 0 && <> · dashed: p50 <Figure value={p50} unit="time" /></>}
      </p>
      <div class="bars" style={{ height: `${kHeight}px` }}>
        {p50 > 0 && <i class="median" style={{ bottom: `${(100 * p50) / longest}%` }} />}
        <ol>
        {rows.map((row) => {
          const range = table.ranges[row];
          const duration = (key: string) => timeText(value(key, row));
          const facts = [`${nameOf(row)}: ${duration("duration_ns")}`, ...parts.filter(([key]) => value(key, row) > 0).map(([key, name]) => `${name} ${duration(key)}`)].join("\n");
          const bar = (
            <span class="column" title={facts} style={{ height: `${(100 * value("duration_ns", row)) / longest}%` }}>
              <span class="words">
                <StepName rank={isMultiRank ? value("rank", row) : null} step={value("step", row)} />: <Figure value={value("duration_ns", row)} unit="time" />
                {parts.filter(([key]) => value(key, row) > 0).map(([key, name]) => (
                  <span key={key}>
                    , {name} <Figure value={value(key, row)} unit="time" />
                  </span>
                ))}
              </span>
              {parts.map(([key, , hue]) => (
                <i key={key} class={`hue-${hue} motif-${hue}`} style={{ flexGrow: value(key, row) }} />
              ))}
            </span>
          );
          return <li key={row}>{range == null ? bar : <TimelineLink range={range}>{bar}</TimelineLink>}</li>;
        })}
        </ol>
      </div>
      <ul class="legend">
        {parts.map(([key, name, hue]) => (
          <li key={key}>
            <i class={`hue hue-${hue} motif-${hue}`} aria-hidden="true" /> {name}
          </li>
        ))}
      </ul>
    </figure>
  );
}
