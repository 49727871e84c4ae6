// How numbers are written (docs/reference/web_data.md): times as ns us ms s, sizes as B KiB MiB GiB TiB, shares as %,
// counts with commas, large amounts as k M G T. Each number has two forms: `exact`, the digits of the JSON, which goes
// into data-value and CSV, and `text`, for people.
//
// Integers of the document may exceed 2^53 and then are strings of digits; they become BigInt, so no digit is lost.
// SPDX-License-Identifier: Apache-2.0
import type { Unit } from "./document.ts";

// A value of a cell. null: unknown.
export type Value = number | bigint | string | boolean | null;

export interface Formatted {
  exact: string;
  text: string;
}

export const kDash = "–";

// An integer of the document, exact. null: not an integer.
export function parseExact(value: unknown): bigint | null {
  if (typeof value === "bigint") return value;
  if (typeof value === "number" && Number.isInteger(value)) return BigInt(value);
  if (typeof value === "string" && /^-?\d{1,40}$/.test(value)) return BigInt(value);
  return null;
}

// A number of the document: a double, a safe integer, or a BigInt. null: unknown.
export function parseNumber(value: unknown): number | bigint | null {
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  return parseExact(value);
}

// The exact form: digits for integers, the shortest text that reads back as the same double for others.
export function exactText(value: Value): string {
  if (value === null || (typeof value === "number" && !Number.isFinite(value))) return "";
  return Object.is(value, -0) ? "0" : String(value);
}

export function format(value: Value, unit: Unit): Formatted {
  const exact = exactText(value);
  if (value === null || (exact === "" && unit !== "text")) return { exact, text: kDash };
  if (typeof value === "string") return { exact, text: visibleText(value) };
  if (typeof value === "boolean") return { exact, text: value ? "yes" : "no" };
  switch (unit) {
    case "time":
      return { exact, text: timeText(Number(value)) };
    case "bytes":
      return { exact, text: bytesText(Number(value)) };
    case "amount":
      return { exact, text: amountText(value) };
    case "share":
      return { exact, text: shareText(Number(value)) };
    case "double":
      return { exact, text: doubleText(Number(value)) };
    default:
      return { exact, text: countText(value) };
  }
}

// Writes |value| / size with `decimals` digits and the largest unit that it reaches after rounding.
function scaled(value: number, sizes: readonly (readonly [number, string])[], decimals: number): string {
  const magnitude = Math.abs(value);
  for (let i = 0; i < sizes.length; ++i) {
    const [size, unit] = sizes[i]!;
    const text = (magnitude / size).toFixed(size === 1 ? (Number.isInteger(magnitude) ? 0 : decimals) : decimals);
    const next = sizes[i + 1];
    if (next === undefined || Number(text) * size < next[0]) return `${value < 0 ? "-" : ""}${text}${unit}`;
  }
  return "";
}

const kTimes = [[1, " ns"], [1e3, " us"], [1e6, " ms"], [1e9, " s"]] as const;
const kBytes = [[1, " B"], [2 ** 10, " KiB"], [2 ** 20, " MiB"], [2 ** 30, " GiB"], [2 ** 40, " TiB"]] as const;
const kAmounts = [[1, ""], [1e3, " k"], [1e6, " M"], [1e9, " G"], [1e12, " T"]] as const;

// `apart`: a time that is so much later or more has another text, as the ticks of an axis need it.
export function timeText(nanoseconds: number, apart = Infinity): string {
  const size = kTimes.findLast(([ns]) => Math.abs(nanoseconds) >= ns)?.[0] ?? 1;
  return scaled(nanoseconds, kTimes, Math.max(3, Math.ceil(Math.log10(size / apart))));
}

export function bytesText(bytes: number): string {
  return scaled(bytes, kBytes, 2);
}

export function amountText(amount: number | bigint): string {
  return scaled(Number(amount), kAmounts, 3);
}

export function countText(count: number | bigint): string {
  return withCommas(typeof count === "bigint" || Number.isInteger(count) ? String(count) : doubleText(count));
}

// A part of 1, as per cent. Small shares get more digits, so that at least three count.
export function shareText(share: number): string {
  const percent = share * 100;
  const magnitude = Math.abs(percent);
  if (magnitude === 0 || magnitude >= 0.9999995) return `${percent.toFixed(2)} %`;
  return `${percent.toFixed(magnitude >= 0.01 ? 4 : Math.min(20, 2 - Math.floor(Math.log10(magnitude))))} %`;
}

export function doubleText(value: number): string {
  const magnitude = Math.abs(value);
  if (Number.isInteger(value)) return magnitude < 1e21 ? withCommas(value.toFixed(0)) : String(value);
  if (magnitude >= 1e15) return value.toPrecision(6);
  if (magnitude >= 1) return withCommas(value.toFixed(2));
  return magnitude >= 1e-6 ? value.toFixed(2 - Math.floor(Math.log10(magnitude))) : value.toPrecision(3);
}

function withCommas(text: string): string {
  const [whole = "", fraction] = text.split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

// A formatted number in two parts, before and from the decimal point, or the unit if it has no point: "1", ".235 ms".
export function splitNumber(text: string): [string, string] {
  const match = /^(-?[\d,]+)((?:\.\d+)?(?: .*)?)$/.exec(text);
  return match === null ? [text, ""] : [match[1]!, match[2]!];
}

// Control characters, direction marks and lone halves of surrogate pairs.
const kInvisible = /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;

// A text from a trace as the page shows it: what cannot be seen, or reorders its surroundings, becomes \u{HEX}.
export function visibleText(text: string): string {
  return text.replace(kInvisible, (letter) => `\\u{${letter.codePointAt(0)!.toString(16).toUpperCase()}}`);
}
