// The source of spans that asks a server, with a server of a few lines in its place.
// SPDX-License-Identifier: Apache-2.0
import { afterEach, describe, expect, it, vi } from "vitest";
import { DocumentError } from "./document.ts";
import { packColumn, sampleDocument } from "./document_for_test.ts";
import { kServerEnded, kWrongAnswer, ServerEnded, TraceServer } from "./server.ts";
import { lacksSpans, serverSource } from "./server_source.ts";
import { WindowCache } from "./window_cache.ts";

afterEach(() => vi.unstubAllGlobals());

const kTracks = {
  tracks: [
    { track: 0, id: "1234/1", title: "main", group: "python (1234)", kind: "thread", rank: -1, spans: 972, rows: 4 },
    { track: 1, id: "0/7", title: "stream 7", group: "python (1234)", kind: "stream", rank: -1, spans: 500, rows: 1 },
    { track: 5, id: "9/9", title: "left out", group: "", kind: "other", rank: 3, spans: 2, rows: 2 },
  ],
};

const kSpan = { row: 7, track: 5, start: 40, duration: 3, name: "tiny" };
const kDetails = {
  ...kSpan,
  depth: 1, self: 3, category: "cpu_op", parent: 6, first_child: null, previous: 6, next: null,
  arguments: { shape: [1, 2], mode: "fast" }, stack: ["main", "run"],
  flows: [{ kind: "launch", direction: "out", span: { row: 2, track: 1, start: 9, duration: 1, name: "kernel", depth: 0 } }],
};

const kWindow = {
  pixel_ns: 1,
  strings: ["", "tiny"],
  timeline: {
    tracks: [{ track: 5, kept: 2 }],
    kept: {
      row: packColumn([6, 7], 1), start: packColumn([0, 40], 1), duration: packColumn([100, 3]), covered: packColumn([3, 0]),
      depth: packColumn([0, 1], 1), name: packColumn([0, 1]), category: packColumn([0, 0]),
    },
    folded: { spans: 0, track: packColumn([]), depth: packColumn([]), start: packColumn([]), duration: packColumn([]), count: packColumn([]) },
  },
};

// Answers by path; `asked`: paths and bodies.
function serve(answers: Record<string, unknown>, document = sampleDocument()) {
  const asked: string[] = [];
  vi.stubGlobal("fetch", async (path: string, options: RequestInit) => {
    options.signal?.throwIfAborted();
    asked.push(options.body === undefined ? path : `${path} ${String(options.body)}`);
    const answer = answers[path.split("?")[0]!];
    if (answer === undefined) return new Response('{"error": "There is no such span."}', { status: 404 });
    return new Response(typeof answer === "string" ? answer : JSON.stringify(answer));
  });
  const server = new TraceServer("secret");
  return { source: serverSource(document, server, "3", new WindowCache(2 ** 20)), asked, server };
}

const signal = new AbortController().signal;

describe("serverSource", () => {
  it("has the document's tracks of ranges and points behind the tracks with spans", async () => {
    const document = sampleDocument();
    document.timeline.tracks.push({ track: 3, id: "1/3", title: "points", group: "", kind: "other", rank: -1, spans: 0, kept: 0, rows: 0, mark_rows: 1 });
    const { source } = serve({ "/api/tracks": kTracks, "/api/spans": kWindow }, document);
    const spans = await source.load();
    expect(spans.tracks.map(({ id }) => id)).toEqual(["1234/1", "0/7", "9/9", "1/3"]);
    expect([...spans.firstRow]).toEqual([0, 4, 5, 7, 7]);
    expect(await source.detail!.fetch({ start: 0, end: 100 }, 1, [3], signal)).toBe(false);
    expect(await source.detail!.fetch({ start: 0, end: 100 }, 1, [2, 3], signal)).toBe(true);
  });

  it("puts the document's spans on all tracks of the trace, also those that the document left out", async () => {
    const { source } = serve({ "/api/tracks": kTracks });
    const spans = await source.load();
    expect(spans.tracks.map(({ id, kept, rows }) => [id, kept, rows])).toEqual([["1234/1", 972, 4], ["0/7", 480, 1], ["9/9", 0, 2]]);
    expect([...spans.firstRow]).toEqual([0, 4, 5, 7]);
    expect([0, 1, 2].map((track) => lacksSpans(spans, track, { start: 0, end: 10 }))).toEqual([false, true, true]);
  });

  it("finds a span that the document lacks by its key, with relatives, arguments and flows", async () => {
    const { source, asked } = serve({ "/api/tracks": kTracks, "/api/span": kDetails });
    const details = await source.details({ track: "9/9", start: 40, duration: 3 });
    expect(details).toMatchObject({ name: "tiny", track: 2, depth: 1, stack: "main\nrun", key: { track: "9/9", start: 40, duration: 3, number: 7 } });
    expect(details!.arguments).toEqual([{ key: "shape", value: "[1,2]" }, { key: "mode", value: "fast" }]);
    expect(details!.links[0]).toMatchObject({ kind: "launch", isOut: true, span: { name: "kernel", track: 1 } });
    expect(await source.relative(details!.key, "next")).toBe(null);
    await source.relative(details!.key, "parent");
    expect(asked).toEqual(["/api/tracks?file=3", "/api/span?file=3&track=5&start=40&duration=3", "/api/span?file=3&row=7", "/api/span?file=3&row=6"]);
  });

  it("has the digits of arguments that a double cannot hold", async () => {
    const text = JSON.stringify(kDetails).replace('"mode":"fast"', '"hash":9007199254740993');
    const { source } = serve({ "/api/tracks": kTracks, "/api/span": text });
    expect((await source.details({ track: "9/9", start: 40, duration: 3 }))!.arguments[1]).toEqual({ key: "hash", value: "9007199254740993" });
  });

  it("knows that there is no such span, or no such track", async () => {
    const { source } = serve({ "/api/tracks": kTracks });
    expect(await source.find({ track: "9/9", start: 1, duration: 1 })).toBe(null);
    expect(await source.find({ track: "none", start: 1, duration: 1 })).toBe(null);
  });

  it("fetches a part of the timeline once, with half of the range on each side, and keeps none that is late", async () => {
    const { source, asked } = serve({ "/api/tracks": kTracks, "/api/spans": kWindow });
    const range = { start: 1000, end: 2000 };
    const late = new AbortController();
    const fetched = source.detail!.fetch(range, 2, [2], late.signal);
    late.abort();
    await expect(fetched).rejects.toThrow();
    expect(source.detail!.pieces(2, range, 2)).toEqual([]);
    expect(await source.detail!.fetch(range, 2, [0, 2], signal)).toBe(true);
    expect(await source.detail!.fetch({ start: 600, end: 1600 }, 2, [0, 2], signal)).toBe(false);
    const bodies = asked.filter((text) => text.startsWith("/api/spans "));
    expect(bodies).toEqual(['/api/spans {"file":3,"range":[500,2501],"width":1000,"tracks":[5]}']);
    const [piece] = source.detail!.pieces(2, range, 2);
    expect(piece!.range).toEqual(range);
    expect([...piece!.spans.numbers!, piece!.spans.strings[piece!.spans.name[1]!]]).toEqual([6, 7, "tiny"]);
  });

  it("makes a sentence of every wrong answer", async () => {
    const key = { track: "9/9", start: 40, duration: 3 };
    const { z } = kWindow.timeline.kept.start;
    const damaged = { ...kWindow, timeline: { ...kWindow.timeline, kept: { ...kWindow.timeline.kept, row: { n: 9, d: 0, z } } } };
    const strange = { ...kWindow, timeline: { ...kWindow.timeline, tracks: [{ track: 77, kept: 2 }] } };
    for (const wrong of ["", "<html>", "null", "[]", "7", {}, { tracks: [{}] }, { ...kDetails, flows: 1 }, { ...kDetails, track: 77 }, damaged, strange, { rows: [{}], folded: null }]) {
      const { source } = serve({ "/api/tracks": kTracks, "/api/span": wrong, "/api/search": wrong, "/api/selection": wrong, "/api/spans": wrong });
      const questions = [
        source.details(key),
        source.adjacent("x", null, 1),
        source.select({ start: 0, end: 9 }, signal),
        source.detail!.fetch({ start: 0, end: 9 }, 1, [2], signal),
      ];
      for (const question of questions) {
        const error: unknown = await question.then(() => null, (failure: unknown) => failure);
        expect(error, JSON.stringify(wrong)).toBeInstanceOf(DocumentError);
        expect((error as Error).message).toBe(kWrongAnswer);
      }
    }
    const { source } = serve({ "/api/tracks": { tracks: 5 } });
    await expect(source.load()).rejects.toThrow(kWrongAnswer);
  });

  it("says once that the server has ended, and asks anew when it is there again", async () => {
    const { source, server } = serve({ "/api/tracks": kTracks });
    const ended = vi.fn();
    server.onEnd = ended;
    const working = globalThis.fetch;
    vi.stubGlobal("fetch", async () => Promise.reject(new TypeError("Failed to fetch")));
    await expect(source.load()).rejects.toThrow(kServerEnded);
    await expect(source.select({ start: 0, end: 1 }, signal)).rejects.toBeInstanceOf(ServerEnded);
    expect(ended).toHaveBeenCalledTimes(2);
    vi.stubGlobal("fetch", working);
    expect((await source.load()).tracks.length).toBe(3);
  });

  it("reads exact sums beyond 2^53, and the rows that are not listed", async () => {
    const row = { name: "a", count: 1, total_with_recursion_ns: "9007199254740993", self_ns: 5 };
    const { source, asked } = serve({ "/api/selection": { rows: [row], folded: { rows: 2, count: 3, total_with_recursion_ns: 4, self_ns: 5 } } });
    const selected = await source.select({ start: 5, end: 9 }, signal);
    expect(selected.rows[0]).toEqual({ name: "a", count: { value: 1, error: 0 }, total: { value: 9007199254740993n, error: 0 }, self: { value: 5, error: 0 } });
    expect(selected.folded).toEqual({ rows: 2, count: 3, total: 4, self: 5 });
    expect(asked).toEqual(['/api/selection {"file":3,"range":[5,9]}']);
  });
});
