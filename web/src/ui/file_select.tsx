// The choice of a trace, where `opscope view` serves several: by run, worker and window in a log folder, else by file.
// SPDX-License-Identifier: Apache-2.0
import { useMemo } from "preact/hooks";
import { type LogRun, type LogWorker, runsOf } from "../model/log_folder.ts";
import { visibleText } from "../model/numbers.ts";
import type { ServedFile } from "../model/server.ts";

// `chosen`: id of the file that is shown; "": none is.
export function FileSelect({ files, chosen, open }: { files: ServedFile[]; chosen: string; open: (id: string) => void }) {
  const runs = useMemo(() => runsOf(files), [files]);
  if (files.length < 2) return null;
  // While nothing is shown, one list has all: a choice in it is always a change.
  if (runs !== null && chosen !== "") return <LogSelects runs={runs} chosen={chosen} open={open} />;
  return <Select label="File" value={chosen} options={[...placeholder(chosen), ...files.map(({ id, name }): Option => [id, name])]} onChange={open} />;
}

// The entry that is selected while no file is shown.
const placeholder = (chosen: string): Option[] => (chosen === "" ? [["", "Choose a file"]] : []);

const hasFile = (worker: LogWorker, id: string) => worker.windows.some((window) => window.id === id);

// Another run shows the same worker and window of it, where it has them.
function LogSelects({ runs, chosen, open }: { runs: LogRun[]; chosen: string; open: (id: string) => void }) {
  const run = runs.find(({ workers }) => workers.some((worker) => hasFile(worker, chosen))) ?? runs[0]!;
  const worker = run.workers.find((each) => hasFile(each, chosen)) ?? run.workers[0]!;
  const at = worker.windows.findIndex((window) => window.id === chosen);
  const openWorker = (to: LogWorker) => open((to.windows[at] ?? to.windows[0]!).id);
  const openRun = (to: LogRun) => openWorker(to.workers.find(({ name }) => name === worker.name) ?? to.workers[0]!);
  return (
    <>
      {runs.length > 1 && (
        <Select
          label="Run"
          value={run.name}
          options={runs.map(({ name }) => [name, name || "."])}
          onChange={(name) => openRun(runs.find((each) => each.name === name)!)}
        />
      )}
      <Select
        label="Worker"
        value={worker.name}
        options={run.workers.map(({ name }) => [name, name])}
        onChange={(name) => openWorker(run.workers.find((each) => each.name === name)!)}
      />
      {worker.windows.length > 1 && (
        <Select label="Window" value={chosen} options={worker.windows.map(({ id, text }) => [id, text])} onChange={open} />
      )}
    </>
  );
}

type Option = [value: string, text: string];

interface SelectProps {
  label: string;
  value: string;
  options: Option[];
  onChange: (value: string) => void;
}

function Select({ label, value, options, onChange }: SelectProps) {
  return (
    <select class="file" aria-label={label} title={label} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      {options.map(([each, text]) => (
        <option key={each} value={each}>
          {visibleText(text)}
        </option>
      ))}
    </select>
  );
}
