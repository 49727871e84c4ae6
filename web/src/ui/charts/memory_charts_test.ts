// @vitest-environment happy-dom
// SPDX-License-Identifier: Apache-2.0
import { h, render } from "preact";
import { act } from "preact/test-utils";
import { expect, test, vi } from "vitest";
import { Origin } from "../../model/document.ts";
import { emptyDocument, packColumn } from "../../model/document_for_test.ts";
import { type Page, PageContext } from "../page_context.ts";
import { MemoryCharts } from "./memory_charts.tsx";

const plots = vi.hoisted(() => ({ drawn: 0 }));

vi.mock("uplot", () => {
  class Plot {
    static paths = { stepped: () => () => null };
    readonly width: number;
    constructor(options: { width: number }) {
      this.width = options.width;
      ++plots.drawn;
    }
    destroy() {
      --plots.drawn;
    }
  }
  return { default: Plot };
});

test("the curves are there again after another tab was open", async () => {
  let resized = () => {};
  vi.stubGlobal("ResizeObserver", class {
    constructor(callback: () => void) {
      resized = callback;
    }
    observe() {}
    disconnect() {}
  });
  let width = 800;
  vi.spyOn(HTMLElement.prototype, "clientWidth", "get").mockImplementation(() => width);
  const made = emptyDocument();
  made.memory.curves = [{ device: 0, category: 0, times: packColumn([0, 5]), bytes: packColumn([10, 20]), error_bytes: 0 }];
  const page = { document: made, origin: new Origin(made.clock) } as Partial<Page> as Page;
  await act(() => render(h(PageContext.Provider, { value: page }, h(MemoryCharts, {})), document.body));
  await vi.waitFor(() => expect(plots.drawn).toBe(1));
  width = 0;
  resized();
  expect(plots.drawn).toBe(0);
  width = 800;
  resized();
  expect(plots.drawn).toBe(1);
});
