// How the tests open pages in Chromium: the browser, a window with its complaints, what is copied, and when all is drawn.
// SPDX-License-Identifier: Apache-2.0
import { chromium } from "playwright-core";

const kFramesAtOnce = ["--disable-frame-rate-limit", "--disable-gpu-vsync"];

// A browser that draws a frame as soon as a page asks for one, for the tests wait for thousands of frames. With `isPaced` it
// draws 60 in a second, as a screen does: for what measures.
export const openBrowser = (program, { isPaced = false } = {}) =>
  chromium.launch({ executablePath: program, args: ["--no-sandbox", ...(isPaced ? [] : kFramesAtOnce)] });

// A window of 1280 pixels by `height`. What a page writes as an error and what it throws goes to `complain`.
export async function openPage(context, { height = 800, timeoutMs = 30000, complain = () => {} } = {}) {
  const page = await context.newPage();
  await page.setViewportSize({ width: 1280, height });
  page.setDefaultTimeout(timeoutMs);
  page.on("console", (message) => message.type() === "error" && complain(`console: ${message.text()}`));
  page.on("pageerror", (error) => complain(`exception: ${error}`));
  return page;
}

// Before any script of the page: the texts that it copies go to window.copied, what its policy forbids to window.violations.
export const watchPage = (context) =>
  context.addInitScript(() => {
    window.copied = [];
    window.violations = [];
    document.addEventListener("securitypolicyviolation", (event) => window.violations.push(`${event.violatedDirective} ${event.blockedURI}`));
    Object.defineProperty(navigator, "clipboard", { value: { writeText: async (text) => void window.copied.push(text) } });
  });

// When the page has drawn what was last done, and listens to what comes next.
export const rendered = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
