// @vitest-environment happy-dom
// SPDX-License-Identifier: Apache-2.0
import { h, render } from "preact";
import { act } from "preact/test-utils";
import { expect, test } from "vitest";
import { StackedBar } from "./stacked_bar.tsx";

test("a negative part is listed, so that the parts add up, and the others fit into the bar", async () => {
  const parts = [
    { name: "mm", value: 150, hue: 1 },
    { name: "none", value: 0, hue: 2 },
    { name: "(before)", value: -50, hue: 3 },
  ];
  await act(() => render(h(StackedBar, { title: "Peak", parts, whole: 100, unit: "bytes" }), document.body));
  const lines = [...document.querySelectorAll("li")].map((line) => [...line.querySelectorAll<HTMLElement>("[data-value]")].map((each) => each.dataset["value"]));
  expect(lines).toEqual([["mm", "150", "1.5"], ["(before)", "-50", "-0.5"]]);
  expect([...document.querySelectorAll<HTMLElement>(".bar i")].map((part) => part.style.width)).toEqual(["100%"]);
});
