// A field of the region Details: what it is called, its text, and its exact value in data-value. A moment is shown as the
// time since the begin of the trace, as on the axis of the timeline.
// SPDX-License-Identifier: Apache-2.0
import type { Unit } from "../model/document.ts";
import { format, type Value, visibleText } from "../model/numbers.ts";

export interface DetailsFieldProps {
  field: string;
  value: Value;
  text: string;
  title?: string;
}

export function DetailsField({ field, value, text, title = field.replace(/_ns$/, "") }: DetailsFieldProps) {
  return (
    <div>
      <dt>{visibleText(title)}</dt>
      <dd data-field={field} data-value={String(value ?? "")}>
        {text || "–"}
      </dd>
    </div>
  );
}

export function ArgumentField({ name, value }: { name: string; value: string }) {
  return <DetailsField field={`arg:${name}`} value={value} text={visibleText(value)} title={name} />;
}

export const fieldOf = (field: string, value: Value, unit: Unit, shown: Value = value): DetailsFieldProps => ({ field, value, text: format(shown, unit).text });
