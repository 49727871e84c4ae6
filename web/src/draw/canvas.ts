// What every canvas of the page needs: as many pixels as the screen has, one font, and texts cut to a width.
// SPDX-License-Identifier: Apache-2.0

const kFont = "12px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif";

// Clears the canvas and returns its context, in which a unit is a CSS pixel. null: the browser has no canvas.
export function beginPicture(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D | null {
  const context = canvas.getContext("2d");
  if (context === null) return null;
  const ratio = window.devicePixelRatio || 1;
  const pixels = [Math.round(width * ratio), Math.round(height * ratio)] as const;
  if (canvas.width !== pixels[0] || canvas.height !== pixels[1]) [canvas.width, canvas.height] = pixels;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  context.font = kFont;
  context.textBaseline = "middle";
  return context;
}

// Mean width of a letter in CSS pixels.
export function letterWidth(context: CanvasRenderingContext2D): number {
  return context.measureText("0123456789abcdefghij").width / 20;
}

// The text, cut at the end so that it fits into `width` CSS pixels; "" if only the ellipsis fits. `letter`: letterWidth.
export function clipText(context: CanvasRenderingContext2D, text: string, width: number, letter: number): string {
  const room = Math.floor(width / letter);
  if (text.length <= room * 0.7 || context.measureText(text).width <= width) return text;
  let length = Math.min(text.length, Math.ceil(room * 1.3));
  while (length > 1 && context.measureText(`${text.slice(0, length)}…`).width > width) --length;
  return length > 1 ? `${text.slice(0, length)}…` : "";
}

// Writes the texts of ticks at `xs`, which rise: each to the right of its line, or to the left where the picture ends first.
// One that would touch the text before is left out.
export function drawTickTexts(context: CanvasRenderingContext2D, texts: readonly string[], xs: readonly number[], y: number, right: number): void {
  let end = -Infinity;
  texts.forEach((text, at) => {
    const x = xs[at]!;
    const width = context.measureText(text).width;
    const left = x + 4 + width <= right ? x + 4 : x - 4 - width;
    if (left < end + 4) return;
    context.fillText(text, left, y);
    end = left + width;
  });
}
