// The checks of a report page, by name. They use roles, accessible names and data attributes alone, so that any page
// that keeps the promises of the interface passes. A check throws where the page breaks one.
// SPDX-License-Identifier: Apache-2.0
import assert from "node:assert/strict";
import axe from "axe-core";

const kTables = {
  Steps: "Overview", Devices: "Overview", Findings: "Overview", Operators: "Operators", Kernels: "Kernels",
  Modules: "Modules", Memory: "Memory", "Memory by operator": "Memory", Compare: "Compare", Problems: "About",
};

const hash = (page) => page.evaluate(() => Object.fromEntries(new URLSearchParams(location.hash.slice(1))));
const table = (page, name) => page.getByRole("table", { name, exact: true });
const range = (timeline) => timeline.evaluate((e) => [BigInt(e.dataset.start), BigInt(e.dataset.end)]);
const press = (page, name) => page.getByRole("button", { name, exact: true }).click();

// RFC 4180, without the apostrophe in front of what a spreadsheet would run.
export function parseCsv(text) {
  const rows = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    rows.at(-1).push((quoted?.replaceAll('""', '"') ?? plain).replace(/^'/, ""));
    if (end === "\r\n") rows.push([]);
  }
  rows.pop();
  return rows;
}

async function copyCsv(page, name) {
  await page.evaluate(() => (window.copied.length = 0));
  await press(page, `Copy ${name} as CSV`);
  await page.waitForFunction(() => window.copied.length > 0);
  return page.evaluate(() => window.copied[0]);
}

const exact = (value) => (value === null || value === undefined ? "" : String(value));

async function axeFinds(page) {
  await page.evaluate(axe.source);
  const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  return serious.map((v) => `${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map((node) => node.html.slice(0, 200)).join(" ")}`);
}

export const kChecks = {
  async document({ page, expected }) {
    assert.equal(await page.title(), `${expected.title} - opscope`);
    assert.equal(await page.locator("html").getAttribute("lang"), "en");
    assert.equal(await page.getByRole("alert").count(), 0);
    assert.equal(await page.getByRole("heading", { level: 1 }).count(), 1);
    const verdict = page.getByRole("status", { name: "Data quality" });
    assert.equal(await verdict.getAttribute("data-verdict"), expected.verdict);
    assert.ok((await verdict.textContent()).includes(expected.verdict));
    const policy = await page.locator('meta[http-equiv="Content-Security-Policy"]').getAttribute("content");
    for (const part of ["default-src 'none'", "base-uri 'none'", "form-action 'none'"]) assert.ok(policy.includes(part), part);
    assert.doesNotMatch(policy, /unsafe-|\*|https?:|ws/);
    assert.equal(await page.locator('meta[name="referrer"]').getAttribute("content"), "no-referrer");
    assert.doesNotMatch(await page.locator("#opscope-data").textContent(), /</);
  },

  async "tabs by click"({ page, expected }) {
    const tabs = page.getByRole("tablist", { name: "Views" }).getByRole("tab");
    assert.deepEqual(await tabs.allTextContents(), expected.tabs);
    for (const name of expected.tabs) {
      const tab = page.getByRole("tab", { name, exact: true });
      await tab.click();
      assert.equal(await tab.getAttribute("aria-selected"), "true");
      const panel = page.getByRole("tabpanel", { name, exact: true });
      assert.ok(await panel.isVisible(), name);
      assert.equal(await panel.getByRole("alert").count(), 0, name);
      const text = await panel.innerText();
      assert.doesNotMatch(text, /\bNaN\b|\bundefined\b/, name);
      const empty = await panel.getAttribute("data-empty");
      if (empty !== null) {
        assert.match(text, /\w.*\./, `${name} does not say why it is empty`);
        assert.equal(await panel.getByRole("table").count(), 0, `${name} is empty and has a table`);
      }
    }
  },

  async "tabs by keyboard"({ page, expected }) {
    await page.getByRole("tab", { selected: true }).focus();
    const focused = () => page.evaluate(() => document.activeElement.textContent);
    const count = expected.tabs.length;
    const keys = [["End", count - 1], ["ArrowRight", 0], ["ArrowLeft", count - 1], ["Home", 0]];
    for (let i = 1; i < count; ++i) keys.push(["ArrowRight", i]);
    for (const [key, at] of keys) {
      await page.keyboard.press(key);
      assert.equal(await focused(), expected.tabs[at], key);
      assert.equal(await page.getByRole("tab", { selected: true }).textContent(), expected.tabs[at], key);
    }
  },

  async "numbers of tables"({ page, expected, showTab }) {
    for (const [name, rows] of Object.entries(expected.tables)) {
      await showTab(kTables[name]);
      const shown = table(page, name);
      if (rows.length === 0) {
        assert.equal(await shown.count(), 0, `${name} has no rows`);
        continue;
      }
      assert.equal(await shown.getAttribute("aria-rowcount"), String(rows.length + 1), name);
      const [keys, ...lines] = parseCsv(await copyCsv(page, name));
      const asText = (row) => JSON.stringify(keys.map((key) => exact(row[key])));
      assert.deepEqual(lines.map((line) => JSON.stringify(line)).sort(), rows.map(asText).sort(), name);
      const headings = await shown.getByRole("columnheader").evaluateAll((all) => all.map((e) => e.dataset.column));
      assert.deepEqual(headings, keys, name);
      const first = await shown.locator('[aria-rowindex="2"]').getByRole("cell").evaluateAll((all) => all.map((e) => e.dataset.value));
      assert.deepEqual(first, lines[0], name);
    }
  },

  async sorting({ page, expected, showTab }) {
    if (expected.tables.Operators.length < 2) return;
    await showTab("Operators");
    const header = (key) => table(page, "Operators").locator(`[role=columnheader][data-column="${key}"], th[data-column="${key}"]`);
    const values = async (key) => {
      const [keys, ...lines] = parseCsv(await copyCsv(page, "Operators"));
      return lines.map((line) => line[keys.indexOf(key)]);
    };
    assert.equal(await header("self_ns").getAttribute("aria-sort"), "descending");
    await header("count").getByRole("button").click();
    const falling = (await values("count")).map(Number);
    assert.deepEqual(falling, falling.toSorted((a, b) => b - a));
    assert.equal((await hash(page)).sort, "count:desc");
    await header("count").getByRole("button").click();
    const rising = (await values("count")).map(Number);
    assert.deepEqual(rising, rising.toSorted((a, b) => a - b));
    assert.equal((await hash(page)).sort, "count:asc");
    assert.equal(await table(page, "Operators").locator("[aria-sort]").count(), 1);
  },

  async search({ page, expected }) {
    const results = page.getByRole("status", { name: "Search results" });
    assert.equal(await results.getAttribute("data-value"), "0");
    await page.keyboard.press("/");
    await page.keyboard.type(expected.search.text.toUpperCase());
    await page.waitForFunction(
      (count) => document.querySelector('[role=status][aria-label="Search results"]').dataset.value === count,
      String(expected.search.count),
    );
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => location.hash.includes("span="));
    const first = (await hash(page)).span;
    await press(page, "Next match");
    await press(page, "Previous match");
    await page.waitForFunction((span) => new URLSearchParams(location.hash.slice(1)).get("span") === span, first);
    await page.getByRole("searchbox", { name: "Search" }).focus();
    await page.keyboard.press("Escape");
    assert.equal(await results.getAttribute("data-value"), "0");
  },

  async zoom({ page, showTab }) {
    await showTab("Timeline");
    const timeline = page.getByRole("application", { name: "Timeline" });
    const [start, end] = await range(timeline);
    await press(page, "Zoom in");
    const [a, b] = await range(timeline);
    const near = (x, y) => assert.ok(x - y <= 1n && y - x <= 1n, `${x} and ${y}`);
    near(b - a, (end - start) / 2n || 1n);
    await timeline.focus();
    for (const key of ["w", "s", "d", "0"]) await page.keyboard.press(key);
    assert.deepEqual(await range(timeline), [start, end]);
  },

  async "fragment round trip"({ page, expected, open, showTab }) {
    await showTab("Operators");
    await page.getByRole("searchbox", { name: "Filter operators" }).fill("a&b=%é");
    await page.getByRole("searchbox", { name: "Search", exact: true }).fill(expected.search.text);
    const fragment = await page.evaluate(() => location.hash);
    await open(fragment);
    assert.equal(await page.getByRole("tab", { selected: true }).textContent(), "Operators");
    assert.equal(await page.getByRole("searchbox", { name: "Filter operators" }).inputValue(), "a&b=%é");
    assert.equal(await page.getByRole("searchbox", { name: "Search", exact: true }).inputValue(), expected.search.text);
    assert.equal(await page.evaluate(() => location.hash), fragment);
    await open("#tab=none&unknown=1&range=9..1&q=%");
    assert.equal(await page.getByRole("tab", { selected: true }).textContent(), "Overview");
  },

  async "no element from a name"({ page, expected, showTab }) {
    for (const name of expected.tabs) {
      await showTab(name);
      assert.equal(await page.locator("main img, main iframe, main object, main script, [onerror], [onload], [style*=url]").count(), 0, name);
    }
    assert.equal(await page.evaluate(() => window.hostile), undefined);
  },

  async "axe in both themes"({ page, expected, showTab }) {
    for (const theme of ["light", "dark"]) {
      await page.getByRole("combobox", { name: "Theme" }).selectOption(theme);
      await page.waitForSelector(`html[data-theme="${theme}"]`);
      for (const name of expected.tabs) {
        await showTab(name);
        assert.deepEqual(await axeFinds(page), [], `${name}, ${theme}`);
      }
    }
  },

  async "390 px without sideways scroll"({ page, expected, showTab }) {
    await page.setViewportSize({ width: 390, height: 800 });
    for (const name of expected.tabs) {
      await showTab(name);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 390, name);
    }
  },

  // At the end of a long tab, on a screen and on a phone; at the begin it covers nothing.
  async "the verdict stays in view"({ page, expected, showTab }) {
    const verdict = page.getByRole("status", { name: "Data quality" });
    const seen = () =>
      verdict.evaluate((element) => {
        const { left, top, bottom } = element.firstElementChild.getBoundingClientRect();
        const isOnTop = element.contains(document.elementFromPoint(left + 2, (top + bottom) / 2));
        return { isOnTop, isInside: top >= 0 && bottom <= innerHeight, bottom };
      });
    for (const width of [1280, 390]) {
      await page.setViewportSize({ width, height: 700 });
      for (const name of expected.tabs) {
        await showTab(name);
        await page.evaluate(() => scrollTo(0, 0));
        const { bottom } = await seen();
        const panel = await page.getByRole("tabpanel", { name, exact: true }).boundingBox();
        assert.ok(panel.y >= bottom, `${name} begins at ${panel.y}, the verdict ends at ${bottom}`);
        await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
        const { isOnTop, isInside } = await seen();
        assert.ok(isOnTop && isInside, `${name} at ${width} px`);
      }
    }
  },

  async print({ page, expected, showTab }) {
    await page.getByRole("combobox", { name: "Theme" }).selectOption("dark");
    for (const name of expected.tabs) {
      await showTab(name);
      const hasPictures = await page.getByRole("tabpanel", { name, exact: true }).evaluate((panel) => panel.dataset.empty === undefined && /timeline|flame/.test(panel.id));
      if (hasPictures) await page.waitForFunction(arePicturesDrawn);
      await page.evaluate(watchPrint);
      await page.pdf();
      assert.deepEqual(await page.evaluate(() => window.badPictures), [], name);
      await page.emulateMedia({ media: "print" });
      try {
        assert.equal(await page.getByRole("searchbox", { name: "Search", exact: true }).count(), 0);
        assert.equal(await page.getByRole("tablist").count(), 0);
        const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
        assert.match(ground, /^rgba?\(2[0-9]{2}, 2[0-9]{2}, 2[0-9]{2}|rgba\(0, 0, 0, 0\)/);
        assert.deepEqual(await page.evaluate(faultsOfPrint), [], name);
      } finally {
        await page.emulateMedia({ media: null });
      }
    }
  },
};

function arePicturesDrawn() {
  const shown = [...document.querySelectorAll("main canvas")].filter((canvas) => canvas.clientWidth > 0);
  return shown.length > 0 && shown.every((canvas) => Math.abs(canvas.width / devicePixelRatio - canvas.clientWidth) <= 1);
}

// Runs in the page: looks at the canvases when it is laid out for paper, which has another width than the screen.
function watchPrint() {
  window.badPictures = ["the page was not laid out for print"];
  window.printMedia ??= matchMedia("print");
  window.printMedia.onchange = ({ matches }) => {
    if (!matches) return;
    window.badPictures = [...document.querySelectorAll("main canvas")].flatMap((canvas) => {
      const { width, right } = canvas.getBoundingClientRect();
      const frame = canvas.closest("[role=application]")?.getBoundingClientRect() ?? { right };
      const isStretched = Math.abs(width - canvas.width / devicePixelRatio) > 1;
      return width > 0 && (isStretched || Math.abs(frame.right - right) > 3) ? [`${canvas.width} px are ${width}, to ${right} of ${frame.right}`] : [];
    });
  };
}

// Runs in the page, in print: what a sheet of paper would lack or have too much.
function faultsOfPrint() {
  const faults = [];
  const shown = (selector) => [...document.querySelectorAll(selector)].filter((element) => element.checkVisibility({ checkOpacity: true }));
  const fault = (what, element) => faults.push(`${what}: ${element.outerHTML.slice(0, 120)}`);
  for (const element of shown("main *")) {
    const style = getComputedStyle(element);
    const isFilled = style.backgroundImage !== "none" || !/, 0\)$|transparent/.test(style.backgroundColor);
    const isEmpty = element.textContent === "" && element.childElementCount === 0 && !["CANVAS", "TD", "INPUT"].includes(element.tagName);
    if (isFilled && isEmpty && element.clientWidth > 0 && style.printColorAdjust !== "exact") fault("a colour is not printed", element);
    if (element.tagName === "KBD") fault("a key", element);
  }
  for (const element of shown("button, select, input")) fault("a control", element);
  for (const element of shown("main th")) {
    if (element.innerText.trim() === "") fault("a heading without text", element);
  }
  for (const element of shown("figure, [role=application]")) {
    if (getComputedStyle(element).breakInside !== "avoid" && element.closest("figure") === null) fault("a picture breaks", element);
  }
  for (const element of shown("main :is(h2, h3, figcaption)")) {
    const styles = [element, element.closest("header")].filter((each) => each !== null).map((each) => getComputedStyle(each).breakAfter);
    if (!styles.includes("avoid")) fault("a heading may stand alone", element);
  }
  for (const element of shown("thead")) {
    const { display } = getComputedStyle(element);
    if (display !== "table-header-group" || element.querySelector("button")?.checkVisibility()) fault("headings are not repeated", element);
  }
  for (const element of shown("main canvas")) {
    for (let box = element.parentElement; box.tagName !== "MAIN"; box = box.parentElement) {
      if (/auto|scroll/.test(getComputedStyle(box).overflowY)) fault("a scroll bar takes room from a picture", box);
    }
  }
  const hints = document.querySelector("main").innerText.match(/.*(Ctrl\+|[Aa]rrow keys|Select an? |w s zoom).*/g);
  return [...faults, ...(hints ?? [])];
}
