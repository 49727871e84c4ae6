// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { hueOf } from "../model/palette.ts";
import { labelsOf, NameLabels } from "./name_labels.ts";

const context = { measured: 0, measureText: (text: string) => (++context.measured, { width: text.length * 5 }) };

it("a name is cut so that it fits with its ellipsis", () => {
  const labels = new NameLabels(["aten::convolution", "ab"]);
  for (let room = 0; room < 100; ++room) {
    const text = labels.fit(context, 0, room);
    expect(text.length * 5).toBeLessThanOrEqual(room);
    expect(text === "" || text === "aten::convolution" || (text.endsWith("…") && "aten::convolution".startsWith(text.slice(0, -1)))).toBe(true);
    if (room >= 15) expect(text.length).toBeGreaterThanOrEqual(Math.min(17, Math.floor(room / 5)));
  }
  expect(labels.fit(context, 1, 10)).toBe("ab");
});

it("a name that fits is measured once", () => {
  const labels = new NameLabels(["relu"]);
  context.measured = 0;
  for (let picture = 0; picture < 10; ++picture) expect(labels.fit(context, 0, 50)).toBe("relu");
  expect(context.measured).toBe(1);
});

it("a name has the colour of its text, and control characters are visible", () => {
  const strings = ["", "aten::mm", "a\u202eb"];
  const labels = labelsOf(strings);
  expect(labelsOf(strings)).toBe(labels);
  strings.forEach((text, name) => expect([labels.hue(name), labels.hue(name)]).toEqual([hueOf(text), hueOf(text)]));
  expect(labels.fit(context, 2, 500)).toBe("a\\u{202E}b");
  expect(labels.hue(99)).toBe(0);
});
