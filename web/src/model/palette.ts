// The colour of a name. The same name has the same colour everywhere: in the timeline, the flame graph, the charts and
// the tables. The colours themselves are the CSS variables --hue-0 to --hue-7 of src/ui/theme.css, a lightened
// Okabe-Ito palette: people with colour blindness tell them apart, and dark text is readable on each.
// SPDX-License-Identifier: Apache-2.0

export const kHues = 8;

// FNV-1a, reduced to the number of a colour.
export function hueOf(name: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; ++i) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return ((hash ^ (hash >>> 15)) >>> 0) % kHues;
}

const kCategories = ["PARAMETER", "OPTIMIZER_STATE", "INPUT", "TEMPORARY", "ACTIVATION", "GRADIENT", "AUTOGRAD_DETAIL"];

// The colour of a category of memory. There are as many colours as categories, so no two share one.
export function categoryHue(category: string): number {
  const at = kCategories.indexOf(category);
  return at < 0 ? kHues - 1 : at;
}
