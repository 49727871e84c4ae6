// When a canvas draws: in the next frame, so that several changes make one picture, but at once for print. A browser
// prints what the page shows right after `beforeprint` and waits for no frame.
// SPDX-License-Identifier: Apache-2.0
import { isPrinting } from "./theme.ts";

// Returns the function that cancels the drawing, for effects.
export function drawSoon(draw: () => void): () => void {
  if (isPrinting()) {
    draw();
    return () => {};
  }
  const frame = requestAnimationFrame(draw);
  return () => cancelAnimationFrame(frame);
}
