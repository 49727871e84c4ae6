// JSON whose numbers keep their digits: those that a double cannot hold, and forms such as 1.0, are written again by
// JSON.stringify as they were read. Browsers without the source text of numbers (before Chrome 114, Firefox 135,
// Safari 18.4) round them.
// SPDX-License-Identifier: Apache-2.0

const { rawJSON } = JSON as { rawJSON?: (text: string) => unknown };

export function parseExactJson(text: string): unknown {
  const keepDigits = (_key: string, value: unknown, context?: { source?: string }) => {
    const source = context?.source;
    return rawJSON !== undefined && typeof value === "number" && source !== undefined && String(value) !== source ? rawJSON(source) : value;
  };
  return JSON.parse(text, keepDigits);
}

// A value of `parseExactJson` for readers: the text itself, or the JSON of any other value.
export function plainValue(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
