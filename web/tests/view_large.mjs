// Opens a large trace in the page that `opscope view` serves, looks for spans that the first document lacks, and tells as
// JSON what the page shows. Arguments: Chromium, the address, the number of the server's process, a plan as JSON:
// {"text", "common", "other": "PID/TID@START+DURATION", "range": [a, b], "near": {"track", "time", "depth"}}.
// SPDX-License-Identifier: Apache-2.0
import { openBrowser, openPage, watchPage } from "./browser.mjs";

const [program, address, server, text] = process.argv.slice(2);
const plan = JSON.parse(text);
const browser = await openBrowser(program);
const shown = { complaints: [] };
const page = await openPage(browser, { height: 900, timeoutMs: 60000, complain: (text) => shown.complaints.push(text) });
await watchPage(page);

const hash = (key) => page.evaluate((name) => new URLSearchParams(location.hash.slice(1)).get(name), key);
const results = page.getByRole("status", { name: "Search results" });
const details = page.getByRole("region", { name: "Details" });
const fields = () => details.locator("[data-field]").evaluateAll((all) => Object.fromEntries(all.map((each) => [each.dataset.field, each.dataset.value])));
const timeline = page.getByRole("application", { name: "Timeline" });
const count = async (wanted) => {
  await page.getByRole("searchbox", { name: "Search", exact: true }).fill(wanted);
  await page.waitForResponse((answer) => answer.url().endsWith("/api/search"));
  await page.waitForTimeout(100);
  return Number(await results.getAttribute("data-value"));
};
// What Details shows when another span than before is selected there.
const after = async (act) => {
  const before = JSON.stringify(await fields());
  await act();
  for (let turn = 0; turn < 600; ++turn) {
    const now = await fields();
    if ("name" in now && JSON.stringify(now) !== before) return now;
    await page.waitForTimeout(50);
  }
  throw new Error(`Details still shows ${before}`);
};

// The whole document cannot be had, and then comes when this test lets it come.
const isWhole = (url) => url.pathname === "/api/data" && !url.searchParams.has("part");
const panel = (name) => page.getByRole("tabpanel", { name, exact: true });
const openTab = (name) => page.getByRole("tab", { name, exact: true }).click();
await page.route(isWhole, (route) => route.fulfill({ status: 422, body: '{"error": "million.json: no room"}' }));
await page.goto(`${address}&tab=kernels`);
shown.refused = await panel("Kernels").getByText("no room").textContent();
shown.complaintsOfRefused = shown.complaints.splice(0);
await page.unroute(isWhole);
await page.goto("about:blank");
let letCome;
const mayCome = new Promise((resolve) => (letCome = resolve));
await page.route(isWhole, async (route) => {
  await mayCome;
  await route.continue();
});
await page.goto(address);
await page.waitForSelector('html[data-state="ready"]');
shown.spans = Number(await panel("Overview").locator("dl [data-value]").first().getAttribute("data-value"));
await openTab("Operators");
shown.pending = [await panel("Operators").getByRole("status").textContent(), await panel("Operators").getAttribute("aria-busy")];
const whole = page.waitForResponse((answer) => isWhole(new URL(answer.url())));
letCome();
const { timeline: document } = await (await whole).json();
shown.longestFolded = document.folded.longest_ns;
await page.getByRole("table", { name: "Operators", exact: true }).waitFor();
shown.busyAfter = await page.locator("[aria-busy]").count();
await openTab("Timeline");

shown.common = await count(plan.common);
shown.found = await count(plan.text);
shown.details = await after(() => page.getByRole("button", { name: "Next match", exact: true }).click());
shown.span = await hash("span");
shown.flows = await details.locator("[data-flow]").evaluateAll((all) => all.map((each) => [each.dataset.flow, decodeURIComponent(each.getAttribute("href"))]));
shown.visible = await timeline.evaluate((each) => [Number(each.dataset.start), Number(each.dataset.end)]);

await timeline.focus();
shown.next = await after(() => page.keyboard.press("."));
shown.back = await after(() => page.keyboard.press(","));
shown.parent = await after(() => page.keyboard.press("ArrowUp"));
shown.child = await after(() => page.keyboard.press("ArrowDown"));
shown.linked = await after(() => details.locator("[data-flow]").click());

// A span that the document lacks, clicked in the picture once its part of the timeline has come.
const near = plan.near;
const part = page.waitForResponse((answer) => answer.url().endsWith("/api/spans"));
await page.evaluate((range) => (location.hash = location.hash.replace(/&range=[^&]*/, "") + `&range=${range}`), `${near.time - 2000}..${near.time + 2000}`);
shown.bytes = (await (await part).body()).length;
await page.waitForTimeout(300);
shown.clicked = await after(async () => {
  const canvas = await page.locator("canvas").first().boundingBox();
  const track = await page.locator(`[data-track="${near.track}"]`).boundingBox();
  await page.mouse.click(canvas.x + canvas.width / 2 + 1, track.y + 18 * near.depth + 9);
});

await page.evaluate(([a, b]) => (location.hash = `${location.hash}&sel=${a}..${b}`), plan.range);
await page.getByRole("table", { name: "Selection" }).waitFor();
await page.getByRole("button", { name: "Copy Selection as CSV", exact: true }).click();
await page.waitForFunction(() => window.copied.length > 0);
shown.selection = await page.evaluate(() => window.copied[0]);
shown.errors = await page.locator("[data-error]").count();

await page.goto("about:blank");
await page.goto(`${address}&tab=timeline&span=${encodeURIComponent(plan.other)}`);
shown.addressed = await after(async () => {});

shown.complaintsBefore = [...shown.complaints];
process.kill(Number(server), "SIGKILL");
await timeline.focus();
await page.keyboard.press(".");
shown.alert = await page.getByRole("alert").textContent();
await browser.close();
console.log(JSON.stringify(shown));
