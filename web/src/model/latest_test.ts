// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { Latest } from "./latest.ts";

const settled = () => new Promise((resolve) => setTimeout(resolve));

describe("Latest", () => {
  it("drops late answers and late failures, in whatever order they come", async () => {
    const latest = new Latest();
    const taken: unknown[] = [];
    const ends: { answer: (text: string) => void; fail: (error: Error) => void; signal: AbortSignal }[] = [];
    for (const at of [0, 1, 2]) {
      latest.ask<string>(
        (signal) => new Promise((answer, fail) => void (ends[at] = { answer, fail, signal })),
        (text) => taken.push(text),
        (error) => taken.push(error),
      );
    }
    expect(ends.map(({ signal }) => signal.aborted)).toEqual([true, true, false]);
    ends[2]!.answer("third");
    ends[0]!.answer("first");
    ends[1]!.fail(new Error("second"));
    await settled();
    expect(taken).toEqual(["third"]);
  });

  it("tells the failure of the last question, and nothing after it is cancelled", async () => {
    const latest = new Latest();
    const taken: unknown[] = [];
    const fail = (error: unknown) => taken.push((error as Error).message);
    latest.ask(async () => Promise.reject(new Error("no server")), (answer) => taken.push(answer), fail);
    await settled();
    latest.ask(async () => "late", (answer) => taken.push(answer), fail);
    latest.cancel();
    await settled();
    expect(taken).toEqual(["no server"]);
  });
});
