// Waits for a page's first picture in Chromium: node first_picture.mjs CHROMIUM. Writes a line when the browser runs, reads
// the address from its input, and writes "ready" or "error" when the page has drawn.
// SPDX-License-Identifier: Apache-2.0
import { createInterface } from "node:readline/promises";
import { openBrowser, openPage } from "./browser.mjs";

const browser = await openBrowser(process.argv[2], { isPaced: true });
const page = await openPage(browser, { timeoutMs: 0 });
console.log("running");
for await (const address of createInterface({ input: process.stdin })) {
  await page.goto(address);
  const root = await page.waitForSelector('html[data-state="ready"], html[data-state="error"]');
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  console.log(await root.getAttribute("data-state"));
  break;
}
await browser.close();
