// The tab About: machine, versions, options, contents of the trace, and the problems that the import found. Facts about
// the recorder itself come last. Facts that are objects in `opscope info` are lines with units here.
// SPDX-License-Identifier: Apache-2.0
import type { Unit } from "../model/document.ts";
import { type AboutFact, beginText, eventTitle, kCosts, kUsersOptions, machineFacts, optionFacts, versionFacts } from "../model/about_facts.ts";
import { parseExact, parseNumber, visibleText } from "../model/numbers.ts";
import { titleOf } from "../model/tables.ts";
import { Card, Pair } from "./card.tsx";
import { Figure } from "./figure.tsx";
import { usePage } from "./page_context.ts";
import { ProblemTable } from "./problem_table.tsx";

// Members of `opscope info` that the page shows elsewhere.
const kElsewhere = new Set(["schema", "problems", "quality", "options", "own_cost", "epoch_ns", "start_ns", "end_ns"]);

// Headings of keys whose own words a reader does not know.
const kHeadings: Readonly<Record<string, string>> = {
  abi: "Version of the recorder's ABI",
  tsc: "Time stamp counter as the clock",
  torch_route: "Capture mode of torch",
  paddle_route: "Capture mode of Paddle",
  recorded: "Events recorded",
  dropped: "Events dropped",
  producer: "Written by",
  data: "Format of its data",
  epoch_ns: "Zero, since 1970",
  start_ns: "Begin of the first span",
  end_ns: "End of the last span",
};

function headingOf(key: string): string {
  return Object.hasOwn(kHeadings, key) ? kHeadings[key]! : titleOf(key);
}

type Facts = Record<string, unknown>;

function isFacts(value: unknown): value is Facts {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function without(facts: Facts, keys: ReadonlySet<string>): Facts {
  return Object.fromEntries(Object.entries(facts).filter(([each]) => !keys.has(each)));
}

const kNotOfRecorder: ReadonlySet<string> = new Set([...kUsersOptions, "own_cost"]);

export function About() {
  const { document } = usePage();
  const { info, metadata } = document.about;
  const facts: Facts = {};
  const groups: [string, Facts][] = [];
  for (const [key, value] of Object.entries(info)) {
    if (kElsewhere.has(key)) continue;
    if (isFacts(value)) groups.push([headingOf(key), value]);
    else facts[key] = value;
  }
  const page = { producer: document.producer, data: document.schema, files: document.files };
  const { start_ns: start, end_ns: end, epoch_ns: epoch } = document.clock;
  const begin = beginText(parseExact(epoch), parseExact(start));
  const options = isFacts(info["options"]) ? info["options"] : {};
  // Without a sum where the costs of some kind are unknown.
  const overhead = isFacts(info["own_cost"]) ? info["own_cost"] : isFacts(options["own_cost"]) ? { kinds: options["own_cost"] } : null;
  return (
    <>
      <div class="facts">
        <AboutCard title="Machine" facts={machineFacts(metadata)} />
        <AboutCard title="Versions" facts={versionFacts(metadata)} />
        <AboutCard title="Options" facts={optionFacts(metadata, info["options"])} />
        <FactList title="Trace" facts={begin === "" ? facts : { begin, ...facts }} />
        <FactList title="Report" facts={page} />
        {groups.map(([title, group]) => (
          <FactList key={title} title={title} facts={group} />
        ))}
        <FactList
          title="Clock"
          facts={{ ...(begin === "" ? {} : { epoch_ns: epoch }), start_ns: start, end_ns: end }}
          note={`Moments in the tables are on the clock of the trace${begin === "" ? "; the trace does not say at which date that is 0" : ""}. The axis of the timeline begins at the first span.`}
        />
        <FactList title="Recorder" facts={without(options, kNotOfRecorder)} />
        {overhead !== null && <Overhead facts={overhead} />}
      </div>
      <ProblemTable name="Problems" table="problems" />
    </>
  );
}

function AboutCard(props: { title: string; facts: readonly AboutFact[] }) {
  if (props.facts.length === 0) return null;
  return (
    <Card title={props.title}>
      <dl>
        {props.facts.map(({ title, values, unit }) => (
          <Pair key={title} name={visibleText(title)}>
            {values.map((value, at) => (
              <div key={at}>
                <Figure value={value} unit={unit} />
              </div>
            ))}
          </Pair>
        ))}
      </dl>
    </Card>
  );
}

// What recording cost: all of it, and one event of each kind.
function Overhead({ facts }: { facts: Facts }) {
  const kinds = isFacts(facts["kinds"]) ? Object.entries(facts["kinds"]) : [];
  return (
    <Card title="Overhead of recording">
      <dl>
        {(["whole_ns", "events"] as const).map(
          (key) =>
            facts[key] !== undefined && (
              <Pair key={key} name={key === "events" ? "Events" : "Of all events together"}>
                <Fact name={key} value={facts[key]} />
              </Pair>
            ),
        )}
        {kinds.map(([kind, cost]) => (
          <div key={kind} class="nested">
            <dt>{visibleText(eventTitle(kind))}</dt>
            <dd>
              <ul>
                {kCosts
                  .filter(([key]) => isFacts(cost) && Number(cost[key] ?? 0) > 0)
                  .map(([key, words]) => (
                    <li key={key}>
                      <Fact name={key} value={(cost as Facts)[key]} /> {words}
                    </li>
                  ))}
              </ul>
            </dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

function FactList(props: { title: string; facts: Facts; note?: string }) {
  const entries = Object.entries(props.facts);
  if (entries.length === 0) return null;
  return (
    <Card title={props.title}>
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
      {props.note !== undefined && <p class="hint">{props.note}</p>}
    </Card>
  );
}

// A line per fact: "point: begin 14.320 ns, end 9.100 ns".
function NestedFacts({ facts }: { facts: Facts }) {
  return (
    <ul>
      {Object.entries(facts).map(([key, value]) => (
        <li key={key}>
          {visibleText(titleOf(key).toLowerCase())}:{" "}
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
  if (number !== null) return <Figure value={number} unit={unitOf(name)} />;
  if (typeof value === "boolean") return <Figure value={value} unit="truth" />;
  return <Figure value={typeof value === "string" ? value : JSON.stringify(value)} unit="text" />;
}
