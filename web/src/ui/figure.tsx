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

// The text of a number in two parts. The part from the decimal point on has one width in a column, which aligns the
// column on the decimal point.
export function AlignedNumber({ text, unit }: { text: string; unit: Unit }) {
  if (unit === "text" || unit === "number" || unit === "truth") return <>{text}</>;
  const [whole, tail] = splitNumber(text);
  return (
    <>
      {whole}
      <span class="tail">{tail}</span>
    </>
  );
}
