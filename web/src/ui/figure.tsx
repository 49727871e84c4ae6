// A number or a text from the document, with its exact value in data-value.
// SPDX-License-Identifier: Apache-2.0
import type { Unit } from "../model/document.ts";
import { format, splitNumber, type Value } from "../model/numbers.ts";

export function Figure(props: { value: Value; unit: Unit }) {
  const { exact, text } = format(props.value, props.unit);
  return (
    <span data-value={exact}>{text}</span>
  );
}

// The text of a number in parts with fixed widths, which aligns a column on the decimal point.
export function AlignedNumber({ text, unit }: { text: string; unit: Unit }) {
  if (unit === "text" || unit === "number" || unit === "truth") return <>{text}</>;
  const [whole, fraction, suffix] = splitNumber(text);
  return (
    <>
      {whole}
      <span class="fraction">{fraction}</span>
      <span class="suffix">{suffix}</span>
    </>
  );
}
