// @vitest-environment happy-dom
// SPDX-License-Identifier: Apache-2.0
import { h, render } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { act } from "preact/test-utils";
import { expect, test, vi } from "vitest";
import { drawSoon } from "./draw_soon.ts";
import { useColours, useTheme } from "./theme.ts";

test("a dark page is light while it prints, and its canvases draw before the print without another frame", async () => {
  document.documentElement.dataset["themeChoice"] = "dark";
  vi.stubGlobal("requestAnimationFrame", () => 0); // no frame comes
  vi.stubGlobal("cancelAnimationFrame", () => {});
  const drawn: string[] = [];
  function Picture() {
    useTheme();
    const colours = useColours();
    useLayoutEffect(() => drawSoon(() => drawn.push(document.documentElement.dataset["theme"] ?? "")), [colours]);
    return null;
  }
  await act(() => render(h(Picture, {}), document.body));
  expect([document.documentElement.dataset["theme"], drawn]).toEqual(["dark", []]);
  await act(() => void window.dispatchEvent(new Event("beforeprint")));
  await vi.waitFor(() => expect(drawn).toEqual(["light"]));
  await act(() => void window.dispatchEvent(new Event("afterprint")));
  expect(document.documentElement.dataset["theme"]).toBe("dark");
});
