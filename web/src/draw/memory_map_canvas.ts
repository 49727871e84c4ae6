// Draws blocks of memory: time across, addresses up, and the scales of both.
//
// Larger blocks are drawn first, so that small ones are not hidden. A block that was never freed has a hatched edge at
// its end, one from before the recording has one at its begin: colour alone says nothing.
// SPDX-License-Identifier: Apache-2.0
import { type AddressAxis, addressAt, forVisibleBlocks, type MapBlocks, type MapRectangle, type MapView, rectangleOf } from "../layout/memory_map_layout.ts";
import { ticksOf, tickTexts } from "../layout/timeline_layout.ts";
import { addressText, kFromBefore, kKept, type MemoryBlocks } from "../model/memory_blocks.ts";
import { visibleText } from "../model/numbers.ts";
import { beginPicture, clipText, drawTickTexts, letterWidth } from "./canvas.ts";
import type { Colours } from "./colours.ts";

// Height of the scale of time below the blocks, and width of that of addresses.
export const kTimeScale = 24;
export const kAddressScale = 112;

export interface MapPicture {
  blocks: MemoryBlocks;
  placed: MapBlocks;
  axis: AddressAxis;
  view: MapView;
  colours: Colours;
  strings: readonly string[];
  // By block: number of its colour.
  hues: Uint8Array;
  selected: number;
  hovered: number;
  // Of the canvas, scales included.
  width: number;
  height: number;
}

export function drawMemoryMap(canvas: HTMLCanvasElement, picture: MapPicture): void {
  const context = beginPicture(canvas, picture.width, picture.height);
  if (context === null) return;
  const { view, colours, placed } = picture;
  const [width, height] = [picture.width - kAddressScale, picture.height - kTimeScale];
  if (width <= 0 || height <= 0) return;
  context.save();
  context.translate(kAddressScale, 0);
  context.beginPath();
  context.rect(0, 0, width, height);
  context.clip();
  const letter = letterWidth(context);
  const shown: [number, MapRectangle][] = [];
  forVisibleBlocks(placed, view, width, height, (block, rectangle) => shown.push([block, rectangle]));
  shown.sort(([a], [b]) => placed.bytes[b]! - placed.bytes[a]! || a - b);
  for (const [block, rectangle] of shown) drawBlock(context, picture, block, rectangle, width, letter);
  for (const block of [picture.hovered, picture.selected]) {
    if (block < 0) continue;
    const { left, top, width: across, height: up } = rectangleOf(placed, block, view, width, height);
    context.strokeStyle = block === picture.selected ? colours.ink : colours.accent;
    context.lineWidth = 2;
    context.strokeRect(left, top, Math.max(2, across), Math.max(2, up));
  }
  context.restore();
  drawScales(context, picture, width, height);
}

function drawBlock(context: CanvasRenderingContext2D, picture: MapPicture, block: number, rectangle: MapRectangle, width: number, letter: number): void {
  const { blocks, colours, strings } = picture;
  const left = Math.max(-2, rectangle.left);
  const right = Math.min(width + 2, rectangle.left + rectangle.width);
  const { top, height } = rectangle;
  const gap = height > 3 ? 0.75 : 0;
  context.fillStyle = colours.hues[picture.hues[block]!]!;
  context.fillRect(left, top, right - left - (right - left > 3 ? 0.75 : 0), height - gap);
  const state = blocks.state[block]!;
  if (height >= 4 && right - left > 12) {
    if ((state & kKept) !== 0) drawTeeth(context, colours, right, top, height, -1);
    if ((state & kFromBefore) !== 0) drawTeeth(context, colours, left, top, height, 1);
  }
  const room = right - Math.max(0, left) - 18;
  if (height < 15 || room < 30) return;
  context.fillStyle = colours.hueInk;
  const name = visibleText((strings[blocks.name[block]!] ?? "").slice(0, 200));
  context.fillText(clipText(context, name, room, letter), Math.max(0, left) + 9, top + height / 2);
}

// An edge of teeth: the block goes on beyond the recording.
function drawTeeth(context: CanvasRenderingContext2D, colours: Colours, x: number, top: number, height: number, way: 1 | -1): void {
  context.fillStyle = colours.paper;
  for (let y = 0; y + 4 <= height; y += 8) {
    context.beginPath();
    context.moveTo(x, top + y);
    context.lineTo(x + way * 5, top + y + 4);
    context.lineTo(x, top + Math.min(height, y + 8));
    context.fill();
  }
}

function drawScales(context: CanvasRenderingContext2D, picture: MapPicture, width: number, height: number): void {
  const { colours, view, axis, blocks } = picture;
  context.fillStyle = colours.line;
  context.fillRect(kAddressScale - 1, 0, 1, height);
  context.fillRect(kAddressScale, height, width, 1);
  const ticks = ticksOf(view, width);
  const xs = ticks.map((tick) => Math.round(kAddressScale + ((tick - view.start) / (view.end - view.start)) * width));
  for (const x of xs) context.fillRect(x, height, 1, 6);
  context.fillStyle = colours.ink;
  drawTickTexts(context, tickTexts(ticks), xs, height + kTimeScale / 2 + 2, picture.width);
  // Where used addresses begin, and in between every 80 pixels.
  const toY = (level: number) => height - ((level - view.low) / (view.high - view.low)) * height;
  const levels = axis.segments.map((segment) => segment.height).filter((level) => level >= view.low && level <= view.high);
  for (let y = height - 8; y > 0; y -= 80) levels.push(view.low + ((height - y) / height) * (view.high - view.low));
  const used: number[] = [];
  context.fillStyle = colours.ink;
  for (const level of levels) {
    const y = Math.min(height - 8, Math.max(8, toY(level)));
    if (used.some((other) => Math.abs(other - y) < 16)) continue;
    used.push(y);
    context.fillText(addressText(blocks, addressAt(axis, level)), 2, y);
  }
}
