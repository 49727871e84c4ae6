// How busy each device was: computation, communication, copies and idle time as a bar per device.
// SPDX-License-Identifier: Apache-2.0
import { useTable } from "../document_table.tsx";
import { StackedBar } from "./stacked_bar.tsx";

export function DeviceBars() {
  const table = useTable("devices");
  if (table === null) return null;
  const value = (key: string, row: number) => Number(table.column(key)?.values[row] ?? 0);
  const rows = Array.from({ length: table.size }, (_, row) => row).filter((row) => table.column("stream")?.values[row] === "all");
  return (
    <>
      {rows.map((row) => {
        const rank = value("rank", row);
        const busy = value("busy_ns", row);
        const compute = value("compute_ns", row);
        const communication = value("exposed_communication_ns", row);
        const parts = [
          { name: "Compute", value: compute, hue: 2 },
          { name: "Communication beside no computation", value: communication, hue: 5 },
          { name: "Copies and sets beside no kernel", value: Math.max(0, busy - compute - communication), hue: 1 },
          { name: "Idle", value: value("idle_ns", row), hue: 7 },
        ];
        const title = `${table.column("rank") !== undefined && rank >= 0 ? `Rank ${rank}, device` : "Device"} ${value("device", row)}, busy and idle`;
        return <StackedBar key={row} title={title} parts={parts} whole={busy + value("idle_ns", row)} unit="time" />;
      })}
    </>
  );
}
