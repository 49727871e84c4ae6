// What is drawn of a name: its colour, its visible text and the width of that text. A picture shows a name hundreds of
// times, and the next picture shows it again, so each name is hashed, escaped and measured once.
// SPDX-License-Identifier: Apache-2.0
import { getOrMake } from "../model/memo.ts";
import { visibleText } from "../model/numbers.ts";
import { hueOf } from "../model/palette.ts";

// Longer names are cut before they are measured.
const kLongest = 200;
const kUnknown = 255;

export class NameLabels {
  readonly #strings: readonly string[];
  readonly #hues: Uint8Array;
  readonly #texts: (string | undefined)[] = [];
  readonly #widths: Float32Array;
  #ellipsis = 0;

  constructor(strings: readonly string[]) {
    this.#strings = strings;
    this.#hues = new Uint8Array(strings.length).fill(kUnknown);
    this.#widths = new Float32Array(strings.length);
  }

  // Number of the colour of a name.
  hue(name: number): number {
    const known = this.#hues[name];
    if (known === undefined) return 0;
    if (known !== kUnknown) return known;
    return (this.#hues[name] = hueOf(this.#strings[name] ?? ""));
  }

  // The text, cut at the end so that it fits into `room` CSS pixels; "" if only the ellipsis fits.
  fit(context: { measureText(text: string): { width: number } }, name: number, room: number): string {
    let text = this.#texts[name];
    if (text === undefined) {
      text = visibleText((this.#strings[name] ?? "").slice(0, kLongest));
      this.#texts[name] = text;
      this.#widths[name] = context.measureText(text).width;
    }
    const width = this.#widths[name] ?? 0;
    if (width <= room) return text;
    if (this.#ellipsis === 0) this.#ellipsis = context.measureText("…").width;
    // Letters have about the mean width, so the first guess is nearly right. Pictures follow each other with widths
    // that differ a little, so the cut is at the whole letter that fits for certain.
    let length = Math.floor((text.length * (room - this.#ellipsis)) / width);
    while (length > 1 && context.measureText(text.slice(0, length)).width + this.#ellipsis > room) --length;
    return length > 1 ? `${text.slice(0, length)}…` : "";
  }
}

const kLabels = new WeakMap<readonly string[], NameLabels>();

export function labelsOf(strings: readonly string[]): NameLabels {
  return getOrMake(kLabels, strings, () => new NameLabels(strings));
}
