// What the two libraries of the fake Paddle share: Paddle's layouts. They are deliberately a second copy of those in
// src/sources/paddle, so that a mistake in one of the copies fails a test.
//
// Thread rule: one thread records at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <deque>
#include <string>
#include <vector>

namespace fake_paddle {

struct Range {
  bool is_enabled, is_pushed;
  std::string* name;
  const char* static_name;
  uint64_t start_ns;
  uint32_t role, type;
  std::string* attributes;
  bool is_finished;
};
static_assert(sizeof(Range) == 0x38);

struct Place {
  int8_t device, type;
  uint8_t padding[6];
  uint64_t custom_type;
};

struct Event {
  const char* name;
  uint64_t start_ns, end_ns;
  uint32_t role, type;
  const char* attributes;
};
struct ThreadEvents {
  std::string name;
  uint64_t id;
  std::vector<Event> events;
};
struct HostEvents {
  std::string name;
  uint64_t id;
  std::vector<ThreadEvents> threads;
};

struct Recorder {
  std::vector<Event> events;
  std::deque<std::string> names;
  uint64_t disabled_ns = 0, gathered_ns = 0;  // times of these events, by SteadyNs()
};

inline uint64_t SteadyNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000u + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace fake_paddle
