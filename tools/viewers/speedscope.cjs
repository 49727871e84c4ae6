// What speedscope's own importer reads: node speedscope.cjs RELEASE_FOLDER FILE prints, as JSON, for each profile its
// name and {frame: [times, total weight, self weight]}. The page of speedscope is one script; it is run without a browser
// up to where it wants to draw, with its importer handed out.
// SPDX-License-Identifier: Apache-2.0
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const [folder, file] = process.argv.slice(2);
const anything = new Proxy(function () {}, {
  get: (_, key) => (key === Symbol.toPrimitive ? () => "" : anything),
  apply: () => anything,
  construct: () => anything,
  set: () => true,
});
Object.assign(globalThis, {
  window: globalThis,
  document: anything,
  location: { hash: "", protocol: "file:" },
  addEventListener: () => {},
  matchMedia: () => anything,
  HTMLElement: class {},
  localStorage: anything,
  requestAnimationFrame: () => {},
});

const script = fs.readdirSync(folder).find((name) => /^speedscope-.*\.js$/.test(name));
const source = fs.readFileSync(path.join(folder, script), "utf8");
const importer = source.match(/loadFileFromBase64:\((\w+),(\w+)\)=>\{this\.loadProfile\(\(\)=>([\w$]+)\(\1,\2\)\)/)[3];
const start = '"use strict";(()=>{';
if (!source.startsWith(start)) throw new Error("speedscope's script begins otherwise");
console.log = () => {};
try {
  vm.runInThisContext(`${start}globalThis.importProfiles=(...all)=>${importer}(...all);${source.slice(start.length)}`);
} catch (error) {
  if (!globalThis.importProfiles) throw error;  // else: it could not draw
}

(async () => {
  const group = await globalThis.importProfiles(path.basename(file), fs.readFileSync(file).toString("base64"));
  const profiles = group.profiles.map((profile) => {
    const frames = {};
    const row = (frame) => (frames[[frame.name, frame.file ?? "", frame.line ?? 0].join("|")] ??= [0, 0, 0]);
    const opened = [];
    profile.forEachCall(
      (node, at) => {
        row(node.frame)[0] += 1;
        opened.push(at);
      },
      (node, at) => (row(node.frame)[1] += at - opened.pop()),
    );
    profile.forEachFrame((frame) => (row(frame)[2] = frame.getSelfWeight()));
    return { name: profile.getName(), frames };
  });
  process.stdout.write(JSON.stringify(profiles));
})();
