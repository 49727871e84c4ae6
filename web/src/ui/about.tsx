// The tab About: what was recorded, where and with which options, and the problems that the import found. Facts that
// are objects in `opscope info` are lines with units here, because readers of a page know no JSON.
// SPDX-License-Identifier: Apache-2.0
import type { Unit, WebDocument } from "../model/document.ts";
import { parseNumber, visibleText } from "../model/numbers.ts";
import { titleOf } from "../model/tables.ts";
import { DocumentTable } from "./document_table.tsx";
import { Figure } from "./figure.tsx";
import { usePage } from "./page_context.ts";

// About never lacks data: it says at least where the page comes from.
export function aboutEmpty(_document: WebDocument): string {
  return "";
}

// Members of `opscope info` that the page shows elsewhere.
const kElsewhere = new Set(["schema", "problems", "quality"]);

// Headings of keys whose own words a reader does not know.
const kHeadings: Readonly<Record<string, string>> = {
  "own_cost": "Overhead of recording",
  abi: "Version of the recorder's ABI",
  tsc: "Time stamp counter as the clock",
  max_bytes: "Memory limit",
  at_cap: "At the memory limit",
  torch_route: "Capture mode of torch",
  paddle_route: "Capture mode of Paddle",
  recorded: "Events recorded",
  dropped: "Events dropped",
  whole_ns: "Sum",
  kinds: "Per event",
};

function headingOf(key: string): string {
  return Object.hasOwn(kHeadings, key) ? kHeadings[key]! : titleOf(key);
}

type Facts = Record<string, unknown>;

function isFacts(value: unknown): value is Facts {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

// The overhead has a card of its own, where it is complete.
function without(facts: Facts, key: string): Facts {
  return Object.fromEntries(Object.entries(facts).filter(([each]) => each !== key));
}

export function About() {
  const { document } = usePage();
  const { info } = document.about;
  const facts: Facts = {};
  const groups: [string, Facts][] = [];
  for (const [key, value] of Object.entries(info)) {
    if (kElsewhere.has(key)) continue;
    if (isFacts(value)) {
      groups.push([headingOf(key), key === "options" && isFacts(info["own_cost"]) ? without(value, "own_cost") : value]);
    } else {
      facts[key] = value;
    }
  }
  // The clock of the document is exact where JSON readers round.
  for (const key of ["start_ns", "end_ns", "epoch_ns"] as const) {
    if (key in facts) facts[key] = document.clock[key];
  }
  const page = { producer: document.producer, data: document.schema, files: document.files };
  return (
    <>
      <div class="facts">
        <FactList title="Report" facts={page} />
        <FactList title="Trace" facts={facts} />
        {groups.map(([title, group]) => (
          <FactList key={title} title={title} facts={group} />
        ))}
      </div>
      <DocumentTable name="Problems" table="problems" wraps />
    </>
  );
}

function FactList(props: { title: string; facts: Facts }) {
  const entries = Object.entries(props.facts);
  if (entries.length === 0) return null;
  return (
    <section class="card">
      <h2>{props.title}</h2>
      <dl>
        {entries.map(([key, value]) => (
          <div key={key} class={isFacts(value) ? "nested" : undefined}>
            <dt>{visibleText(headingOf(key))}</dt>
            <dd>
              {isFacts(value) ? <NestedFacts facts={value} /> : <Fact name={key} value={value} />}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

// A line per fact: "scope: inside 11.540 ns, begin 14.320 ns".
function NestedFacts({ facts }: { facts: Facts }) {
  return (
    <ul>
      {Object.entries(facts).map(([key, value]) => (
        <li key={key}>
          {visibleText(key.replaceAll("_", " "))}:{" "}
          {isFacts(value)
            ? Object.entries(value).map(([name, part], at) => (
                <span key={name}>
                  {at > 0 && ", "}
                  {visibleText(titleOf(name).toLowerCase())} <Fact name={name} value={part} />
                </span>
              ))
            : <Fact name={key} value={value} />}
        </li>
      ))}
    </ul>
  );
}

function unitOf(key: string): Unit {
  return /_ns$/.test(key) ? "time" : /(^|_)bytes$/.test(key) ? "bytes" : /share$/.test(key) ? "share" : "number";
}

function Fact(props: { name: string; value: unknown }) {
  const { name, value } = props;
  if (value === null) return <Figure value={null} unit="text" />;
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) {
    return (
      <ul>
        {value.map((each, at) => (
          <li key={at}>
            <Figure value={each} unit="text" />
          </li>
        ))}
      </ul>
    );
  }
  const number = typeof value === "number" || unitOf(name) !== "number" ? parseNumber(value) : null;
  if (name === "epoch_ns" && number !== null) return <Moment nanoseconds={number} />;
  if (number !== null) return <Figure value={number} unit={unitOf(name)} />;
  if (typeof value === "boolean") return <Figure value={value} unit="truth" />;
  return <Figure value={typeof value === "string" ? value : JSON.stringify(value)} unit="text" />;
}

// A time of the system's clock, with its date if it has one.
function Moment({ nanoseconds }: { nanoseconds: number | bigint }) {
  const milliseconds = Number(nanoseconds) / 1e6;
  const hasDate = milliseconds > 0 && milliseconds < 8.64e15;
  return (
    <>
      {hasDate && `${new Date(milliseconds).toISOString().slice(0, 19).replace("T", " ")} UTC, `}
      <Figure value={nanoseconds} unit="time" />
    </>
  );
}
