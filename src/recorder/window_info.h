// The kWindowInfo block: the facts about a window outside of its chunks, as JSON text.
//
// Thread rule: any thread. REQUIRES for every text: the caller does not hold the window's mutex.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "recorder/registry.h"

namespace opscope {

// One thread's row.
struct ThreadFigures {
  uint32_t index = 0;
  uint64_t os_thread = 0;
  uint64_t logical_thread = 0;
  char name[32] = {};
  uint64_t recorded = 0;
  uint64_t dropped = 0;
  uint64_t chunks = 0;
};

// Fills in the identity; the caller adds the counts. REQUIRES: the mutex of the stream is held, or no other
// thread has the stream.
ThreadFigures IdentityOf(const StreamState& state);

// Sums of all threads that the window has forgotten, under index 0.
ThreadFigures FiguresOfForgotten(const Window& window);
bool HasForgotten(const Window& window);

void ReadProcessName(Window* window);

// Valid until the window is freed. Empty: memory is short. REQUIRES: the window is closed.
std::string_view WriteWindowInfo(Window* window);

// The same for the window's file. Empty: memory is short.
std::string FileInfoText(Window* window);

// For the beginning of a file that is recorded to: no threads yet, and the rate of the clock, because the
// recording may end without a second calibration. Empty: memory is short. REQUIRES: no other thread has the window.
std::string LiveInfoText(Window* window);
// One more block for a mapped file: members that were added since. Empty: memory is short.
std::string AddedMetadataText(const Window& window, std::string_view members);
std::string AddedOverheadText(Window* window);

// The same of a dump, with these threads and `about_dump` (members of a JSON object; may be empty).
// Empty: memory is short.
std::string DumpInfoText(Window* window, const ThreadFigures* threads, size_t count, std::string_view about_dump);

}  // namespace opscope
