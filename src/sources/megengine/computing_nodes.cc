// A computing node has two locators, the logical one of the program and the physical one. Their position in the object
// differs by the kind of node, so both are searched for: two adjacent triples of type, device and stream that are
// plausible and agree with each other.
// SPDX-License-Identifier: Apache-2.0
#include "sources/megengine/computing_nodes.h"

#include <cstdint>
#include <cstring>

namespace opscope::megengine {
namespace {

constexpr int32_t kCpuDefault = -1024, kMultithreadDefault = -1025, kMultithread = 11;
constexpr int32_t kMaxDevices = 4096;

const char* TypeName(int32_t type) {
  switch (type) {
    case 0:
      return "xpu";
    case 1:
      return "gpu";
    case 2:
      return "cpu";
    case 3:
      return "cambricon";
    case 8:
      return "rocm";
    case 9:
      return "atlas";
    case kMultithread:
      return "multithread";
    default:
      return nullptr;
  }
}

std::string StreamText(int32_t stream) {
  if (stream == -1) return "COPY";
  if (stream == -2) return "REMOTE_SEND";
  if (stream == -3) return "LOOP_SWAP";
  return std::to_string(stream);
}

bool IsDevice(int32_t device) {
  return (device >= -1 && device < kMaxDevices) || device == kCpuDefault || device == kMultithreadDefault;
}
bool IsLocator(const Locator& locator) {
  return TypeName(locator.type) != nullptr && IsDevice(locator.device) && locator.stream >= -3 &&
         locator.stream < kMaxDevices;
}
// A resolved locator: it has a type and the number of a device.
bool IsPhysical(const Locator& locator) {
  return IsLocator(locator) && locator.type != 0 && locator.device != -1;
}

}  // namespace

std::string LocatorText(const Locator& locator) {
  if (!IsLocator(locator)) return {};
  if (locator.device == kCpuDefault) return "cpu:default";
  if (locator.device == kMultithreadDefault) return "multithread:default:" + StreamText(locator.stream);
  const std::string device = locator.device == -1 ? "x" : std::to_string(locator.device);
  if (locator.type == kMultithread)
    return "multithread" + StreamText(locator.stream) + ":" + StreamText(locator.device);
  return TypeName(locator.type) + device + ":" + StreamText(locator.stream);
}

// The two locators are adjacent, at an offset that depends on the kind of the node. They have the same stream, and the
// same type unless the program left the type open; other numbers in the object do not match like this.
std::string NodeNames(const void* node, OwnMemory* memory) {
  constexpr size_t kBytes = 2048;
  char bytes[kBytes] = {};
  if (node == nullptr || !memory->Read(node, bytes, sizeof(bytes))) return "invalid invalid";
  for (size_t at = 0; at + 2 * sizeof(Locator) <= sizeof(bytes); at += 4) {
    Locator both[2];
    std::memcpy(both, bytes + at, sizeof(both));
    if (!IsPhysical(both[0]) || !IsLocator(both[1]) || both[0].stream != both[1].stream) continue;
    if (both[1].type != 0 && both[1].type != both[0].type) continue;
    return LocatorText(both[0]) + " " + LocatorText(both[1]);
  }
  return "invalid invalid";
}

}  // namespace opscope::megengine
