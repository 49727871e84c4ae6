// A native select with its label in front.
// SPDX-License-Identifier: Apache-2.0

export interface Option {
  value: string;
  title: string;
  isDisabled?: boolean;
}

// `describedBy`: id of a text about the choice.
export function Choice(props: { label: string; value: string; options: readonly Option[]; describedBy?: string | undefined; onChange: (value: string) => void }) {
  return (
    <label class="choice">
      {props.label}
      <select aria-label={props.label} aria-describedby={props.describedBy} value={props.value} onChange={(event) => props.onChange(event.currentTarget.value)}>
        {props.options.map(({ value, title, isDisabled }) => (
          <option key={value} value={value} disabled={isDisabled}>
            {title}
          </option>
        ))}
      </select>
    </label>
  );
}
