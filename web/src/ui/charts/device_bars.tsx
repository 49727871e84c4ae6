// How busy each device was: computation, communication, copies and idle time as a bar per device.
// SPDX-License-Identifier: Apache-2.0
import type { Value } from "../../model/numbers.ts";
import { useTable } from "../document_table.tsx";
import { StackedBar } from "./stacked_bar.tsx";

// "Rank 3, device 0"; below 0 or null: unknown.
export function deviceName(rank: Value, device: Value): string {
  const [ofRank, ofDevice] = [rank, device].map((number) => (number === null || Number(number) < 0 ? null : String(number)));
  const name = ofDevice === null ? "device" : `device ${ofDevice}`;
  return ofRank === null ? name.replace("d", "D") : `Rank ${ofRank}, ${name}`;
}

export function DeviceBars() {
  const table = useTable("devices");
  if (table === null) return null;
  const cell = (key: string, row: number) => table.column(key)?.values[row] ?? null;
  const value = (key: string, row: number) => Number(cell(key, row) ?? 0);
  const rows = Array.from({ length: table.size }, (_, row) => row).filter((row) => table.column("stream")?.values[row] === "all");
  return (
    <>
      {rows.map((row) => {
        const busy = value("busy_ns", row);
        const compute = value("compute_ns", row);
        const communication = value("exposed_communication_ns", row);
        const parts = [
          { name: "Compute", value: compute, hue: 2 },
          { name: "Communication beside no computation", value: communication, hue: 5 },
          { name: "Copies and sets beside no kernel", value: Math.max(0, busy - compute - communication), hue: 1 },
          { name: "Idle", value: value("idle_ns", row), hue: 7 },
        ];
        const title = `${deviceName(cell("rank", row), cell("device", row))}, busy and idle`;
        return <StackedBar key={row} title={title} parts={parts} whole={busy + value("idle_ns", row)} unit="time" />;
      })}
    </>
  );
}
