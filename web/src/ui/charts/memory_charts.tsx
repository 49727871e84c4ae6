// Memory of each device over time, by category: curves that hold each value until the next change.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { alignCurves } from "../../layout/step_curves.ts";
import { decodeColumn } from "../../model/columns.ts";
import type { MemoryData } from "../../model/document.ts";
import { bytesText, timeText, visibleText } from "../../model/numbers.ts";
import { Failure, failureText } from "../failure.tsx";
import { usePage } from "../page_context.ts";
import { watchTheme } from "../theme.ts";
import "./charts.css";

const kHeight = 260;
const kDashes = [[], [6, 4], [2, 3], [10, 4, 2, 4]];

export function MemoryCharts() {
  const { document } = usePage();
  const devices = [...new Set(document.memory.curves.map((curve) => curve.device))];
  return (
    <>
      {devices.map((device) => (
        <MemoryChart key={device} name={document.strings[device] ?? ""} curves={document.memory.curves.filter((curve) => curve.device === device)} />
      ))}
    </>
  );
}

function MemoryChart({ name, curves }: { name: string; curves: MemoryData["curves"] }) {
  const { document, origin } = usePage();
  const box = useRef<HTMLDivElement>(null);
  const [failure, setFailure] = useState("");
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
      draw = () => {
        plot?.destroy();
        if (box.current === null || box.current.clientWidth === 0) return;
        const style = getComputedStyle(globalThis.document.documentElement);
        const colour = (key: string) => style.getPropertyValue(key).trim();
        const axis = { stroke: colour("--muted"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line"), width: 1 } };
        plot = new uPlot(
          {
            width: box.current.clientWidth,
            height: kHeight,
            scales: { x: { time: false } },
            axes: [
              { ...axis, space: 90, values: (_, ticks) => ticks.map(timeText) },
              { ...axis, size: 80, values: (_, ticks) => ticks.map(bytesText) },
            ],
            series: [
              { label: "Time", value: (_, value) => (value == null ? "–" : timeText(value)) },
              ...curves.map((curve, at): uPlot.Series => ({
                label: visibleText(document.strings[curve.category] ?? "") || "all",
                stroke: at === 0 ? colour("--accent") : colour(`--curve-${(at - 1) % 8}`),
                dash: kDashes[Math.floor(at / 2) % kDashes.length]!,
                width: at === 0 ? 2 : 1.25,
                paths: uPlot.paths.stepped!({ align: 1 }),
                points: { show: false },
                value: (_, value) => (value == null ? "–" : bytesText(value)),
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
  const title = `Memory of ${visibleText(name)} over time`;
  return (
    <figure class="chart" aria-label={title}>
      <figcaption>{title}</figcaption>
      <div ref={box} role="img" aria-label={`${title}, by category. The tables Memory and Memory by operator have the numbers.`} />
    </figure>
  );
}
