// Build of the page: one HTML file with everything inline, and a content security policy of hashes.
// SPDX-License-Identifier: Apache-2.0
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";
import { defineConfig } from "vitest/config";
import { contentSecurityPolicy } from "./plugins/content_security_policy.ts";

// Writes the built page to web/page.html, which is committed: users and wheels need no Node.
function committedPage(): Plugin {
  return {
    name: "opscope:committed-page",
    writeBundle: {
      order: "post",
      handler(_options, bundle) {
        const html = bundle["index.html"];
        if (html?.type !== "asset") throw new Error("The build has no index.html.");
        writeFileSync(fileURLToPath(new URL("page.html", import.meta.url)), html.source);
      },
    },
  };
}

export default defineConfig({
  plugins: [viteSingleFile({ useRecommendedBuildConfig: true, removeViteModuleLoader: true }), contentSecurityPolicy(), committedPage()],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: { target: "es2023", modulePreload: false, reportCompressedSize: false },
  test: { testTimeout: 60_000, include: ["src/**/*_test.{ts,tsx}", "plugins/**/*_test.ts"], exclude: ["**/node_modules/**", "**/*_for_test.ts"] },
});
