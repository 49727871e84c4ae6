// Vite plug-in: after all scripts and styles are inlined, computes their sha256 and puts a strict
// Content-Security-Policy in front of them. The policy needs no 'unsafe-inline' and names no host, so a name from a
// trace that became markup could neither run nor load anything.
// SPDX-License-Identifier: Apache-2.0
import { createHash } from "node:crypto";
import type { Plugin } from "vite";

const kCharset = '<meta charset="utf-8">';

// The sources of all elements `name` that a policy checks. Scripts that are data are not checked by browsers.
function hashes(html: string, name: string): string[] {
  const element = new RegExp(`<${name}\\b([^>]*)>([\\s\\S]*?)</${name}>`, "g");
  const found: string[] = [];
  for (const [, attributes, text] of html.matchAll(element)) {
    if (attributes?.includes("application/json")) continue;
    found.push(`'sha256-${createHash("sha256").update(text ?? "", "utf8").digest("base64")}'`);
  }
  return found;
}

// The page with its policy. Throws if the page has what the policy forbids.
export function withPolicy(html: string): string {
  if (!html.includes(kCharset)) throw new Error(`The page has no ${kCharset}.`);
  if (html.includes("\r")) throw new Error("The page has a carriage return; browsers would hash another text.");
  if (/<(script|link)\b[^>]*\s(src|href)="(?!data:)/.test(html)) throw new Error("The page loads a file.");
  const policy = [
    "default-src 'none'",
    `script-src ${hashes(html, "script").join(" ")}`,
    `style-src ${hashes(html, "style").join(" ")}`,
    "img-src data: blob:",
    "base-uri 'none'",
    "form-action 'none'",
  ].join("; ");
  return html.replace(kCharset, () => `${kCharset}\n    <meta http-equiv="Content-Security-Policy" content="${policy}">`);
}

export function contentSecurityPolicy(): Plugin {
  return {
    name: "opscope:content-security-policy",
    enforce: "post",
    generateBundle: {
      order: "post",
      handler(_options, bundle) {
        for (const file of Object.values(bundle)) {
          if (file.type === "asset" && file.fileName.endsWith(".html")) {
            file.source = withPolicy(String(file.source).replaceAll(' crossorigin>', ">"));
          }
        }
      },
    },
  };
}
