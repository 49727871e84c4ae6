// What held the memory of each device at its peak: a stacked bar, and its largest parts.
// SPDX-License-Identifier: Apache-2.0
import { parseNumber, visibleText } from "../../model/numbers.ts";
import { hueOf } from "../../model/palette.ts";
import { usePage } from "../page_context.ts";
import { StackedBar } from "./stacked_bar.tsx";

// More parts are one part, "others".
const kShownParts = 12;

export function PeakComposition() {
  const { document } = usePage();
  const text = (index: number) => document.strings[index] ?? "";
  return (
    <>
      {document.memory.peaks.map((peak) => {
        const bytes = Number(parseNumber(peak.bytes) ?? 0);
        const all = peak.parts
          .map(([name, category, size]) => ({
            name: text(category) === "" ? text(name) : `${text(name)}, ${text(category)}`,
            value: Number(parseNumber(size) ?? 0),
            hue: hueOf(text(name)),
          }))
          .sort((a, b) => b.value - a.value);
        const others = all.slice(kShownParts).reduce((sum, part) => sum + part.value, Number(parseNumber(peak.other_bytes) ?? 0));
        const parts = [...all.slice(0, kShownParts), { name: "others", value: others, hue: 7 }];
        const title = `Peak of ${visibleText(text(peak.device))}`;
        return <StackedBar key={peak.device} title={title} parts={parts} whole={bytes} unit="bytes" />;
      })}
    </>
  );
}
