// Finds the records of a window behind the callable that MegEngine's stop_profile() returns. Nothing is trusted before
// it was read as memory that may not be there, and looks like what it should be.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "opscope/result.h"
#include "sources/megengine/native_layout.h"
#include "sources/megengine/own_memory.h"

namespace opscope::megengine {

// All types of events are named so, then the length of the name, the name, an E.
inline constexpr std::string_view kEventTypes = "N3mgb10imperative8profiler";

// The text of a C string, "" where it is none: it is not there, or longer than a name is.
[[nodiscard]] std::string ReadCString(const char* text, OwnMemory* memory);
// "OpDispatchEvent" of the type of an object, "" where it is no event.
[[nodiscard]] std::string ReadEventType(const void* type, OwnMemory* memory);
// False: not a string, or a longer one than anybody writes.
[[nodiscard]] bool ReadString(NativeString string, OwnMemory* memory, std::string* text);

// What the bundle says of itself; its records are still MegEngine's.
struct FoundBundle {
  int64_t start = 0;
  std::unordered_map<uint64_t, std::string> threads;
  const NativeRecord* begin = nullptr;
  const NativeRecord* end = nullptr;
};

// function_record: what the capsule in the callable's __self__ points to. kUnsupported: what is there is not what this
// version knows, or the callable was called before.
[[nodiscard]] Result<FoundBundle> FindBundle(const void* function_record, OwnMemory* memory);

// Frees the records, which takes as long as it took to walk over them, so that the callable, with which they would go,
// is dropped at once: Python lets nothing else run meanwhile. Nothing where the function is not one of MegEngine's.
// REQUIRES: FindBundle has found it, and the callable is not called any more.
void FreeBundle(const void* function_record, OwnMemory* memory);

}  // namespace opscope::megengine
