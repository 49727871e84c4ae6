// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { drawTickTexts } from "./canvas.ts";

// A letter is 10 pixels wide.
function drawn(xs: readonly number[], right: number): [string, number][] {
  const found: [string, number][] = [];
  const context = { measureText: (text: string) => ({ width: 10 * text.length }), fillText: (text: string, x: number) => found.push([text, x]) };
  drawTickTexts(context as unknown as CanvasRenderingContext2D, xs.map((_, at) => `t${at}`), xs, 0, right);
  return found;
}

it("writes the texts of ticks inside the picture and apart from each other", () => {
  expect(drawn([0, 100], 200)).toEqual([["t0", 4], ["t1", 104]]);
  expect(drawn([0, 100], 110)).toEqual([["t0", 4], ["t1", 76]]);
  expect(drawn([0, 40], 50)).toEqual([["t0", 4]]);
});
