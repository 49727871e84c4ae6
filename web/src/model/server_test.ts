// SPDX-License-Identifier: Apache-2.0
import { afterEach, describe, expect, it, vi } from "vitest";
import { kServerEnded, pingInterval, TraceServer, tokenOf } from "./server.ts";

afterEach(() => vi.unstubAllGlobals());

function answer(status: number, body: string) {
  const asked = vi.fn(async () => new Response(body, { status }));
  vi.stubGlobal("fetch", asked);
  return asked;
}

describe("TraceServer", () => {
  it("sends the token as a header and never in the address", async () => {
    const asked = answer(200, '{"files": [{"id": 0, "name": "a.json", "open": true}], "idle_s": 9}');
    expect(await new TraceServer("secret").files()).toEqual({ files: [{ id: "0", name: "a.json" }], idleSeconds: 9 });
    expect(asked).toHaveBeenCalledWith("/api/files", { headers: { Authorization: "Bearer secret" } });
  });

  it("says that the server has ended where nothing answers", async () => {
    vi.stubGlobal("fetch", async () => Promise.reject(new TypeError("Failed to fetch")));
    await expect(new TraceServer("x").ping()).rejects.toThrow(kServerEnded);
  });

  it("tells the server's own sentence, and names an old address", async () => {
    answer(422, '{"error": "b.json: cannot be read"}');
    await expect(new TraceServer("x").data("1", "whole")).rejects.toThrow("b.json: cannot be read");
    answer(403, "{}");
    await expect(new TraceServer("x").data("1", "whole")).rejects.toThrow("not the one that opscope view printed last");
  });
});

describe("pingInterval", () => {
  it("asks several times before the server would end, and often enough to notice its end", () => {
    expect([2, 30, 1800, 0].map(pingInterval)).toEqual([2000 / 3, 5000, 5000, 5000]);
  });
});

describe("tokenOf", () => {
  it("finds the token wherever it stands in the fragment", () => {
    expect(["#token=ab", "#tab=about&token=cd&q=token", "#q=token", ""].map(tokenOf)).toEqual(["ab", "cd", "", ""]);
  });
});
