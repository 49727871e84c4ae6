// A number or a text from the document, with its exact value in data-value.
// SPDX-License-Identifier: Apache-2.0
import type { Unit } from "../model/document.ts";
import { format, splitNumber, type Value } from "../model/numbers.ts";

// `error`: by how much the value may be wrong; 0: it is exact.
export function Figure(props: { value: Value; unit: Unit; error?: number }) {
  const { exact, text } = format(props.value, props.unit);
  const isRough = (props.error ?? 0) > 0 && exact !== "";
  return (
    <span data-value={exact} data-error={isRough ? props.error : undefined}>
      {isRough ? `≈ ${text}` : text}
    </span>
  );
}

// The time since the begin of the trace, beside a moment. null: the trace begins near 0, and nothing is shown.
export function SinceBegin({ since }: { since: number | null }) {
  if (since === null) return null;
  return (
    <small class="since">
      <Figure value={since} unit="time" /> since the begin
    </small>
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
