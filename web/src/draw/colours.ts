// The colours of the theme in effect, as canvases need them: texts read from the CSS variables of src/ui/theme.css.
// SPDX-License-Identifier: Apache-2.0
import { kHues } from "../model/palette.ts";
import { kMaxChange } from "../model/tree_diff.ts";

export interface Colours {
  // By number of a hue (hueOf).
  hues: string[];
  // By step of a change plus kMaxChange (changeStep).
  changes: string[];
  // The same of a picture that is full of cells: what is about the same stays in the background.
  heats: string[];
  // Text on a hue or a change.
  hueInk: string;
  paper: string;
  ink: string;
  line: string;
  strongLine: string;
  accent: string;
}

export function themeColours(): Colours {
  const style = getComputedStyle(document.documentElement);
  const value = (name: string) => style.getPropertyValue(name).trim();
  return {
    hues: Array.from({ length: kHues }, (_, hue) => value(`--hue-${hue}`)),
    changes: Array.from({ length: 2 * kMaxChange + 1 }, (_, step) => value(`--change-${step}`)),
    heats: Array.from({ length: 2 * kMaxChange + 1 }, (_, step) => value(`--heat-${step}`)),
    hueInk: value("--hue-ink"),
    paper: value("--paper"),
    ink: value("--ink"),
    line: value("--line"),
    strongLine: value("--line-strong"),
    accent: value("--accent"),
  };
}
