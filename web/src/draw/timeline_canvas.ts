// Draws the part of the timeline that is in view: the scale, the spans of each row, and what is selected.
//
// A picture costs O(pixels * log spans) for each visible row, however many spans the trace has (forVisible in
// timeline_layout.ts), so a new one is drawn for every change and nothing is kept between pictures.
// SPDX-License-Identifier: Apache-2.0
import { type CounterPlace, counterShape, forVisible, kCounter, kGap, kRow, kScale, ticksOf, type TrackPlace } from "../layout/timeline_layout.ts";
import type { Range } from "../model/address.ts";
import { timeText, visibleText } from "../model/numbers.ts";
import { hueOf } from "../model/palette.ts";
import type { Marks } from "../model/marks.ts";
import { type Spans, trackOf } from "../model/spans.ts";
import { beginPicture, clipText, letterWidth } from "./canvas.ts";
import type { Colours } from "./colours.ts";
import { drawMarks } from "./marks_canvas.ts";

// Narrower spans have no text.
const kNarrowestText = 26;

export interface TimelinePicture {
  spans: Spans;
  strings: readonly string[];
  places: TrackPlace[];
  counters: CounterPlace[];
  colours: Colours;
  range: Range;
  selection: Range | null;
  // Number of a span; -1: none.
  selected: number;
  hovered: number;
  // Ranges and points below the spans, and which of them is selected and hovered; -1: none.
  marks: Marks;
  chosen: number;
  hoveredMark: number;
  // By name; null: there is no search.
  matches: Uint8Array | null;
  // Pairs of spans.
  flows: readonly (readonly [number, number])[];
  width: number;
  height: number;
  scrollTop: number;
}

export function drawTimeline(canvas: HTMLCanvasElement, picture: TimelinePicture): void {
  const { width, height } = picture;
  const context = beginPicture(canvas, width, height);
  if (context === null) return;
  drawLines(context, picture);
  const letter = letterWidth(context);
  for (const place of picture.places) {
    const top = place.top - picture.scrollTop + kScale;
    if (top + place.height < kScale || top > height) continue;
    drawTrack(context, picture, place, top, letter);
    const { firstRow } = picture.spans;
    drawMarks(context, picture, place.track, top + (firstRow[place.track + 1]! - firstRow[place.track]!) * kRow, letter);
  }
  for (const place of picture.counters) drawCounter(context, picture, place);
  drawFlows(context, picture);
  if (picture.selection !== null) drawSelection(context, picture, picture.selection);
  drawScale(context, picture);
}

function toX(picture: TimelinePicture, time: number): number {
  return ((time - picture.range.start) / (picture.range.end - picture.range.start)) * picture.width;
}

function drawLines(context: CanvasRenderingContext2D, picture: TimelinePicture): void {
  context.fillStyle = picture.colours.line;
  context.globalAlpha = 0.35;
  for (const tick of ticksOf(picture.range, picture.width)) context.fillRect(Math.round(toX(picture, tick)), kScale, 1, picture.height);
  for (const place of picture.places) {
    context.fillRect(0, place.top + place.height - kGap / 2 - picture.scrollTop + kScale, picture.width, 1);
  }
  context.globalAlpha = 1;
}

// Over the tracks, so that they scroll beneath it.
function drawScale(context: CanvasRenderingContext2D, picture: TimelinePicture): void {
  const { colours, width } = picture;
  context.fillStyle = colours.paper;
  context.fillRect(0, 0, width, kScale - 1);
  context.fillStyle = colours.line;
  context.fillRect(0, kScale - 1, width, 1);
  for (const tick of ticksOf(picture.range, width)) {
    const x = Math.round(toX(picture, tick));
    context.fillStyle = colours.line;
    context.fillRect(x, kScale - 7, 1, 7);
    context.fillStyle = colours.ink;
    context.fillText(timeText(tick), x + 4, kScale / 2 - 1);
  }
}

function drawTrack(context: CanvasRenderingContext2D, picture: TimelinePicture, place: TrackPlace, top: number, letter: number): void {
  const { spans, range, width, colours } = picture;
  const first = spans.firstRow[place.track]!;
  const last = spans.firstRow[place.track + 1]!;
  for (let row = first; row < last; ++row) {
    const y = top + (row - first) * kRow;
    if (y + kRow < kScale || y > picture.height) continue;
    const { folded } = spans;
    context.fillStyle = colours.line;
    context.globalAlpha = 0.45;
    forVisible(folded.rows, row, folded.start, folded.duration, range, width, (_, left, length) => {
      context.fillRect(left, y + kRow / 2 - 2, Math.max(1, length), 4);
    });
    context.globalAlpha = 1;
    forVisible(spans.rows, row, spans.start, spans.duration, range, width, (span, left, length) => {
      drawSpan(context, picture, span, left, y, length, letter);
    });
  }
}

function drawSpan(
  context: CanvasRenderingContext2D,
  picture: TimelinePicture,
  span: number,
  start: number,
  top: number,
  length: number,
  letter: number,
): void {
  const { colours, spans } = picture;
  const left = Math.max(-2, start);
  const right = Math.min(picture.width + 2, start + Math.max(1, length));
  const width = right - left - (right - left > 3 ? 0.75 : 0);
  const name = picture.strings[spans.name[span]!] ?? "";
  const isMatch = picture.matches === null || picture.matches[spans.name[span]!] === 1;
  context.globalAlpha = isMatch ? 1 : 0.22;
  context.fillStyle = colours.hues[hueOf(name)]!;
  context.fillRect(left, top, width, kRow - 2);
  context.globalAlpha = 1;
  if (span === picture.selected || span === picture.hovered || (picture.matches !== null && isMatch && width > 3)) {
    context.strokeStyle = span === picture.selected ? colours.ink : colours.accent;
    context.lineWidth = span === picture.selected ? 2 : 1.25;
    context.strokeRect(left + 0.5, top + 0.5, Math.max(1, width - 1), kRow - 3);
  }
  if (width < kNarrowestText) return;
  context.fillStyle = isMatch ? colours.hueInk : colours.ink;
  const begin = Math.max(left, 0) + 4;
  context.fillText(clipText(context, visibleText(name.slice(0, 200)), right - begin - 4, letter), begin, top + kRow / 2 - 0.5);
}

// Filled steps; a pixel with several values has their span.
function drawCounter(context: CanvasRenderingContext2D, picture: TimelinePicture, place: CounterPlace): void {
  const { colours, range, width } = picture;
  const top = place.top - picture.scrollTop + kScale + 3;
  if (top + kCounter < kScale || top > picture.height) return;
  const { title, times, values } = picture.spans.counters[place.counter]!;
  const shape = counterShape(times, values, range, width);
  const most = values.reduce((a, b) => Math.max(a, b), 0);
  const least = values.reduce((a, b) => Math.min(a, b), 0);
  const height = kCounter - 10;
  const toY = (value: number) => top + height - ((value - least) / (most - least || 1)) * height;
  context.fillStyle = colours.hues[hueOf(title)]!;
  shape.forEach(([x, low, high], at) => {
    const until = shape[at + 1]?.[0] ?? width;
    context.globalAlpha = 0.55;
    context.fillRect(x, toY(high), Math.max(1, until - x), toY(Math.min(0, least)) - toY(high));
    context.globalAlpha = 1;
    context.fillRect(x, toY(high), Math.max(1, until - x), 1.5);
    if (low !== high) context.fillRect(x, toY(high), 1, toY(low) - toY(high));
  });
  context.globalAlpha = 1;
}

function middleOf(picture: TimelinePicture, span: number): number {
  const { spans } = picture;
  const track = trackOf(spans, span);
  return picture.places[track]!.top + spans.depth[span]! * kRow + kRow / 2 - picture.scrollTop + kScale;
}

function drawFlows(context: CanvasRenderingContext2D, picture: TimelinePicture): void {
  const { spans } = picture;
  context.strokeStyle = picture.colours.accent;
  context.lineWidth = 1.5;
  for (const [from, to] of picture.flows) {
    const x = [toX(picture, spans.start[from]!), toX(picture, spans.start[to]!)] as const;
    const y = [middleOf(picture, from), middleOf(picture, to)] as const;
    const bend = Math.max(12, Math.abs(x[1] - x[0]) / 3);
    context.beginPath();
    context.moveTo(x[0], y[0]);
    context.bezierCurveTo(x[0] + bend, y[0], x[1] - bend, y[1], x[1], y[1]);
    context.stroke();
    context.beginPath();
    context.arc(x[1], y[1], 2.5, 0, 2 * Math.PI);
    context.stroke();
  }
}

function drawSelection(context: CanvasRenderingContext2D, picture: TimelinePicture, selection: Range): void {
  const left = toX(picture, selection.start);
  const right = toX(picture, selection.end);
  context.fillStyle = picture.colours.accent;
  context.globalAlpha = 0.12;
  context.fillRect(left, kScale, right - left, picture.height);
  context.globalAlpha = 1;
  context.fillRect(left, kScale, 1, picture.height);
  context.fillRect(right - 1, kScale, 1, picture.height);
}
