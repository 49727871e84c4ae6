// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { fullTrackTitle, trackTitle } from "./track_titles.ts";

it("says of a number that stands for a name what it is", () => {
  expect(trackTitle({ id: "1/7", title: "7", kind: "thread" })).toBe("thread 7");
  expect(trackTitle({ id: "1/-7", title: "-7 (rank 3)", kind: "stream" })).toBe("stream -7 (rank 3)");
  expect(trackTitle({ id: "1/7", title: "stream 7", kind: "stream" })).toBe("stream 7");
  expect(trackTitle({ id: "1/7", title: "7 workers", kind: "thread" })).toBe("7 workers");
  expect(trackTitle({ id: "1/7", title: "7", kind: "other" })).toBe("7");
  expect(trackTitle({ id: "1/7", title: "", kind: "thread" })).toBe("1/7");
});

it("calls a track without name and number unnamed", () => {
  expect(trackTitle({ id: "/", title: "", kind: "thread" })).toBe("unnamed track");
  expect(fullTrackTitle({ id: "/", title: "", kind: "thread", group: "" })).toBe("unnamed track");
  expect(fullTrackTitle({ id: "1/7", title: "7", kind: "thread", group: "python (1)" })).toBe("python (1) / thread 7");
});
