// @vitest-environment happy-dom
// SPDX-License-Identifier: Apache-2.0
import { h, render } from "preact";
import { act } from "preact/test-utils";
import { expect, test } from "vitest";
import { type Loaded, useLoaded } from "./use_loaded.ts";

let latest: Loaded<string>;

function Asking({ query }: { query: string }) {
  latest = useLoaded(() => (query === "" ? null : query === "(" ? Promise.reject(new Error("wrong")) : Promise.resolve(query)), [query]);
  return null;
}

async function ask(query: string): Promise<Loaded<string>> {
  // The first one calls the effects, the second one waits for what they have asked.
  await act(() => render(h(Asking, { query }), document.body));
  await act(() => new Promise<void>((done) => setTimeout(done)));
  return latest;
}

test("the last data stay when nothing is to be loaded", async () => {
  expect(await ask("name")).toEqual({ data: "name", failure: "" });
  expect(await ask("")).toEqual({ data: "name", failure: "" });
});

test("a failure is over when nothing is to be loaded", async () => {
  expect((await ask("(")).failure).not.toBe("");
  expect(await ask("")).toEqual({ data: null, failure: "" });
});
