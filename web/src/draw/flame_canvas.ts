// Draws a flame graph. The canvas shows the part of the graph that is in view, so its size does not grow with the depth
// of the stacks.
// SPDX-License-Identifier: Apache-2.0
import type { FlameLayout } from "../layout/flame_layout.ts";
import { type CallTree, nameOf } from "../model/call_tree.ts";
import { visibleText } from "../model/numbers.ts";
import { hueOf, kHues } from "../model/palette.ts";

// Height of a row in CSS pixels.
export const kFlameRow = 21;
const kFont = "12px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";
const kPadding = 5;
// Narrower frames have no text.
const kNarrowestText = 28;

export interface FlameColours {
  hues: string[];
  hueInk: string;
  paper: string;
  ink: string;
  line: string;
  accent: string;
}

// The colours of the theme in effect.
export function flameColours(): FlameColours {
  const style = getComputedStyle(document.documentElement);
  const value = (name: string) => style.getPropertyValue(name).trim();
  return {
    hues: Array.from({ length: kHues }, (_, hue) => value(`--hue-${hue}`)),
    hueInk: value("--hue-ink"),
    paper: value("--paper"),
    ink: value("--ink"),
    line: value("--line-strong"),
    accent: value("--accent"),
  };
}

export interface FlamePicture {
  tree: CallTree;
  layout: FlameLayout;
  colours: FlameColours;
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
  const context = canvas.getContext("2d");
  if (context === null) return;
  const ratio = window.devicePixelRatio || 1;
  const pixels = [Math.round(width * ratio), Math.round(height * ratio)] as const;
  if (canvas.width !== pixels[0] || canvas.height !== pixels[1]) [canvas.width, canvas.height] = pixels;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = kFont;
  context.textBaseline = "middle";
  const measure = context.measureText("0123456789abcdefghij").width / 20;
  const first = Math.max(0, Math.floor(scrollTop / kFlameRow));
  const last = Math.min(layout.frames.length - 1, Math.floor((scrollTop + height) / kFlameRow));
  for (let row = first; row <= last; ++row) {
    for (const frame of layout.frames[row] ?? []) {
      drawFrame(context, picture, frame.node, frame.left, row * kFlameRow - scrollTop, frame.width, row < layout.focusRow, measure);
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
    context.fillStyle = colours.line;
    context.fillRect(left, top, width, height);
    return;
  }
  const isMatch = picture.matches === null || picture.matches(tree.name[node]!);
  context.globalAlpha = !isMatch ? 0.22 : isCaller ? 0.6 : 1;
  context.fillStyle = node === 0 ? colours.hues[kHues - 1]! : colours.hues[hueOf(nameOf(tree, node))]!;
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
  const room = Math.floor((width - 2 * kPadding) / letter);
  const name = visibleText(nameOf(tree, node).slice(0, 400));
  context.fillText(clip(context, name, room, width - 2 * kPadding), left + kPadding, top + height / 2 + 0.5);
}

// The text, cut at the end so that it fits. `room`: about how many letters fit.
function clip(context: CanvasRenderingContext2D, text: string, room: number, width: number): string {
  if (text.length <= room * 0.7 || context.measureText(text).width <= width) return text;
  let length = Math.min(text.length, Math.ceil(room * 1.3));
  while (length > 1 && context.measureText(`${text.slice(0, length)}…`).width > width) --length;
  return length > 1 ? `${text.slice(0, length)}…` : "";
}
