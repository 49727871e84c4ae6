// SPDX-License-Identifier: Apache-2.0
import { expect, test } from "vitest";
import { deviceName } from "./device_bars.tsx";

test("a device is named by what is known of it", () => {
  const names = [deviceName(3, 0), deviceName(-1, 1), deviceName(null, -1), deviceName(2, -1)];
  expect(names).toEqual(["Rank 3, device 0", "Device 1", "Device", "Rank 2, device"]);
});
