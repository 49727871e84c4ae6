// Walks through report pages as a reader does, in one Chromium, and tells what each page shows: node walk.mjs MANIFEST.
// The manifest is JSON: {"chromium": PATH, "pages": [{"name", "address", "query", "flow", "axe", "frame"}]}. It
// prints one JSON array with an object per page, which python/tests/walked_pages.py compares with what the other
// commands say. "query": a text for Search; "flow": the key of a span whose flow is followed; "axe": whether axe-core looks
// at the page; "frame": whether the page is in a frame of the one at the address, which is then read, but not walked.
// Like checks.mjs it knows a page by roles, accessible names and data attributes alone.
// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from "node:fs";
import axe from "axe-core";
import { openBrowser, openPage, rendered, watchPage } from "./browser.mjs";

// In the page: what stands in the panel of the chosen tab, by role and name.
function readPanel() {
  const panel = [...document.querySelectorAll("[role=tabpanel]")].find((each) => !each.hidden);
  const labels = (panel.getAttribute("aria-labelledby") ?? "").split(" ").map((id) => document.getElementById(id)?.textContent);
  const cells = (row) => [...row.children].map((cell) => cell.dataset.value ?? null);
  const tables = [...panel.querySelectorAll("table, [role=table], [role=grid], [role=treegrid]")].map((table) => ({
    name: table.getAttribute("aria-label"),
    role: table.getAttribute("role") ?? "table",
    rowcount: table.getAttribute("aria-rowcount"),
    columns: [...table.querySelectorAll("[data-column]")].map((heading) => heading.dataset.column),
    sorted: [...table.querySelectorAll("[aria-sort]")].map((heading) => `${heading.dataset.column}:${heading.getAttribute("aria-sort")}`),
    rows: [...table.querySelectorAll("[aria-rowindex]")].slice(1).map((row) => ({ index: row.getAttribute("aria-rowindex"), folded: row.dataset.folded ?? null, values: cells(row) })),
  }));
  const badTexts = [...panel.querySelectorAll("[data-value]")].filter((each) => /^(NaN|undefined|\[object .*\]|-?Infinity)$/.test(each.textContent)).map((each) => each.outerHTML.slice(0, 200));
  const links = [...panel.querySelectorAll("a")].map((link) => link.getAttribute("href"));
  return { label: labels.join(" "), empty: panel.dataset.empty ?? null, alerts: panel.querySelectorAll("[role=alert]").length, tables, badTexts, links, text: panel.innerText.length };
}

// In the page: every kind of element and attribute there is, and where links lead.
function readElements() {
  const [tags, attributes, links] = [new Set(), new Set(), new Set()];
  for (const element of document.querySelectorAll("*")) {
    tags.add(element.localName);
    for (const { name, value } of element.attributes) {
      attributes.add(name);
      if (["href", "src", "action", "formaction", "srcdoc", "data", "xlink:href"].includes(name)) links.add(value.slice(0, 1));
    }
  }
  return { tags: [...tags], attributes: [...attributes], links: [...links], scripts: document.scripts.length, hostile: window.hostile ?? null };
}

async function seriousOnes(page) {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  return serious.map((each) => `${each.id}: ${each.nodes.slice(0, 3).map((node) => node.html.slice(0, 200)).join(" ")}`);
}

const tabNames = (page) => page.locator("[role=tablist] [role=tab]").allTextContents();
const chooseTab = (page, name) => page.evaluate((name) => [...document.querySelectorAll("[role=tab]")].find((tab) => tab.textContent === name).click(), name);
const hasSettled = (page) => page.waitForFunction(() => {
  const panel = [...document.querySelectorAll("[role=tabpanel]")].find((each) => !each.hidden);
  return panel !== undefined && panel.innerText.trim() !== "";
});

async function walkTabs(page) {
  const panels = {};
  for (const name of await tabNames(page)) {
    await chooseTab(page, name);
    await hasSettled(page);
    panels[name] = await page.evaluate(readPanel);
  }
  return panels;
}

// In the page: copies each table as CSV: {table: text}.
async function copyTables() {
  const texts = {};
  for (const tab of document.querySelectorAll("[role=tablist] [role=tab]")) {
    tab.click();
    await new Promise((done) => setTimeout(done));
    for (const button of document.querySelectorAll("[role=tabpanel]:not([hidden]) button")) {
      const [, table] = /^Copy (.*) as CSV$/.exec(button.getAttribute("aria-label") ?? button.textContent) ?? [];
      if (table === undefined) continue;
      window.copied.length = 0;
      button.click();
      await new Promise((done) => setTimeout(done));
      texts[table] = window.copied[0];
    }
  }
  return texts;
}

const timelineOf = (page) => page.getByRole("application", { name: "Timeline" });
const rangeOf = (page) => timelineOf(page).evaluate((element) => [element.dataset.start, element.dataset.end]);
const addressOf = (page) => page.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.slice(1))));
const setAddress = (page, fragment) => page.evaluate((fragment) => void (location.hash = fragment), fragment).then(() => rendered(page));

// In the page: presses buttons, then keys, and notes the visible range after each.
async function readRanges() {
  const timeline = document.querySelector("[role=application][aria-label=Timeline]");
  const ranges = {};
  const note = async (what) => {
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
    ranges[what] = [timeline.dataset.start, timeline.dataset.end];
  };
  await note("first");
  for (const name of ["Zoom in", "Pan right", "Pan left", "Zoom out", "Show all"]) {
    [...document.querySelectorAll("button")].find((button) => (button.getAttribute("aria-label") ?? button.textContent) === name).click();
    await note(name);
  }
  for (const key of ["w", "d", "a", "s", "0"]) {
    timeline.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
    await note(key);
  }
  return ranges;
}

async function walkTimeline(page) {
  await chooseTab(page, "Timeline");
  await hasSettled(page);
  if ((await timelineOf(page).count()) === 0) return null;
  const seen = { ranges: await page.evaluate(readRanges) };
  seen.tracks = await page.evaluate(() => [...document.querySelectorAll('[aria-label="Tracks"] > *')].map((item) => [item.dataset.track, item.dataset.value]));
  const [start, end] = seen.ranges.first.map(BigInt);
  seen.selections = [];
  for (const [a, b] of [[start, end], [start + (end - start) / 4n, end - (end - start) / 3n]]) {
    if (a >= b) continue;
    await setAddress(page, `tab=timeline&sel=${a}..${b}`);
    const table = page.getByRole("table", { name: "Selection", exact: true });
    await table.waitFor();
    await page.evaluate(() => (window.copied.length = 0));
    await page.getByRole("button", { name: "Copy Selection as CSV", exact: true }).evaluate((button) => button.click());
    seen.selections.push({ range: [String(a), String(b)], csv: await page.evaluate(() => window.copied[0]) });
  }
  await timelineOf(page).focus();
  await page.keyboard.press("Escape");
  await rendered(page);
  seen.afterEscape = await page.getByRole("table", { name: "Selection", exact: true }).count();
  return seen;
}

const detailsOf = (page) => page.evaluate(() => {
  const region = [...document.querySelectorAll("[role=region]")].find((each) => each.getAttribute("aria-label") === "Details");
  return region === undefined ? null : Object.fromEntries([...region.querySelectorAll("[data-field]")].map((each) => [each.dataset.field, each.dataset.value]));
});

async function walkSearch(page, query) {
  await setAddress(page, "tab=overview");
  await page.keyboard.press("/");
  await page.keyboard.insertText(query);
  const results = page.getByRole("status", { name: "Search results" });
  await page.waitForFunction(() => document.querySelector('[role=status][aria-label="Search results"]').textContent !== "");
  // Names are counted after the page has read them.
  const counted = () => document.querySelector('[role=status][aria-label="Search results"]').dataset.value !== "0";
  await page.waitForFunction(counted, undefined, { timeout: 1500 }).catch(() => {});
  const seen = { count: await results.getAttribute("data-value"), spans: [] };
  if (seen.count === "0") return seen;
  for (const key of ["Enter", "Enter", "Shift+Enter"]) {
    const before = (await addressOf(page)).span ?? "";
    await page.keyboard.press(key);
    if (seen.count !== "1" || before === "") await page.waitForFunction((before) => (new URLSearchParams(location.hash.slice(1)).get("span") ?? "") !== before, before).catch(() => {});
    await rendered(page);
    await page.waitForFunction(() => document.querySelector("[role=region][aria-label=Details] [data-field]") !== null);
    seen.spans.push({ span: (await addressOf(page)).span, fields: await detailsOf(page), range: await rangeOf(page) });
    await page.getByRole("searchbox", { name: "Search", exact: true }).focus();
  }
  return seen;
}

// Follows the first links of a tab: where each leads.
async function followLinks(page, tab, most) {
  const seen = [];
  await setAddress(page, `tab=${tab.toLowerCase()}`);
  const links = page.locator("[role=tabpanel]:not([hidden]) table a");
  const count = Math.min(most, await links.count());
  for (let at = 0; at < count; ++at) {
    await setAddress(page, `tab=${tab.toLowerCase()}`);
    const link = links.nth(at);
    const href = await link.getAttribute("href");
    await link.click();
    await timelineOf(page).waitFor();
    await rendered(page);
    seen.push({ href, range: await rangeOf(page), tab: (await addressOf(page)).tab });
  }
  return seen;
}

// From a span to the other end of its first flow, and back.
async function followFlow(page, span) {
  await setAddress(page, `tab=timeline&span=${encodeURIComponent(span)}`);
  const flows = page.locator("[role=region][aria-label=Details] a[data-flow]");
  await flows.first().waitFor();
  const kind = await flows.first().getAttribute("data-flow");
  await flows.first().click();
  await page.waitForFunction((span) => new URLSearchParams(location.hash.slice(1)).get("span") !== span, span);
  await rendered(page);
  const back = await page.locator("[role=region][aria-label=Details] a[data-flow]").evaluateAll((links) => links.map((link) => new URLSearchParams(link.getAttribute("href").slice(1)).get("span")));
  return { kind, to: (await addressOf(page)).span, back };
}

async function findAxe(page) {
  const found = [];
  for (const theme of ["light", "dark"]) {
    await page.getByRole("combobox", { name: "Theme" }).selectOption(theme);
    await page.waitForSelector(`html[data-theme="${theme}"]`);
    for (const name of await tabNames(page)) {
      await chooseTab(page, name);
      await hasSettled(page);
      found.push(...(await seriousOnes(page)).map((text) => `${name}, ${theme}: ${text}`));
    }
  }
  return found;
}

const manifest = JSON.parse(readFileSync(process.argv[2], "utf8"));
const browser = await openBrowser(manifest.chromium);

// A window that shows one page after the other; what went wrong in the present one goes to `window.seen.complaints`.
async function openWindow() {
  const context = await browser.newContext();
  await watchPage(context);
  const window = { page: null, address: "", origin: "", seen: null };
  const complain = (text) => window.seen?.complaints.push(text);
  const page = (window.page = await openPage(context, { complain }));
  page.on("dialog", (dialog) => (complain(`dialog: ${dialog.message()}`), dialog.dismiss()));
  page.on("popup", (other) => complain(`window: ${other.url()}`));
  page.on("request", (request) => {
    const isOwn = window.origin !== "" ? request.url().startsWith(window.origin) : request.url().split("#")[0] === window.address;
    if (!isOwn && !/^(data|blob|about):/.test(request.url())) complain(`request: ${request.url()}`);
  });
  return window;
}

async function readFrame(page, seen) {
  const frame = page.frames()[1];
  await frame.waitForSelector('html[data-state="ready"]');
  for (const name of await frame.locator("[role=tablist] [role=tab]").allTextContents()) {
    await frame.evaluate((name) => [...document.querySelectorAll("[role=tab]")].find((tab) => tab.textContent === name).click(), name);
    await frame.evaluate(() => new Promise((done) => setTimeout(done, 50)));
  }
  const around = () => [...document.querySelectorAll("*")].map((each) => [each.localName, each.getAttributeNames()]);
  return Object.assign(seen, { title: await frame.title(), elements: await frame.evaluate(readElements), around: await page.evaluate(around) });
}

async function walk(window, asked) {
  const { page } = window;
  const seen = { name: asked.name, complaints: [] };
  await page.goto("about:blank");
  // A page of `opscope view` may ask its server; one of a file asks for nothing.
  const origin = /^http:\/\/127\.0\.0\.1:\d+\//.exec(asked.address)?.[0] ?? "";
  Object.assign(window, { seen, origin, address: asked.address.split("#")[0] });
  const begin = performance.now();
  try {
    await page.goto(asked.address);
    if (asked.frame) return await readFrame(page, seen);
    await page.waitForSelector('html[data-state="ready"]');
    seen.title = await page.title();
    seen.verdict = await page.getByRole("status", { name: "Data quality" }).getAttribute("data-verdict");
    seen.folded = await page.getByRole("note", { name: "Folded" }).getAttribute("data-value");
    seen.panels = await walkTabs(page);
    seen.copied = await page.evaluate(copyTables);
    seen.timeline = await walkTimeline(page);
    if (seen.timeline !== null) {
      if (asked.query !== "") seen.search = await walkSearch(page, asked.query);
      seen.links = await followLinks(page, "Overview", 2);
      if (asked.flow !== "") seen.flow = await followFlow(page, asked.flow);
    }
    seen.elements = await page.evaluate(readElements);
    if (asked.axe) seen.axe = await findAxe(page);
    seen.complaints.push(...(await page.evaluate(() => window.violations)));
  } catch (error) {
    seen.complaints.push(String(error.message ?? error));
  }
  window.seen = null;
  seen.milliseconds = Math.round(performance.now() - begin);
  return seen;
}

// Two pages at a time: while one is read, the other is drawn.
const walked = [];
const waiting = [...manifest.pages.entries()];
const walkRest = async () => {
  const window = await openWindow();
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) walked[next[0]] = await walk(window, next[1]);
};
await Promise.all([walkRest(), walkRest()]);
await browser.close();
console.log(JSON.stringify(walked));
