// A field of the region Details: what it is called, its text, and its exact value in data-value.
// SPDX-License-Identifier: Apache-2.0
import type { Origin, Unit } from "../model/document.ts";
import { format, type Value, visibleText } from "../model/numbers.ts";
import { SinceBegin } from "./figure.tsx";

export interface DetailsFieldProps {
  field: string;
  value: Value;
  text: string;
  title?: string;
  // Of a moment, as Origin.sinceBegin gives it.
  since?: number | null;
}

export function DetailsField({ field, value, text, title = field.replace(/_ns$/, ""), since = null }: DetailsFieldProps) {
  return (
    <div>
      <dt>{visibleText(title)}</dt>
      <dd data-field={field} data-value={String(value ?? "")}>
        {text || "–"}
      </dd>
      {since !== null && (
        <dd>
          <SinceBegin since={since} />
        </dd>
      )}
    </div>
  );
}

export function ArgumentField({ name, value }: { name: string; value: string }) {
  return <DetailsField field={`arg:${name}`} value={value} text={visibleText(value)} title={name} />;
}

export function momentField(field: string, origin: Origin, relative: number): DetailsFieldProps {
  const time = origin.exact(relative);
  return { ...fieldOf(field, time, "time"), since: origin.sinceBegin(time) };
}

export const fieldOf = (field: string, value: Value, unit: Unit, shown: Value = value): DetailsFieldProps => ({ field, value, text: format(shown, unit).text });
