// Reads requests for which an allocator had no memory. torch records them as "[OutOfMemory]" instants, whose members
// hold bytes and device.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/torch/out_of_memory.h"

#include <charconv>
#include <string_view>

#include "base/json_members.h"

namespace opscope {
namespace {

template <typename Number>
void ReadNumber(std::string_view members, std::string_view key, Number* number) {
  const std::string_view text = FindJsonMember(members, key);
  std::from_chars(text.data(), text.data() + text.size(), *number);
}

}  // namespace

OutOfMemory ReadOutOfMemory(const Trace& trace, uint32_t instant) {
  OutOfMemory request{.instant = instant};
  const std::string_view members = trace.text(trace.instants().extra[instant]);
  ReadNumber(members, "Bytes", &request.bytes);
  ReadNumber(members, "Device Type", &request.device_type);
  ReadNumber(members, "Device Id", &request.device);
  return request;
}

std::vector<OutOfMemory> FindOutOfMemory(const Trace& trace) {
  std::vector<OutOfMemory> found;
  const auto name = trace.FindString("[OutOfMemory]");
  const auto category = trace.FindString("cpu_instant_event");
  if (!name || !category) return found;
  const InstantColumns& instants = trace.instants();
  for (size_t i = 0; i < instants.size(); ++i) {
    if (instants.name[i] == *name && instants.category[i] == *category)
      found.push_back(ReadOutOfMemory(trace, static_cast<uint32_t>(i)));
  }
  return found;
}

}  // namespace opscope
