// The tab Overview: the figures that answer "where does the time go" in ten seconds, findings in words, steps, devices.
//
// Each part shows itself only where the trace has its data. What a trace lacks is said in one sentence in its place, so
// that an empty part is never mistaken for a good result.
// SPDX-License-Identifier: Apache-2.0
import { parseExact, parseNumber, visibleText } from "../model/numbers.ts";
import type { Integer, WebDocument } from "../model/document.ts";
import { Card, FigureCard, Pair } from "./card.tsx";
import { DeviceBars, deviceName } from "./charts/device_bars.tsx";
import { StepChart } from "./charts/step_chart.tsx";
import { DocumentTable, useTable, whyEmpty } from "./document_table.tsx";
import { Figure, SinceBegin } from "./figure.tsx";
import { usePage } from "./page_context.ts";
import { TimelineLink } from "./timeline_link.tsx";

// Further devices are only in the table.
const kDevicesInCard = 4;
// Further files are only in the tab About.
const kFilesInCard = 4;

// Why the tab has no data; "": it has.
export function overviewEmpty(document: WebDocument): string {
  const hasRows = (["steps", "devices", "findings"] as const).some((key) => whyEmpty(document, key) === "");
  const isEmpty = parseExact(document.spans) === 0n && !hasRows && document.overview.memory_peak.length === 0;
  return isEmpty ? "No spans: the trace has no event with a begin and an end." : "";
}

// Without steps the whole trace counts as one.
const kWithoutSteps = { saving_ns: "Saving", share: "Of the trace" };

export function Overview() {
  const hasSteps = whyEmpty(usePage().document, "steps") === "";
  return (
    <>
      <div class="cards">
        <TraceCard />
        <StepCard />
        <DeviceCard />
        <MemoryCard />
      </div>
      <DocumentTable name="Findings" table="findings" keys={["message", "saving_ns", "share"]} {...(hasSteps ? {} : { titles: kWithoutSteps })} wraps />
      <StepChart />
      <DocumentTable name="Steps" table="steps" />
      <DeviceBars />
      <DocumentTable name="Devices" table="devices" />
    </>
  );
}

function TraceCard() {
  const { document, origin } = usePage();
  const isEmpty = parseExact(document.spans) === 0n;
  return (
    <FigureCard title="Trace" large={isEmpty ? "No spans" : <Figure value={origin.length} unit="time" />}>
      <Pair name="Spans">
        <Figure value={parseExact(document.spans)} unit="number" />
      </Pair>
      <Pair name="Tracks">
        <Figure value={document.timeline.tracks.length + (document.timeline.left_out_tracks ?? 0)} unit="number" />
      </Pair>
      <Pair name={document.files.length === 1 ? "File" : "Files"}>
        {document.files.slice(0, kFilesInCard).map((file, at) => (
          <span key={at} class="file">
            {visibleText(file)}
          </span>
        ))}
        {document.files.length > kFilesInCard && (
          <>
            and <Figure value={document.files.length - kFilesInCard} unit="number" /> more
          </>
        )}
      </Pair>
    </FigureCard>
  );
}

function StepCard() {
  const { document } = usePage();
  const steps = document.overview.steps;
  if (steps === null || parseExact(steps.count) === 0n) {
    return (
      <Card title="Step time">
        <p class="empty">{whyEmpty(document, "steps") || "The trace has no steps."}</p>
      </Card>
    );
  }
  const time = (value: Integer | null) => <Figure value={parseNumber(value)} unit="time" />;
  return (
    <FigureCard
      title="Step time"
      large={
        <>
          {time(steps.mean_ns)} <small>mean</small>
        </>
      }
    >
      <Pair name="p50">{time(steps.p50_ns)}</Pair>
      <Pair name="p99">{time(steps.p99_ns)}</Pair>
      <Pair name="Steps">
        <Figure value={parseNumber(steps.count)} unit="number" />
      </Pair>
    </FigureCard>
  );
}

function DeviceCard() {
  const { document } = usePage();
  const devices = useTable("devices");
  const rows: number[] = [];
  for (let row = 0; row < (devices?.size ?? 0); ++row) {
    const stream = devices?.column("stream");
    if (stream === undefined || stream.values[row] === "all") rows.push(row);
  }
  if (devices === null || rows.length === 0) {
    return (
      <Card title="Device busy">
        <p class="empty">{whyEmpty(document, "devices") || "The trace has no device."}</p>
      </Card>
    );
  }
  const value = (key: string, row: number) => devices.column(key)?.values[row] ?? null;
  const isMultiRank = new Set(rows.map((row) => value("rank", row))).size > 1;
  const label = (row: number) => deviceName(isMultiRank ? value("rank", row) : -1, value("device", row));
  const first = rows[0]!;
  return (
    <FigureCard
      title="Device busy"
      large={
        <>
          <Figure value={value("busy_share", first)} unit="share" />
          {rows.length > 1 && <small> {label(first)}</small>}
        </>
      }
    >
      {rows.length === 1 ? (
        <>
          <Pair name="Busy">
            <Figure value={value("busy_ns", first)} unit="time" />
          </Pair>
          <Pair name="Idle">
            <Figure value={value("idle_ns", first)} unit="time" />
          </Pair>
        </>
      ) : (
        rows.slice(1, kDevicesInCard).map((row) => (
          <Pair key={row} name={label(row)}>
            <Figure value={value("busy_share", row)} unit="share" />
          </Pair>
        ))
      )}
    </FigureCard>
  );
}

function MemoryCard() {
  const { document, origin } = usePage();
  const peaks = document.overview.memory_peak;
  const largest = peaks.reduce<(typeof peaks)[number] | null>(
    (best, peak) => (best === null || (parseNumber(peak.bytes) ?? 0) > (parseNumber(best.bytes) ?? 0) ? peak : best),
    null,
  );
  if (largest === null) {
    return (
      <Card title="Memory peak">
        <p class="empty">{whyEmpty(document, "memory_devices") || "The trace has no allocations."}</p>
      </Card>
    );
  }
  const time = parseExact(largest.time_ns);
  return (
    <FigureCard
      title="Memory peak"
      large={
        <>
          <Figure value={parseNumber(largest.bytes)} unit="bytes" /> <small>{visibleText(largest.device)}</small>
        </>
      }
    >
      {time !== null && (
        <Pair name="When">
          <TimelineLink range={around(time, document.clock)}>
            <Figure value={time} unit="time" />
          </TimelineLink>{" "}
          <SinceBegin since={origin.sinceBegin(time)} />
        </Pair>
      )}
      {peaks
        .filter((peak) => peak !== largest)
        .slice(0, kDevicesInCard - 1)
        .map((peak) => (
          <Pair key={peak.device} name={visibleText(peak.device)}>
            <Figure value={parseNumber(peak.bytes)} unit="bytes" />
          </Pair>
        ))}
    </FigureCard>
  );
}

// A hundredth of the trace about a moment.
function around(time: bigint, clock: WebDocument["clock"]): [string, string] {
  const start = parseExact(clock.start_ns) ?? time;
  const end = parseExact(clock.end_ns) ?? time;
  const half = (end - start) / 200n + 1n;
  const from = time - half < start ? start : time - half;
  return [String(from), String(time + half > end && end > from ? end : time + half)];
}
