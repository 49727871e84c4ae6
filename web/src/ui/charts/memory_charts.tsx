// Memory of each device over time, by category: curves that hold each value until the next change.
//
// A level holds until the next change, so the curves are steps; uPlot draws them from columns that have a value for
// every change of any category.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { alignCurves, exceedWhole } from "../../layout/step_curves.ts";
import { tickTexts } from "../../layout/timeline_layout.ts";
import { decodeColumn } from "../../model/columns.ts";
import type { MemoryData } from "../../model/document.ts";
import { bytesText, parseNumber, visibleText } from "../../model/numbers.ts";
import { categoryHue } from "../../model/palette.ts";
import { whyEmpty } from "../document_table.tsx";
import { Failure, failureText } from "../failure.tsx";
import { Figure } from "../figure.tsx";
import { usePage } from "../page_context.ts";
import { watchTheme } from "../theme.ts";
import "./charts.css";

const kHeight = 260;
// Distances of the ticks of bytes: round in KiB, MiB and GiB.
const kByteSteps = Array.from({ length: 50 }, (_, power) => 2 ** power);
const kDashes = [[], [6, 4], [2, 3], [10, 4, 2, 4]];

function dashOf(curve: number): number[] {
  return kDashes[Math.floor(curve / 2) % kDashes.length] ?? [];
}

export function MemoryCharts() {
  const { document } = usePage();
  const devices = [...new Set(document.memory.curves.map((curve) => curve.device))];
  return (
    <>
      {devices.map((device) => (
        <MemoryChart key={device} name={document.strings[device] ?? ""} curves={document.memory.curves.filter((curve) => curve.device === device)} />
      ))}
      {document.memory.left_out > 0 && (
        <p class="hint">
          <Figure value={document.memory.left_out} unit="number" /> curves did not fit into this page.
        </p>
      )}
    </>
  );
}

function MemoryChart({ name, curves }: { name: string; curves: MemoryData["curves"] }) {
  const { document, origin } = usePage();
  const box = useRef<HTMLDivElement>(null);
  const [failure, setFailure] = useState("");
  const [isFromBefore, setFromBefore] = useState(false);
  // Values at the pointer, else the last ones, per curve, and their time.
  const [shown, setShown] = useState<{ time: number; values: (number | null)[] } | null>(null);
  useEffect(() => {
    let plot: uPlot | undefined;
    let isGone = false;
    let draw = () => {};
    const load = async () => {
      const decoded = await Promise.all(
        curves.map(async (curve) => ({ times: await decodeColumn(curve.times, origin.start), values: await decodeColumn(curve.bytes) })),
      );
      if (isGone) return;
      const { times, values } = alignCurves(decoded);
      const level = curves.findIndex((curve) => document.strings[curve.category] === "");
      setFromBefore(level >= 0 && exceedWhole(values[level]!, values.filter((_, at) => at !== level), curves.reduce((sum, curve) => sum + errorOf(curve), 0)));
      const show = (index: number | null | undefined) => {
        const at = index ?? times.length - 1;
        setShown({ time: times[at] ?? 0, values: values.map((curve) => curve[at] ?? null) });
      };
      show(null);
      draw = () => {
        plot?.destroy();
        plot = undefined;
        if (box.current === null || box.current.clientWidth === 0) return;
        const style = getComputedStyle(globalThis.document.documentElement);
        const colour = (key: string) => style.getPropertyValue(key).trim();
        const axis = { stroke: colour("--muted"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 } };
        plot = new uPlot(
          {
            width: box.current.clientWidth,
            height: kHeight,
            legend: { show: false },
            hooks: { setCursor: [(self) => show(self.cursor.idx)] },
            scales: { x: { time: false } },
            axes: [
              { ...axis, space: 90, values: (_, ticks) => tickTexts(ticks) },
              { ...axis, size: 92, incrs: kByteSteps, values: (_, ticks) => ticks.map(bytesText) },
            ],
            series: [
              {},
              ...curves.map((curve, at): uPlot.Series => ({
                stroke: document.strings[curve.category] === "" ? colour("--accent") : colour(`--curve-${categoryHue(document.strings[curve.category] ?? "")}`),
                dash: dashOf(at),
                width: document.strings[curve.category] === "" ? 2 : 1.25,
                paths: uPlot.paths.stepped!({ align: 1 }),
                points: { show: false },
              })),
            ],
          },
          [times, ...values] as uPlot.AlignedData,
          box.current,
        );
      };
      draw();
    };
    load().catch((error: unknown) => setFailure(failureText(error)));
    const observer = new ResizeObserver(() => {
      if (plot === undefined || plot.width !== box.current?.clientWidth) draw();
    });
    if (box.current !== null) observer.observe(box.current);
    const unwatch = watchTheme(() => draw());
    return () => {
      isGone = true;
      observer.disconnect();
      unwatch();
      plot?.destroy();
    };
  }, [curves.length]);
  if (failure !== "") return <Failure message={failure} />;
  const largest = Math.max(...curves.map(errorOf));
  const title = `Memory of ${visibleText(name)} over time`;
  const hasTables = whyEmpty(document, "memory_devices") === "";
  return (
    <figure class="chart" aria-label={title}>
      <figcaption>{title}</figcaption>
      <div ref={box} role="img" aria-label={hasTables ? `${title}, by category. The tables Memory and Memory by operator have the numbers.` : title} />
      {shown !== null && (
        <ul class="legend">
          <li>
            At <Figure value={shown.time} unit="time" />:
          </li>
          {curves.map((curve, at) => (
            <li key={at}>
              <svg viewBox="0 0 26 8" aria-hidden="true">
                <line x1="0" y1="4" x2="26" y2="4" stroke-width="2" stroke-dasharray={dashOf(at).join(" ") || undefined} class={`curve-${document.strings[curve.category] === "" ? "all" : categoryHue(document.strings[curve.category] ?? "")}`} />
              </svg>
              {visibleText(document.strings[curve.category] ?? "") || "all"} <Figure value={shown.values[at] ?? null} unit="bytes" error={errorOf(curve)} />
            </li>
          ))}
        </ul>
      )}
      {isFromBefore && (
        <p class="hint">
          The categories have tensors from before the recording, too. “all” counts from the begin of the recording, because the
          trace does not say how much was allocated before.
        </p>
      )}
      {largest > 0 && (
        <p class="hint">
          The curves are drawn with fewer points than there were changes: values with ≈ are right within <Figure value={largest} unit="bytes" />. Peaks are exact.
        </p>
      )}
    </figure>
  );
}

// By how many bytes a drawn value may be wrong.
function errorOf(curve: MemoryData["curves"][number]): number {
  return Number(parseNumber(curve.error_bytes) ?? 0);
}
