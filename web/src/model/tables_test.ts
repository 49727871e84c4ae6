// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "vitest";
import { packTable, StringTable } from "./document_for_test.ts";
import { tableCsv, tableText } from "./table_text.ts";
import { compareTexts, nextSort, readTable, sinceBegin, type Table } from "./tables.ts";

function table(rows: (string | number | null)[][], head = ["name:text", "count:number", "self_ns:time"]): Table {
  const strings = new StringTable();
  return readTable(packTable(strings, head, rows), strings.texts);
}

const kRows = table([
  ["b", 1, 500],
  ["a", 1, 700],
  ["c", 2, null],
  ["Ab", 3, "9007199254740993"],
]);

const names = (rows: Int32Array, of = kRows) => Array.from(rows, (row) => of.name(row));

describe("Table.rows", () => {
  it("sorts numbers in both directions with unknown values last", () => {
    expect(names(kRows.rows({ key: "self_ns", falling: true }))).toEqual(["Ab", "a", "b", "c"]);
    expect(names(kRows.rows({ key: "self_ns", falling: false }))).toEqual(["b", "a", "Ab", "c"]);
  });

  it("orders ties by name in both directions", () => {
    expect(names(kRows.rows({ key: "count", falling: true }))).toEqual(["Ab", "c", "a", "b"]);
    expect(names(kRows.rows({ key: "count", falling: false }))).toEqual(["a", "b", "c", "Ab"]);
  });

  it("tells integers apart that are one double", () => {
    const close = table([["x", 1, "9007199254740993"], ["y", 1, "9007199254740992"], ["z", 1, "9007199254740994"]]);
    expect(names(close.rows({ key: "self_ns", falling: true }), close)).toEqual(["z", "x", "y"]);
  });

  it("filters by a part of the name and ignores case", () => {
    expect(names(kRows.rows(null, "A"))).toEqual(["a", "Ab"]);
    expect(names(kRows.rows({ key: "count", falling: false }, "b"))).toEqual(["b", "Ab"]);
  });

  it("keeps the order of the document for a key that the table lacks", () => {
    expect(names(kRows.rows({ key: "nothing", falling: true }))).toEqual(["b", "a", "c", "Ab"]);
  });
});

describe("readTable", () => {
  it("makes headings from keys and keeps them apart", () => {
    const strings = new StringTable();
    const data = packTable(strings, ["name:text", "peak_bytes:bytes", "peak_ns:time", "self_share:share"], []);
    data.columns[1]!.title = "Peak";
    expect(readTable(data, strings.texts).columns.map((column) => column.title)).toEqual(["Name", "Peak", "Peak time", "Self share"]);
  });

  it("shows moments as they are, and knows when they are since a late begin of the trace", () => {
    const strings = new StringTable();
    const data = packTable(strings, ["name:text", "start_ns:time", "duration_ns:time"], [["a", "1661938466265034999", 7]]);
    const steps = readTable(data, strings.texts, 1661938466265034000n);
    expect(tableText(steps, steps.rows(null))).toBe("Name             Start  Duration\na     1661938466.265 s      7 ns\n");
    expect(tableCsv(steps, steps.rows(null))).toBe("name,start_ns,duration_ns\r\na,1661938466265034999,7\r\n");
    expect(steps.columns.map((column) => sinceBegin(column, column.values[0]!))).toEqual([null, 999, null]);
    expect(sinceBegin(steps.columns[1]!, null)).toBe(null);
    const early = readTable(data, strings.texts, 999_999_999n);
    expect(sinceBegin(early.columns[1]!, early.columns[1]!.values[0]!)).toBe(null);
  });

  it("reads unknown texts and numbers as null", () => {
    expect(table([[null, null, null]]).columns.map((column) => column.values[0])).toEqual([null, null, null]);
  });
});

describe("nextSort", () => {
  it("sorts numbers falling and names rising at first, then turns", () => {
    const [name, count] = kRows.columns;
    expect(nextSort(count!, null)).toEqual({ key: "count", falling: true });
    expect(nextSort(name!, null)).toEqual({ key: "name", falling: false });
    expect(nextSort(count!, { key: "count", falling: true })).toEqual({ key: "count", falling: false });
    expect(nextSort(count!, { key: "name", falling: false })).toEqual({ key: "count", falling: true });
  });
});

describe("compareTexts", () => {
  it("orders by code points, not by UTF-16", () => {
    const texts = ["\u{1f600}", "\uff0b", "a", "", "\ud7ff", "ab"];
    expect([...texts].sort(compareTexts)).toEqual(["", "a", "ab", "\ud7ff", "\uff0b", "\u{1f600}"]);
  });
});

describe("tableCsv", () => {
  it("has keys, exact values and RFC 4180 quotes", () => {
    const quoted = table([['say "x", y', 1, null], ["line\nend", 2, "9007199254740993"]]);
    expect(tableCsv(quoted, quoted.rows(null))).toBe(
      'name,count,self_ns\r\n"say ""x"", y",1,\r\n"line\nend",2,9007199254740993\r\n',
    );
  });

  it("puts an apostrophe before a text that a spreadsheet would run, and before an apostrophe", () => {
    const texts = ["=SUM(A1)", "+1", "-1", "@x", "\tx", "'quoted", "a=b"];
    const guarded = table(texts.map((text) => [text, -5, 0]));
    const lines = tableCsv(guarded, guarded.rows(null)).split("\r\n").slice(1, -1);
    expect(lines).toEqual(["'=SUM(A1),-5,0", "'+1,-5,0", "'-1,-5,0", "'@x,-5,0", "'\tx,-5,0", "''quoted,-5,0", "a=b,-5,0"]);
  });

  it("has the rows as sorted and filtered, and the folded row last", () => {
    const strings = new StringTable();
    const data = packTable(strings, ["name:text", "count:number", "mean_ns:time"], [["a", 1, 5], ["b", 2, 6]]);
    data.folded = { rows: 40, sums: { count: 99 } };
    const folded = readTable(data, strings.texts);
    expect(tableCsv(folded, folded.rows({ key: "count", falling: true }))).toBe(
      "name,count,mean_ns\r\nb,2,6\r\na,1,5\r\nthe other 40 rows,99,\r\n",
    );
    expect(tableCsv(folded, folded.rows(null, "zzz"))).toBe("name,count,mean_ns\r\nthe other 40 rows,99,\r\n");
  });
});

describe("tableText", () => {
  it("aligns texts to the left and numbers to the right, as the page writes them", () => {
    const text = table([["mm", 1234, 1500], ["a\u202e", 5, null]]);
    expect(tableText(text, text.rows(null))).toBe(
      "Name       Count      Self\nmm         1,234  1.500 us\na\\u{202E}      5         –\n",
    );
  });
});

describe("numbers of ranks and devices", () => {
  it("are -1 as the commands have them, and a dash for null", () => {
    const ranks = table([[-1, -1, null]], ["rank:number", "device:number", "first_offset:number"]);
    expect(tableText(ranks, ranks.rows(null)).split("\n")[1]).toMatch(/^ *-1 +-1 +–$/);
    expect(tableCsv(ranks, ranks.rows(null))).toContain("-1,-1,\r\n");
  });
});

describe("columns of texts that are all empty", () => {
  it("are left out on demand", () => {
    const keysOf = (hosts: (string | null)[]) => {
      const ranks = table(hosts.map((host, rank) => [rank, host]), ["rank:number", "host:text"]);
      return ranks.withoutEmpty().columns.map((column) => column.key);
    };
    expect([keysOf(["", ""]), keysOf(["", "a"]), keysOf(["", null])]).toEqual([["rank"], ["rank", "host"], ["rank", "host"]]);
  });
});

describe("the name of a row", () => {
  it("comes first, before numbers of ranks and devices", () => {
    const strings = new StringTable();
    const steps = readTable(packTable(strings, ["rank:number", "step:number", "name:text", "time_ns:time"], [[0, 2, "a", 5]]), strings.texts);
    expect(steps.columns.map((column) => column.key)).toEqual(["name", "rank", "step", "time_ns"]);
    const stragglers = readTable(packTable(strings, ["set:text", "name:text"], [["rank", "6"]]), strings.texts);
    expect(stragglers.columns.map((column) => column.key)).toEqual(["set", "name"]);
    expect(steps.titled({ time_ns: "Saving" }).columns.map((column) => column.title)).toEqual(["Name", "Rank", "Step", "Saving"]);
  });
});

describe("links of a table of ranks", () => {
  const head = ["rank:number", "host:text", "spans:number"];

  it("stand at the rank, or at the name where rows have one", () => {
    const strings = new StringTable();
    const ranks = readTable({ ...packTable(strings, head, [[0, "a", 5], [1, "b", 6]]), timeline_ranks: [0, null] }, strings.texts);
    expect([ranks.linkColumn, ranks.nameColumn, ranks.timelineRanks]).toEqual([0, 1, [0, null]]);
    expect(ranks.pick(["host", "rank"]).linkColumn).toBe(1);
    const named = readTable({ ...packTable(strings, ["set:text", "name:text"], [["rank", "6"]]), timeline_ranks: [6] }, strings.texts);
    expect(named.linkColumn).toBe(1);
  });

  it("stand at the name of a table without ranks", () => {
    expect(table([["0", 1, 2]], ["rank:text", "count:number", "self_ns:time"]).linkColumn).toBe(0);
  });
});
