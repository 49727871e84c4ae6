// The durations of a job's steps by ranks: a picture with a cell per rank and step, moved through by pointer and keys,
// and the exact numbers of the cell that is chosen. Enter, or a double press, opens that step of that rank in the
// timeline.
// SPDX-License-Identifier: Apache-2.0
import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { drawRankMap } from "../../draw/rank_map_canvas.ts";
import { cellAfter, cellAt, cornerOf, fitRankMap, heightOfGrid, hottestCell, type RankGrid, rowsOfRanks } from "../../layout/rank_map_layout.ts";
import type { Point } from "../../layout/tooltip_place.ts";
import type { RankMapData } from "../../model/document.ts";
import { countText } from "../../model/numbers.ts";
import { loadRankMap, medianOf, type RankMap, ratioOf, valuesOf } from "../../model/rank_map.ts";
import { changeText } from "../../model/tree_diff.ts";
import { useTable } from "../document_table.tsx";
import { Choice } from "../choice.tsx";
import { drawSoon } from "../draw_soon.ts";
import { Failure } from "../failure.tsx";
import { Figure } from "../figure.tsx";
import { usePage } from "../page_context.ts";
import { TimelineLink, timelineTarget } from "../timeline_link.tsx";
import { useColours } from "../theme.ts";
import { type Fact, FactText, Tooltip } from "../tooltip.tsx";
import { useLoaded } from "../use_loaded.ts";
import { useView } from "../use_view.ts";
import type { RankPlaces } from "../use_rank_places.ts";
import "./rank_map.css";

const kTitles = { duration_ns: "Step time by rank", own_ns: "Step time without waiting by rank" };
const kMeasures = { duration_ns: "step time", own_ns: "without waiting" };
// By step of the change plus kMaxChange, as kChangeSteps has them.
const kLegend = ["−33 % or less", "−9 %", "−2 %", "within 2 % of the median", "+2 %", "+10 %", "+50 % or more"];

// `steps`: of the job, of which a page with little room may have no picture.
export function RankMapFigure({ maps, steps, places }: { maps: RankMapData[]; steps: number; places: RankPlaces }) {
  const [measure, setMeasure] = useState<RankMapData["measure"]>("own_ns"); // a job that waits for its slowest rank has equal step times
  const chosen = maps.find((each) => each.measure === measure) ?? maps[0]!;
  const { data, failure } = useLoaded(() => loadRankMap(chosen).then((map) => ({ map, measure: chosen.measure })), [chosen]);
  if (failure !== "") return <Failure message={failure} />;
  return (
    <figure class="rank-map" aria-label={kTitles[measure]}>
      <figcaption>{kTitles[measure]}, compared with the median of all ranks in the same step</figcaption>
      <div class="choices">
        <Choice
          label="Measure"
          value={measure}
          options={maps.map((each) => ({ value: each.measure, title: kMeasures[each.measure] }))}
          onChange={(value) => setMeasure(value as RankMapData["measure"])}
        />
        <p class="hint">
          {measure === "duration_ns"
            ? "Ranks that wait for a slow one take as long as it does; the time without waiting shows which one it is."
            : "The step time less what the rank waited for others in the collectives of the step."}
        </p>
      </div>
      {data !== null && (data.map.durations.length === 0 ? <p class="hint">{steps === 0 ? "The job has no steps." : "The picture does not fit into this page; write it with a larger --max-size."}</p> : <Picture key={data.measure} map={data.map} measure={data.measure} places={places} />)}
    </figure>
  );
}

// Ranks and steps of a cell in words, and the exact numbers of the duration that it shows.
function factsOf(map: RankMap, measure: RankMapData["measure"], cell: number): { name: string; facts: Fact[] } {
  const [row, column] = [Math.floor(cell / map.columns), cell % map.columns];
  const ranks = valuesOf(map.ranks, map.ranksPerCell, row);
  const steps = valuesOf(map.steps, map.stepsPerCell, column);
  const count = map.durations[cell]!;
  if (count === 0) return { name: `Rank ${ranks}, step ${steps}`, facts: [{ title: "duration", value: null, unit: "time", text: "no such step" }] };
  const [rank, step] = [map.ranks[map.rank[cell]!]!, map.steps[map.step[cell]!]!];
  const [duration, median] = [map.duration[cell]!, medianOf(map, cell)];
  const facts: Fact[] = [
    { title: "rank", value: rank, unit: "number", text: String(rank) },
    { title: "step", value: step, unit: "number", text: String(step) },
    { title: measure === "own_ns" ? "without waiting" : "duration", value: duration, unit: "time" },
    { title: "median of the step", value: median, unit: "time" },
    { title: "compared", value: ratioOf(map, cell), unit: "double", text: changeText(duration, median) || "±0 %" },
  ];
  if (count > 1) {
    facts.push({ title: "longest of", value: count, unit: "number", text: `${countText(count)} durations` });
    facts.push({ title: "of ranks", value: ranks, unit: "text" }, { title: "of steps", value: steps, unit: "text" });
  }
  return { name: `Rank ${rank}, step ${step}`, facts };
}

function Picture({ map, measure, places }: { map: RankMap; measure: RankMapData["measure"]; places: RankPlaces }) {
  const { store } = usePage();
  const canvas = useRef<HTMLCanvasElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const size = useView(box, box);
  const colours = useColours();
  const stragglers = useTable("stragglers");
  const grid = useMemo(() => fitRankMap(map, size.width), [map, size.width]);
  const marked = useMemo(() => {
    const lists = (stragglers?.column("ranks")?.values ?? []).map((list) => String(list).split(",").map(Number));
    return rowsOfRanks(grid.map, new Set(lists.flat()));
  }, [grid, stragglers]);
  const [hovered, setHovered] = useState(-1);
  const [selected, setSelected] = useState(-1);
  const [pointer, setPointer] = useState<Point>({ x: 0, y: 0 });
  const [usesKeys, setUsesKeys] = useState(false);
  const height = heightOfGrid(grid);
  // Another width may join other cells.
  const chosen = selected < grid.map.durations.length ? selected : -1;

  useLayoutEffect(() => {
    return drawSoon(() => {
      if (canvas.current !== null && size.width > 0) drawRankMap(canvas.current, { grid, colours, marked, selected: chosen, hovered, width: size.width, height });
    });
  }, [grid, colours, marked, chosen, hovered, size.width, height]);

  const under = (event: MouseEvent) => {
    const corner = canvas.current!.getBoundingClientRect();
    return cellAt(grid, event.clientX - corner.left, event.clientY - corner.top);
  };
  const openCell = (cell: number) => {
    const place = cell < 0 || grid.map.durations[cell] === 0 ? null : places(grid.map.ranks[grid.map.rank[cell]!]!, grid.map.steps[grid.map.step[cell]!]!);
    if (place === null) return;
    store.set(timelineTarget(store.origin, place.range, place.rank), "push");
    document.getElementById("tab-timeline")?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === "Enter") openCell(chosen);
    else if (event.key === "Escape") setSelected(-1);
    else if (event.key === "m") setSelected(hottestCell(grid.map));
    else {
      const next = cellAfter(grid, chosen, event.key);
      if (next === null) return;
      setSelected(next);
    }
    setHovered(-1);
    setUsesKeys(true);
    event.preventDefault();
  };
  const placeOf = (cell: number): Point | null => {
    const corner = canvas.current?.getBoundingClientRect();
    if (corner === undefined) return null;
    const { x, y } = cornerOf(grid, cell);
    return { x: corner.left + x + grid.width / 2, y: corner.top + y + grid.height };
  };
  const tipped = hovered >= 0 ? hovered : usesKeys ? chosen : -1;
  const tip = useMemo(() => (tipped < 0 ? null : factsOf(grid.map, measure, tipped)), [grid, measure, tipped]);
  return (
    <>
      <Legend />
      <div
        ref={box}
        class="rank-picture"
        role="application"
        aria-label={kTitles[measure]}
        aria-describedby={tip === null ? "rank-keys" : "rank-tip rank-keys"}
        tabIndex={0}
        data-value={map.ranks.length * map.steps.length}
        onKeyDown={onKeyDown}
        onFocus={(event) => setUsesKeys(event.currentTarget.matches(":focus-visible"))}
        onBlur={() => setUsesKeys(false)}
      >
        <canvas
          ref={canvas}
          class={hovered >= 0 ? "over" : ""}
          style={{ height: `${height}px` }}
          onPointerMove={(event) => {
            setHovered(under(event));
            setPointer({ x: event.clientX, y: event.clientY });
            setUsesKeys(false);
          }}
          onPointerLeave={() => setHovered(-1)}
          onClick={(event) => setSelected(under(event))}
          onDblClick={(event) => openCell(under(event))}
        />
      </div>
      <p id="rank-keys" class="hint">
        Ranks from top to bottom, steps from left to right; ▶ stands beside stragglers.{" "}
        <span class="keys">Arrow keys move from cell to cell, m goes to the longest duration in comparison, Enter opens it in the timeline.</span>
      </p>
      <Joined grid={grid} />
      {tip !== null && <Tooltip key={tipped} id="rank-tip" name={tip.name} facts={tip.facts} place={() => (hovered >= 0 ? pointer : placeOf(tipped))} />}
      <CellDetails map={grid.map} measure={measure} cell={chosen} places={places} />
    </>
  );
}

function Legend() {
  return (
    <ul class="legend" aria-label="Colours: the duration compared with the median of the step">
      {kLegend.map((text, step) => (
        <li key={text}>
          <i class={`heat heat-${step}`} aria-hidden="true" />
          {text}
        </li>
      ))}
      <li>
        <i class="heat" aria-hidden="true" />
        no such step
      </li>
    </ul>
  );
}

// What a cell shows if it is of several ranks or steps.
function Joined({ grid }: { grid: RankGrid }) {
  const { ranksPerCell, stepsPerCell } = grid.map;
  if (ranksPerCell === 1 && stepsPerCell === 1) return null;
  return (
    <p class="hint">
      A cell has <Figure value={ranksPerCell} unit="number" /> {ranksPerCell === 1 ? "rank" : "ranks"} and <Figure value={stepsPerCell} unit="number" />{" "}
      {stepsPerCell === 1 ? "step" : "steps"}, and shows the longest duration of them in comparison with the median of its step.
    </p>
  );
}

const kFields: Record<string, string> = {
  rank: "rank", step: "step", duration: "duration_ns", "without waiting": "own_ns", "median of the step": "median_ns", compared: "ratio", "longest of": "durations", "of ranks": "ranks", "of steps": "steps",
};

function CellDetails({ map, measure, cell, places }: { map: RankMap; measure: RankMapData["measure"]; cell: number; places: RankPlaces }) {
  const hasDuration = cell >= 0 && map.durations[cell] !== 0;
  const { name, facts } = cell < 0 ? { name: "", facts: [] } : factsOf(map, measure, cell);
  const place = hasDuration ? places(map.ranks[map.rank[cell]!]!, map.steps[map.step[cell]!]!) : null;
  return (
    <section class="details" role="region" aria-label="Cell" aria-live="polite">
      {cell < 0 ? (
        <p class="hint keys">Select a cell to see its numbers.</p>
      ) : (
        <>
          <h2>{name}</h2>
          <dl>
            {facts.map((fact) => (
              <div key={fact.title}>
                <dt>{fact.title}</dt>
                <dd data-field={kFields[fact.title]} data-value={fact.value === null ? "" : String(fact.value)}>
                  <FactText fact={fact} />
                </dd>
              </div>
            ))}
          </dl>
          {place !== null && (
            <p>
              <TimelineLink range={place.range} rank={place.rank}>
                {place.range === null ? `Rank ${place.rank} in the timeline` : `${name} in the timeline`}
              </TimelineLink>
            </p>
          )}
          {hasDuration && place === null && <p class="hint">The page has no spans of this rank.</p>}
        </>
      )}
    </section>
  );
}
