// By what the rows of Operators are grouped, as `opscope summary --group-by name,KEY` groups them.
// SPDX-License-Identifier: Apache-2.0
import type { TableName } from "./document.ts";

export const kGroups = ["name", "shape", "stack", "module"] as const;
export type Group = (typeof kGroups)[number];

export const kGroupTitles: Record<Group, string> = {
  name: "Name",
  shape: "Input shapes",
  stack: "Call stack",
  module: "Module",
};

export const kGroupTables: Record<Group, TableName> = {
  name: "operators",
  shape: "operators_by_shape",
  stack: "operators_by_stack",
  module: "operators_by_module",
};
