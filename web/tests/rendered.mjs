// When the page has drawn what was last done, and listens to what comes next.
// SPDX-License-Identifier: Apache-2.0

export const rendered = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
