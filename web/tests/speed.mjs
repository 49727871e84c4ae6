// Measures a page in Chromium and tells as JSON, in milliseconds: how long it and an empty page take to their first
// picture, by turns, and what each frame of panning and zooming in the timeline costs.
//
//   node web/tests/speed.mjs CHROMIUM PAGE.html ROUNDS FRAMES
//
// `frames` is the time that the page's main thread works for a frame: script, style, layout and paint. `gaps` is the
// time from one frame to the next.
// SPDX-License-Identifier: Apache-2.0
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { openBrowser, openPage } from "./browser.mjs";

const [program, path, rounds, frames] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "opscope-speed-"));
const empty = join(folder, "empty.html");
writeFileSync(empty, '<!doctype html><html lang="en" data-state="ready"><title>empty</title><p>empty</p></html>');
const browser = await openBrowser(program, { isPaced: true });
const measured = { page: [], empty: [], frames: [], gaps: [] };

async function firstPicture(file) {
  const page = await openPage(browser);
  const begin = performance.now();
  await page.goto(pathToFileURL(file).href);
  await page.waitForSelector('html[data-state="ready"]');
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const took = performance.now() - begin;
  await page.close();
  return took;
}

await firstPicture(empty); // what is done once in the life of a browser
for (let round = 0; round < Number(rounds); ++round) {
  measured.empty.push(await firstPicture(empty));
  measured.page.push(await firstPicture(path));
}

const page = await openPage(browser);
await page.goto(`${pathToFileURL(path).href}#tab=timeline`);
await page.waitForSelector('[role=application][aria-label="Timeline"]');
await page.waitForTimeout(500);
const session = await page.context().newCDPSession(page);
await session.send("Performance.enable");
const busy = async () => (await session.send("Performance.getMetrics")).metrics.find(({ name }) => name === "TaskDuration").value * 1000;
// Into the middle first, then to and fro: the wide picture and the deep one.
const keyOf = (frame) => (frame < 12 ? "w" : ["a", "d", "w", "d", "a", "s"][frame % 6]);
for (let frame = 0; frame < Number(frames); ++frame) {
  const before = await busy();
  const gap = await page.evaluate(
    (key) =>
      new Promise((done) =>
        requestAnimationFrame((begin) => {
          document.querySelector('[role=application][aria-label="Timeline"]').dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
          requestAnimationFrame((next) => requestAnimationFrame(() => done(next - begin)));
        }),
      ),
    keyOf(frame),
  );
  measured.frames.push((await busy()) - before);
  measured.gaps.push(gap);
}
await browser.close();
rmSync(folder, { recursive: true });
console.log(JSON.stringify(measured));
