// Measures in Chromium how long Perfetto's UI takes until it shows a trace: node perfetto.mjs CHROMIUM ADDRESS ROUNDS.
// ADDRESS is that of bench/perfetto_server.py, whose page fetches the trace by itself. The picture counts as there with
// the first frame that has a track. Prints a JSON list of milliseconds.
// SPDX-License-Identifier: Apache-2.0
import { openBrowser } from "./browser.mjs";

const [program, address, rounds] = process.argv.slice(2);
const browser = await openBrowser(program, { isPaced: true });

async function firstPicture(until) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, serviceWorkers: "block" });
  // The UI asks other machines who uses it, and this one for a faster engine.
  await context.route((url) => url.origin !== new URL(address).origin && url.protocol !== "data:" && url.protocol !== "blob:", (route) => route.abort());
  const page = await context.newPage();
  page.setDefaultTimeout(500_000);
  const begin = performance.now();
  await page.goto(address);
  await page.waitForSelector(until);
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const took = performance.now() - begin;
  await context.close();
  return took;
}

const measured = [];
for (let round = 0; round < Number(rounds); ++round) measured.push(await firstPicture(".pf-track__canvas"));
await browser.close();
console.log(JSON.stringify(measured));
