// @vitest-environment happy-dom
// SPDX-License-Identifier: Apache-2.0
import { h, render } from "preact";
import { act } from "preact/test-utils";
import { beforeEach, expect, test, vi } from "vitest";
import { NoFile } from "./failure.tsx";
import { FileSelect } from "./file_select.tsx";

const kFiles = ["run/n_1.1764350000000000000.pt.trace.json", "run/n_2.1764350000000000000.pt.trace.json"].map((name, at) => ({ id: String(at), name }));
const options = () => Array.from(document.querySelectorAll("option"), (option) => option.textContent);

beforeEach(() => render(null, document.body));

test("where no file can be shown, each may be chosen", async () => {
  const open = vi.fn();
  await act(() => render(h(NoFile, { message: "Both are cut.", files: kFiles, open }), document.body));
  expect(document.querySelector("[role=alert]")?.textContent).toBe("Both are cut.");
  expect(options()).toEqual(["Choose a file", ...kFiles.map(({ name }) => name)]);
  const select = document.querySelector("select")!;
  expect(select.getAttribute("aria-label")).toBe("File");
  select.value = "0";
  await act(() => void select.dispatchEvent(new Event("change", { bubbles: true })));
  expect(open).toHaveBeenCalledWith("0");
});

test("a file that is shown stands in the list by worker, and one file needs no list", async () => {
  await act(() => render(h(FileSelect, { files: kFiles, chosen: "1", open: () => {} }), document.body));
  expect(options()).toEqual(["n_1", "n_2"]);
  await act(() => render(h(FileSelect, { files: kFiles.slice(1), chosen: "1", open: () => {} }), document.body));
  expect(options()).toEqual([]);
});
