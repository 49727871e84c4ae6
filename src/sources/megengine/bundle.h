// Finds the records of a window behind the callable that MegEngine's stop_profile() returns. Every address on the way
// is first read as memory that may be unmapped (own_memory.h), and its content is checked.
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

// The mangled type of every event begins so; the length of its name, the name and an E follow.
inline constexpr std::string_view kEventTypes = "N3mgb10imperative8profiler";

// The text of a C string; "" if it cannot be read or is too long for a name.
[[nodiscard]] std::string ReadCString(const char* text, OwnMemory* memory);
// "OpDispatchEvent" for the std::type_info of an event; "" for other types.
[[nodiscard]] std::string ReadEventType(const void* type, OwnMemory* memory);
// False: not a string, or too long for MegEngine's.
[[nodiscard]] bool ReadString(NativeString string, OwnMemory* memory, std::string* text);

// The facts of a bundle. MegEngine still owns the records.
struct FoundBundle {
  int64_t start = 0;
  std::unordered_map<uint64_t, std::string> threads;
  const NativeRecord* begin = nullptr;
  const NativeRecord* end = nullptr;
};

// function_record: the pointer of the capsule in the callable's __self__. kUnsupported: the layout is unknown, or the
// callable was called before.
[[nodiscard]] Result<FoundBundle> FindBundle(const void* function_record, OwnMemory* memory);

// Frees the records, which takes as long as a walk over them. Otherwise the destructor of the callable would free them
// with the GIL held. Does nothing if the function is not MegEngine's. REQUIRES: FindBundle has found the bundle, and
// the program does not call the callable any more.
void FreeBundle(const void* function_record, OwnMemory* memory);

}  // namespace opscope::megengine
