// Keeps the page of `opscope view --idle 2` open for longer than that, then ends the server. Prints as JSON whether the
// server stayed and what the page showed. Arguments: Chromium, the program of opscope, its arguments. The browser starts before the server, which would
// not wait for it.
// SPDX-License-Identifier: Apache-2.0
import { spawn } from "node:child_process";
import { once } from "node:events";
import { openBrowser, openPage } from "./browser.mjs";

const [browserProgram, opscope, ...options] = process.argv.slice(2);
const kOpenMs = 7000;
const browser = await openBrowser(browserProgram);
const page = await openPage(browser);
await page.goto("about:blank");
const pings = [];
page.on("request", (request) => request.url().endsWith("/api/ping") && pings.push(request.url()));
const server = spawn(opscope, ["view", "--idle", "2", ...options], { stdio: ["ignore", "pipe", "inherit"] });
const ended = once(server, "exit");
const [address] = await once(server.stdout, "data");
await page.goto(String(address).trim());
await page.waitForSelector('html[data-state="ready"]');
await page.waitForTimeout(kOpenMs);
const shown = { pings: pings.length, isThere: server.exitCode === null, alertsBefore: await page.getByRole("alert").count() };
server.kill("SIGTERM");
shown.alert = await page.getByRole("alert").textContent();
shown.tabs = await page.getByRole("tab").count();
[shown.exitCode] = await ended;
await browser.close();
console.log(JSON.stringify(shown));
