// Draws the part of the timeline that is in view: the scale, the spans of each row, and what is selected.
//
// A picture costs O(pixels * log spans) for each visible row, however many spans the trace has (forVisible in
// timeline_layout.ts), so a new one is drawn for every change and nothing is kept between pictures. A track is drawn from
// one or more layers, each in its part of the range; spans look the same in each, so no seam shows.
// SPDX-License-Identifier: Apache-2.0
import { type CounterPlace, counterShape, forVisible, kCounter, kGap, kRow, kScale, placeOfTrack, ticksOf, tickTexts, type TrackPlace } from "../layout/timeline_layout.ts";
import type { Range } from "../model/address.ts";
import { hueOf } from "../model/palette.ts";
import type { Marks } from "../model/marks.ts";
import type { FoundSpan } from "../model/span_source.ts";
import type { Spans } from "../model/spans.ts";
import type { Piece } from "../model/window_cache.ts";
import { beginPicture, drawTickTexts } from "./canvas.ts";
import type { Colours } from "./colours.ts";
import { drawMarks } from "./marks_canvas.ts";
import { labelsOf, NameLabels } from "./name_labels.ts";

// Narrower spans have no text.
const kNarrowestText = 26;

export interface TimelinePicture {
  spans: Spans;
  // What a track is drawn from.
  layers: (track: number) => Piece[];
  places: TrackPlace[];
  counters: CounterPlace[];
  colours: Colours;
  range: Range;
  selection: Range | null;
  selected: FoundSpan | null;
  hovered: FoundSpan | null;
  // Ranges and points below the spans, and which of them is selected and hovered; -1: none.
  marks: Marks;
  chosen: number;
  hoveredMark: number;
  // By name, of the search; null: there is none.
  matches: (spans: Spans) => Uint8Array | null;
  flows: readonly (readonly [FoundSpan, FoundSpan])[];
  width: number;
  height: number;
  scrollTop: number;
}

export function drawTimeline(canvas: HTMLCanvasElement, picture: TimelinePicture): void {
  const { width, height } = picture;
  const context = beginPicture(canvas, width, height);
  if (context === null) return;
  drawLines(context, picture);
  for (const place of picture.places) {
    const top = place.top - picture.scrollTop + kScale;
    if (top + place.height < kScale || top > height) continue;
    const layers = picture.layers(place.track);
    for (const layer of layers) {
      if (layers.length === 1) {
        drawTrack(context, picture, layer.spans, place, top);
        continue;
      }
      context.save();
      context.beginPath();
      const left = toX(picture, layer.range.start);
      context.rect(left, top, toX(picture, layer.range.end) - left, place.height);
      context.clip();
      drawTrack(context, picture, layer.spans, place, top);
      context.restore();
    }
    const { firstRow } = picture.spans;
    drawMarks(context, picture, place.track, top + (firstRow[place.track + 1]! - firstRow[place.track]!) * kRow);
  }
  if (picture.hovered !== null) drawMarked(context, picture, picture.hovered, false);
  if (picture.selected !== null) drawMarked(context, picture, picture.selected, true);
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
  const ticks = ticksOf(picture.range, width);
  const xs = ticks.map((tick) => Math.round(toX(picture, tick)));
  for (const x of xs) context.fillRect(x, kScale - 7, 1, 7);
  context.fillStyle = colours.ink;
  drawTickTexts(context, tickTexts(ticks), xs, kScale / 2 - 1, width);
}

function drawTrack(context: CanvasRenderingContext2D, picture: TimelinePicture, spans: Spans, place: TrackPlace, top: number): void {
  const { range, width, colours } = picture;
  const labels = labelsOf(spans.strings);
  const matches = picture.matches(spans);
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
    drawRow(context, picture, spans, matches, row, y, labels);
  }
}

// Boxes first, by colour, then texts and outlines: every change of the colour ends a batch of the canvas. Many rows have
// more spans than pixels, so what is drawn of a span is kept in arrays, not in objects.
const kBoxes = { spans: [] as number[], lefts: [] as number[], widths: [] as number[], next: [] as number[] };

function drawRow(
  context: CanvasRenderingContext2D,
  picture: TimelinePicture,
  spans: Spans,
  // null: there is no search.
  matches: Uint8Array | null,
  row: number,
  top: number,
  labels: NameLabels,
): void {
  const { colours } = picture;
  const { spans: shown, lefts, widths, next } = kBoxes;
  const groups = 2 * colours.hues.length; // a colour, without and with a match
  const heads = new Int32Array(groups).fill(-1); // the last box of each; `next` has the one before it
  let count = 0;
  forVisible(spans.rows, row, spans.start, spans.duration, picture.range, picture.width, (span, start, length) => {
    const left = Math.max(-2, start);
    const right = Math.min(picture.width + 2, start + Math.max(1, length));
    const name = spans.name[span]!;
    const group = 2 * labels.hue(name) + (matches === null || matches[name] === 1 ? 1 : 0);
    shown[count] = span;
    lefts[count] = left;
    widths[count] = right - left - (right - left > 3 ? 0.75 : 0);
    next[count] = heads[group]!;
    heads[group] = count++;
  });
  for (let group = 0; group < groups; ++group) {
    if (heads[group]! < 0) continue;
    context.globalAlpha = group % 2 === 1 ? 1 : 0.22;
    context.fillStyle = colours.hues[group >> 1]!;
    for (let at = heads[group]!; at >= 0; at = next[at]!) context.fillRect(lefts[at]!, top, widths[at]!, kRow - 2);
  }
  context.globalAlpha = 1;
  for (let at = 0; at < count; ++at) {
    const span = shown[at]!;
    const name = spans.name[span]!;
    const isFound = matches !== null && matches[name] === 1;
    if (isFound && widths[at]! > 3) {
      context.strokeStyle = colours.accent;
      context.lineWidth = 1.25;
      context.strokeRect(lefts[at]! + 0.5, top + 0.5, Math.max(1, widths[at]! - 1), kRow - 3);
    }
    if (widths[at]! < kNarrowestText) continue;
    const begin = Math.max(lefts[at]!, 0) + 4;
    const text = labels.fit(context, name, lefts[at]! + widths[at]! - begin - 4);
    if (text === "") continue;
    context.fillStyle = matches === null || isFound ? colours.hueInk : colours.ink;
    context.fillText(text, begin, top + kRow / 2 - 0.5);
  }
}

// One span with its name, without merging it with its neighbours.
function drawBox(context: CanvasRenderingContext2D, picture: TimelinePicture, name: string, start: number, top: number, length: number): void {
  const left = Math.max(-2, start);
  const right = Math.min(picture.width + 2, start + Math.max(1, length));
  const width = right - left - (right - left > 3 ? 0.75 : 0);
  context.fillStyle = picture.colours.hues[hueOf(name)]!;
  context.fillRect(left, top, width, kRow - 2);
  if (width < kNarrowestText) return;
  const begin = Math.max(left, 0) + 4;
  context.fillStyle = picture.colours.hueInk;
  context.fillText(new NameLabels([name]).fit(context, 0, right - begin - 4), begin, top + kRow / 2 - 0.5);
}

// The selected span, or the one under the pointer. No layer need have it.
function drawMarked(context: CanvasRenderingContext2D, picture: TimelinePicture, span: FoundSpan, isSelected: boolean): void {
  const { start, duration } = span.key;
  const top = topOf(picture, span);
  if (top === null) return;
  const left = toX(picture, start);
  const length = toX(picture, start + duration) - left;
  if (top + kRow < kScale || top > picture.height || left + Math.max(1, length) < 0 || left > picture.width) return;
  drawBox(context, picture, span.name, left, top, length);
  const from = Math.max(-2, left);
  const to = Math.min(picture.width + 2, left + Math.max(2, length));
  context.strokeStyle = isSelected ? picture.colours.ink : picture.colours.accent;
  context.lineWidth = isSelected ? 2 : 1.25;
  context.strokeRect(from + 0.5, top + 0.5, Math.max(1, to - from - 1.75), kRow - 3);
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

// null: the track is not shown.
function topOf(picture: TimelinePicture, span: FoundSpan): number | null {
  const place = placeOfTrack(picture.places, span.track);
  return place === undefined ? null : place.top + span.depth * kRow - picture.scrollTop + kScale;
}

function drawFlows(context: CanvasRenderingContext2D, picture: TimelinePicture): void {
  context.strokeStyle = picture.colours.accent;
  context.lineWidth = 1.5;
  for (const [from, to] of picture.flows) {
    const x = [toX(picture, from.key.start), toX(picture, to.key.start)] as const;
    const [begin, end] = [topOf(picture, from), topOf(picture, to)];
    if (begin === null || end === null) continue;
    const y = [begin + kRow / 2, end + kRow / 2] as const;
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
