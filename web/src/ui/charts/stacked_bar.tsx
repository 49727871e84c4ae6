// A bar of parts and the list of its parts with their values, which is also the text for those who do not see the bar.
// SPDX-License-Identifier: Apache-2.0
import type { Unit } from "../../model/document.ts";
import { visibleText } from "../../model/numbers.ts";
import { Figure } from "../figure.tsx";
import "./charts.css";

export interface Part {
  name: string;
  value: number;
  // Number of the colour, 0 to 7.
  hue: number;
}

// Parts of 0 are left out. A part below 0, which makes the others too large together, is only in the list.
export function StackedBar(props: { title: string; parts: readonly Part[]; whole: number; unit: Unit }) {
  const parts = props.parts.filter((part) => part.value !== 0);
  const inBar = parts.filter((part) => part.value > 0);
  const width = Math.max(props.whole, inBar.reduce((sum, part) => sum + part.value, 0));
  if (props.whole <= 0) return null;
  return (
    <figure class="stacked" aria-label={props.title}>
      <figcaption>
        {props.title}: <Figure value={props.whole} unit={props.unit} />
      </figcaption>
      <div class="bar" aria-hidden="true">
        {inBar.map((part, at) => (
          <i key={at} class={`hue-${part.hue}`} style={{ width: `${(100 * part.value) / width}%` }} />
        ))}
      </div>
      <ul class="parts">
        {parts.map((part, at) => (
          <li key={at}>
            <i class={`hue hue-${part.hue}`} aria-hidden="true" />
            <span class="part" data-value={part.name}>{visibleText(part.name) || "(no name)"}</span>
            <Figure value={part.value} unit={props.unit} />
            <Figure value={part.value / props.whole} unit="share" />
          </li>
        ))}
      </ul>
    </figure>
  );
}
