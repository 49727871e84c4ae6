// The tab Ranks of a job: who makes the others wait, the durations of the steps by ranks, and the rows of `opscope ranks`,
// `stragglers`, `critical-ranks` and `collectives`.
// SPDX-License-Identifier: Apache-2.0
import { decodeColumn } from "../model/columns.ts";
import type { RanksData, WebDocument } from "../model/document.ts";
import { exactText, kDash, parseNumber, type Value, visibleText } from "../model/numbers.ts";
import { Card, FigureCard, Pair } from "./card.tsx";
import { RankMapFigure } from "./charts/rank_map.tsx";
import { DocumentTable, useTable, whyEmpty } from "./document_table.tsx";
import { Failure } from "./failure.tsx";
import { Figure } from "./figure.tsx";
import { usePage } from "./page_context.ts";
import { ProblemTable } from "./problem_table.tsx";
import { TimelineLink } from "./timeline_link.tsx";
import { useLoaded } from "./use_loaded.ts";
import { useRankPlaces } from "./use_rank_places.ts";
import "./ranks.css";

const kRankKeys = ["rank", "host", "stage", "steps", "step_mean_ns", "step_p50_ns", "step_p99_ns", "wait_ns", "last_count", "collectives", "unmatched", "files", "spans", "rank_from"];
const kClockKeys = ["rank", "host", "clock_source", "clock_offset_ns", "clock_bound_ns", "clock_error_ns"];
const kByRank = { key: "rank", falling: false };
// Numbers of ranks in a sentence.
const kListed = 20;

// Why the tab has no data; "": it has.
export function ranksEmpty(document: WebDocument): string {
  return document.ranks === undefined ? "The page is not of a job of several ranks." : "";
}

export function Ranks() {
  const ranks = usePage().document.ranks!;
  const { data, failure } = useLoaded(async () => {
    const [missing, shown] = await Promise.all([decodeColumn(ranks.missing_ranks), decodeColumn(ranks.in_timeline)]);
    return { missing, shown: new Set(shown) };
  }, [ranks]);
  if (failure !== "") return <Failure message={failure} />;
  return data === null ? null : <LoadedRanks ranks={ranks} missing={data.missing} shown={data.shown} />;
}

function LoadedRanks({ ranks, missing, shown }: { ranks: RanksData; missing: Float64Array; shown: ReadonlySet<number> }) {
  const places = useRankPlaces(shown);
  return (
    <>
      <div class="cards">
        <StragglerCard />
        <JobCard ranks={ranks} missing={missing} />
        <StepCard ranks={ranks} />
        <PathCard ranks={ranks} />
      </div>
      <RanksNote count={Number(ranks.count)} shown={shown} />
      <DocumentTable name="Stragglers" table="stragglers" />
      <RankMapFigure maps={ranks.step_maps} steps={Number(ranks.steps)} places={places} />
      <DocumentTable name="Ranks" table="ranks" keys={kRankKeys} firstSort={kByRank} hidesEmpty />
      <DocumentTable name="Critical ranks" table="critical_ranks" />
      <DocumentTable name="Critical steps" table="critical_steps" />
      <DocumentTable name="Collectives" table="collective_groups" />
      <DocumentTable name="Clocks" table="ranks" keys={kClockKeys} firstSort={kByRank} hidesEmpty />
      <ProblemTable name="Problems of the job" table="job_problems" />
    </>
  );
}

// A rank is a name, so it has no commas at the thousands.
function RankName({ rank }: { rank: Value }) {
  return <span data-value={exactText(rank)}>{exactText(rank) || kDash}</span>;
}

// "3, 5 and 12 more": the first ones of a list that may be long.
export function RankNames({ ranks }: { ranks: readonly number[] }) {
  const more = ranks.length - kListed;
  return (
    <>
      {ranks.slice(0, kListed).map((rank, at) => (
        <span key={rank}>
          {at > 0 && ", "}
          <RankName rank={rank} />
        </span>
      ))}
      {more > 0 && (
        <>
          {" "}
          and <Figure value={more} unit="number" /> more
        </>
      )}
    </>
  );
}

// What is shown if no straggler is known, and why: without collectives nothing says who waits.
export function noStraggler(document: WebDocument): [large: string, reason: string] {
  return [whyEmpty(document, "collective_groups") === "" ? "None" : "Unknown", whyEmpty(document, "stragglers")];
}

// The straggler that costs most, in words.
function StragglerCard() {
  const { document } = usePage();
  const table = useTable("stragglers");
  if (table === null || table.size === 0) {
    const [large, reason] = noStraggler(document);
    return (
      <Card title="Straggler">
        <p class="large">{large}</p>
        <p class="empty">{reason}</p>
      </Card>
    );
  }
  const value = (key: string) => table.column(key)?.values[0] ?? null;
  const [set, name] = [String(value("set")), String(value("name"))];
  const text = `${set.charAt(0).toUpperCase()}${set.slice(1)} ${visibleText(name)}`;
  const [range, rank] = [table.ranges[0] ?? null, table.timelineRanks[0] ?? null];
  return (
    <FigureCard title={table.size === 1 ? "Straggler" : "Largest straggler"} large={rank === null ? text : <TimelineLink range={range} rank={rank}>{text}</TimelineLink>}>
      <Pair name="Cost per step">
        <Figure value={value("caused_per_step_ns")} unit="time" />
      </Pair>
      <Pair name="Of the mean step">
        <Figure value={value("share")} unit="share" />
      </Pair>
      <Pair name="Cause">
        <Figure value={value("cause")} unit="text" />, <Figure value={value("behavior")} unit="text" />
      </Pair>
      <Pair name="Steps">
        <Figure value={value("hit_steps")} unit="number" />, from <Figure value={value("first_step")} unit="number" /> to <Figure value={value("last_step")} unit="number" />
      </Pair>
    </FigureCard>
  );
}

function JobCard({ ranks, missing }: { ranks: RanksData; missing: Float64Array }) {
  const { data: attempts } = useLoaded(() => decodeColumn(ranks.attempts), [ranks]);
  return (
    <FigureCard title="Ranks" large={<Figure value={parseNumber(ranks.count)} unit="number" />}>
      <Pair name="World size">
        <Figure value={Number(ranks.world_size) === 0 ? null : parseNumber(ranks.world_size)} unit="number" />
      </Pair>
      <Pair name="Ranks without a file">
        <Figure value={missing.length} unit="number" />
        {missing.length > 0 && (
          <>
            : <RankNames ranks={[...missing]} />
          </>
        )}
      </Pair>
      {attempts !== null && attempts.length > 1 && (
        <Pair name="Attempt">
          <Figure value={parseNumber(ranks.attempt)} unit="number" /> of <RankNames ranks={[...attempts]} />
        </Pair>
      )}
    </FigureCard>
  );
}

function StepCard({ ranks }: { ranks: RanksData }) {
  const mean = parseNumber(ranks.mean_step_ns);
  return (
    <FigureCard title="Step time of all ranks" large={<><Figure value={mean} unit="time" /> {mean !== null && <small>mean</small>}</>}>
      <Pair name="Steps">
        <Figure value={parseNumber(ranks.steps)} unit="number" />
      </Pair>
    </FigureCard>
  );
}

function PathCard({ ranks }: { ranks: RanksData }) {
  const table = useTable("critical_ranks");
  const [length, balanced] = [parseNumber(ranks.length_ns), parseNumber(ranks.balanced_ns)];
  return (
    <FigureCard title="Critical path" large={<Figure value={length} unit="time" />}>
      <Pair name="If none were slower">
        <Figure value={balanced} unit="time" />
      </Pair>
      {table !== null && table.size > 0 && (
        <Pair name="Most of it on">
          rank <RankName rank={table.column("rank")?.values[0] ?? null} />, <Figure value={table.column("share")?.values[0] ?? null} unit="share" />
        </Pair>
      )}
    </FigureCard>
  );
}

// Which ranks the other tabs are of, where that is not all.
function RanksNote({ count, shown }: { count: number; shown: ReadonlySet<number> }) {
  if (shown.size >= count) return null;
  return (
    <p class="hint" role="note" aria-label="Ranks in the timeline">
      This tab is of all ranks. The timeline and the other tabs have the spans of <Figure value={shown.size} unit="number" /> of them: <RankNames ranks={[...shown]} />. Write the report with --ranks to choose
      others.
    </p>
  );
}
