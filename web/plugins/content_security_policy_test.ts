// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { withPolicy } from "./content_security_policy.ts";

const page = (head: string, body = "") =>
  `<html><head>\n    <meta charset="utf-8">${head}</head><body>${body}</body></html>`;
const hash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

describe("withPolicy", () => {
  it("allows the page's own scripts and styles by hash, and not its data", () => {
    const html = withPolicy(page("<style>a{}</style><script type=\"module\">run()</script>", '<script type="application/json">{}</script>'));
    const policy = /Content-Security-Policy" content="([^"]*)"/.exec(html)?.[1] ?? "";
    expect(policy).toContain(`script-src ${hash("run()")};`);
    expect(policy).toContain(`style-src ${hash("a{}")};`);
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|\*|http/);
    expect(html.indexOf("Content-Security-Policy")).toBeLessThan(html.indexOf("<style>"));
  });

  it("refuses a page that loads a file", () => {
    expect(() => withPolicy(page('<script src="x.js"></script>'))).toThrow("loads a file");
    expect(() => withPolicy(page('<link rel="stylesheet" href="x.css">'))).toThrow("loads a file");
  });
});
