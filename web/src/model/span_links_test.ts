// SPDX-License-Identifier: Apache-2.0
import { expect, it } from "vitest";
import { emptyDocument, packColumn } from "./document_for_test.ts";
import { loadArguments } from "./span_links.ts";

it("a span has the arguments of its list, its texts, its integers and its stack", async () => {
  const document = emptyDocument();
  document.strings = ["", "Input Dims", "[[2,3]]", "[[4]]", "note", '"a \\"b\\""', "Sequence number", "main\nstep"];
  document.timeline.arguments = {
    span: packColumn([1, 3], 1),
    key: packColumn([4, 4]),
    value: packColumn([5, 2]),
    lists: {
      span: packColumn([0, 1, 4], 1),
      list: packColumn([1, 0, 1]),
      row_list: packColumn([0, 1, 1], 1),
      row_key: packColumn([1, 1, 4]),
      row_value: packColumn([2, 3, 3]),
    },
    integers: [{ key: 6, span: packColumn([1, 2], 1), value: packColumn([2 ** 52, -7], 1) }],
    left_out: 0,
  };
  document.timeline.stacks = { span: packColumn([4], 1), stack: packColumn([7]) };
  const shown = async (span: number) => {
    const found = await loadArguments(document, span);
    const rows = found.arguments.map(({ key, value }) => [key, value]);
    return found.stack === "" ? rows : [...rows, ["stack", found.stack]];
  };
  expect(await shown(0)).toEqual([["Input Dims", "[[4]]"], ["note", "[[4]]"]]);
  expect(await shown(1)).toEqual([["Input Dims", "[[2,3]]"], ["note", 'a "b"'], ["Sequence number", String(2 ** 52)]]);
  expect(await shown(2)).toEqual([["Sequence number", "-7"]]);
  expect(await shown(3)).toEqual([["note", "[[2,3]]"]]);
  expect(await shown(4)).toEqual([["Input Dims", "[[4]]"], ["note", "[[4]]"], ["stack", "main\nstep"]]);
  expect(await shown(5)).toEqual([]);
});
