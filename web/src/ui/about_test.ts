// @vitest-environment happy-dom
// SPDX-License-Identifier: Apache-2.0
import { h, render } from "preact";
import { act } from "preact/test-utils";
import { expect, test } from "vitest";
import { Origin } from "../model/document.ts";
import { emptyDocument } from "../model/document_for_test.ts";
import { About } from "./about.tsx";
import { type Page, PageContext } from "./page_context.ts";

test("members of members are numbers with units, not JSON, and files stand on lines of their own", async () => {
  const made = emptyDocument();
  made.files = ["a.json", "b.json"];
  made.about.info = { "own_cost": { whole_ns: 5, kinds: { torch_op: { begin_ns: 74.76, end_ns: 20.5 } } } };
  const page = { document: made, origin: new Origin(made.clock) } as Partial<Page> as Page;
  await act(() => render(h(PageContext.Provider, { value: page }, h(About, {})), document.body));
  const text = document.body.textContent;
  expect(text).toContain("torch op: begin 74.760 ns, end 20.500 ns");
  expect(text).not.toContain("{");
  expect(document.querySelector('[data-value="74.76"]')?.textContent).toBe("74.760 ns");
  expect([...document.querySelectorAll("li")].map((line) => line.textContent).slice(0, 2)).toEqual(["a.json", "b.json"]);
});
