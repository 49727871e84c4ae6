// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { failedText, openFirst } from "./first_file.ts";
import { RefusedQuestion, ServerEnded, type ServedFile } from "./server.ts";

const kFiles = ["a.json", "b.json", "c.json", "d.json", "e.json"].map((name, at): ServedFile => ({ id: String(at), name }));

// `broken`: names of the files that the server cannot read.
function loader(broken: readonly string[]) {
  const asked: string[] = [];
  const load = async ({ name }: ServedFile) => {
    asked.push(name);
    if (broken.includes(name)) throw new RefusedQuestion(422, `${name}: at byte 3: it ends`);
    return name.toUpperCase();
  };
  return { asked, load };
}

describe("openFirst", () => {
  it("begins with the wanted file, else with the first one", async () => {
    const { asked, load } = loader([]);
    expect((await openFirst(kFiles, "2", load)).opened).toEqual({ file: kFiles[2], data: "C.JSON" });
    expect((await openFirst(kFiles, null, load)).opened?.file).toBe(kFiles[0]);
    expect((await openFirst(kFiles, "gone", load)).opened?.file).toBe(kFiles[0]);
    expect(asked).toEqual(["c.json", "a.json", "a.json"]);
  });

  it("goes on to the next file that can be read, and says why the others cannot", async () => {
    const { asked, load } = loader(["d.json", "e.json"]);
    const first = await openFirst(kFiles, "3", load);
    expect(first.opened?.file).toBe(kFiles[0]);
    expect(asked).toEqual(["d.json", "e.json", "a.json"]);
    expect(failedText(first)).toBe("d.json cannot be shown: at byte 3: it ends. e.json cannot be shown: at byte 3: it ends. The page shows a.json.");
    expect(failedText(await openFirst(kFiles, "0", load))).toBe("");
  });

  it("opens none if all are broken, and lists only some of them", async () => {
    const first = await openFirst(kFiles, null, loader(kFiles.map(({ name }) => name)).load);
    expect(first.opened).toBe(null);
    expect(failedText(first)).toMatch(/^a\.json cannot be shown: .* c\.json cannot be shown: at byte 3: it ends\. 2 more files cannot be shown either\.$/);
  });

  it("stops where the server has ended, and at faults of the page", async () => {
    const failing = (error: Error) => openFirst(kFiles, null, async () => Promise.reject(error));
    await expect(failing(new ServerEnded())).rejects.toThrow(ServerEnded);
    await expect(failing(new TypeError("x"))).rejects.toThrow("x");
  });

  it("shows what cannot be seen in names", () => {
    expect(failedText({ opened: null, failed: [{ file: { id: "0", name: "a\u202e" }, reason: "no" }] })).toBe("a\\u{202E} cannot be shown: no.");
  });
});
