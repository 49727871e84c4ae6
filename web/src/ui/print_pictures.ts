// Pictures in print have the size at which they were drawn. No script learns the width of the paper before a browser takes
// the page, and Chromium stretches a canvas in steps of 1/64, so that a stretched one ends short of its frame.
//
// The sizes go to print.css as custom properties, of the canvas and of the box around it.
// SPDX-License-Identifier: Apache-2.0

const kFrames = ".flame-box, .timeline-box, .map-picture, .rank-picture";

export function keepSizesInPrint(): void {
  window.addEventListener("beforeprint", () => {
    for (const canvas of document.querySelectorAll<HTMLCanvasElement>("main canvas")) {
      const frame = canvas.closest<HTMLElement>(kFrames);
      if (frame === null || canvas.clientWidth === 0) continue;
      canvas.style.setProperty("--drawn-width", `${canvas.clientWidth}px`);
      canvas.style.setProperty("--drawn-height", `${canvas.clientHeight}px`);
      frame.style.setProperty("--frame-height", `${frame.offsetHeight}px`);
    }
  });
}
