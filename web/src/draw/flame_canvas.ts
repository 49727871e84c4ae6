// Draws a flame graph. The canvas shows the part of the graph that is in view, so its size does not grow with the depth
// of the stacks.
// SPDX-License-Identifier: Apache-2.0
import type { FlameLayout } from "../layout/flame_layout.ts";
import type { CallTree } from "../model/call_tree.ts";
import { visibleText } from "../model/numbers.ts";
import { beginPicture, clipText, letterWidth } from "./canvas.ts";
import type { Colours } from "./colours.ts";

// Height of a row in CSS pixels.
export const kFlameRow = 21;
const kPadding = 5;
// Narrower frames have no text.
const kNarrowestText = 28;

export interface FlamePicture {
  tree: CallTree;
  layout: FlameLayout;
  colours: Colours;
  // By node.
  fillOf: (node: number) => string;
  labelOf: (node: number) => string;
  // Size of the canvas and the part of the graph that is scrolled away, in CSS pixels.
  width: number;
  height: number;
  scrollTop: number;
  // Whether a name, by its index, matches Search; null: there is no search.
  matches: ((name: number) => boolean) | null;
  hovered: number;
  // The frame of the keyboard.
  current: number;
  hasFocus: boolean;
}

export function drawFlame(canvas: HTMLCanvasElement, picture: FlamePicture): void {
  const { layout, width, height, scrollTop } = picture;
  const context = beginPicture(canvas, width, height);
  if (context === null) return;
  const letter = letterWidth(context);
  const first = Math.max(0, Math.floor(scrollTop / kFlameRow));
  const last = Math.min(layout.frames.length - 1, Math.floor((scrollTop + height) / kFlameRow));
  for (let row = first; row <= last; ++row) {
    for (const frame of layout.frames[row] ?? []) {
      drawFrame(context, picture, frame.node, frame.left, row * kFlameRow - scrollTop, frame.width, row < layout.focusRow, letter);
    }
  }
  context.globalAlpha = 1;
}

function drawFrame(
  context: CanvasRenderingContext2D,
  picture: FlamePicture,
  node: number,
  left: number,
  top: number,
  frameWidth: number,
  isCaller: boolean,
  letter: number,
): void {
  const { tree, colours } = picture;
  const height = kFlameRow - 1;
  const width = Math.max(0.5, frameWidth - (frameWidth > 3 ? 1 : 0.25));
  context.globalAlpha = 1;
  if (node < 0) {
    context.globalAlpha = 0.35;
    context.fillStyle = colours.strongLine;
    context.fillRect(left, top, width, height);
    return;
  }
  const isMatch = picture.matches === null || picture.matches(tree.name[node]!);
  context.globalAlpha = !isMatch ? 0.22 : isCaller ? 0.6 : 1;
  context.fillStyle = picture.fillOf(node);
  context.fillRect(left, top, width, height);
  context.globalAlpha = 1;
  if (node === picture.hovered || (node === picture.current && picture.hasFocus) || (picture.matches !== null && isMatch && node > 0)) {
    context.lineWidth = node === picture.current && picture.hasFocus ? 2 : 1.5;
    context.strokeStyle = picture.matches !== null && isMatch && node !== picture.current ? colours.accent : colours.ink;
    if (width > 3) context.strokeRect(left + 1, top + 1, width - 2, height - 2);
  }
  if (width < kNarrowestText) return;
  // A faded or translucent fill lies on the paper, and the ink of the page is readable there.
  context.fillStyle = isMatch && !isCaller ? colours.hueInk : colours.ink;
  const name = visibleText(picture.labelOf(node).slice(0, 400));
  context.fillText(clipText(context, name, width - 2 * kPadding, letter), left + kPadding, top + height / 2 + 0.5);
}
