// The way from a Python callable to MegEngine's list of records leads through several objects whose layout is known
// only by inspection (native_layout.h). Each pointer is checked as an address and read by OwnMemory, which returns an
// error for memory that is not mapped; each object must look as expected (type, sizes) before the next pointer is
// followed.
// SPDX-License-Identifier: Apache-2.0
#include "sources/megengine/bundle.h"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cstring>

namespace opscope::megengine {
namespace {

constexpr uint64_t kLongestText = 1u << 20;
constexpr uint64_t kMaxThreads = 4096;
constexpr int64_t kEarliest = 1500000000000000000;  // 2017, nanoseconds; before MegEngine was

Error Unlike(const char* what) {
  return {ErrorCode::kUnsupported, std::string("what stop_profile() gave is not laid out as known: ") + what};
}

bool LooksAddressable(const void* pointer) {
  const auto bits = reinterpret_cast<uintptr_t>(pointer);
  return bits >= 4096 && bits % 8 == 0 && bits < uint64_t{1} << 47;
}

// The word behind a pointer that looks like one.
const void* Follow(const void* pointer, size_t offset, OwnMemory* memory) {
  const void* next = nullptr;
  if (!LooksAddressable(pointer)) return nullptr;
  return memory->Read(static_cast<const char*>(pointer) + offset, &next) ? next : nullptr;
}

bool ReadThreads(const NativeMap& map, OwnMemory* memory, FoundBundle* found) {
  if (map.size > kMaxThreads) return false;
  const void* at = map.first;
  for (uint64_t i = 0; i < map.size; ++i) {
    ThreadNode node;
    if (!LooksAddressable(at) || !memory->Read(at, &node)) return false;
    if (!ReadString(node.name, memory, &found->threads[node.thread])) return false;
    at = node.next;
  }
  return at == nullptr;
}

bool IsEvent(const NativeRecord& record, OwnMemory* memory) {
  Payload payload;
  if (!LooksAddressable(record.payload) || !memory->Read(record.payload, &payload)) return false;
  const void* type = Follow(payload.object, 0, memory);
  return type != nullptr && !ReadEventType(type, memory).empty();
}

}  // namespace

std::string ReadCString(const char* text, OwnMemory* memory) {
  std::string read;
  char piece[64];
  while (read.size() < 512) {
    // Up to the end of the page: what follows may be missing.
    const size_t to_page_end = 4096 - reinterpret_cast<uintptr_t>(text + read.size()) % 4096;
    const size_t bytes = std::min(sizeof(piece), to_page_end);
    if (!memory->Read(text + read.size(), piece, bytes)) return {};
    const auto* end = static_cast<const char*>(std::memchr(piece, '\0', bytes));
    read.append(piece, end != nullptr ? static_cast<size_t>(end - piece) : bytes);
    if (end != nullptr) return read;
  }
  return {};
}

std::string ReadEventType(const void* type, OwnMemory* memory) {
  const void* name = Follow(type, sizeof(void*), memory);
  const std::string text = name != nullptr ? ReadCString(static_cast<const char*>(name), memory) : std::string();
  if (!text.starts_with(kEventTypes) || !text.ends_with('E')) return {};
  size_t at = kEventTypes.size();
  while (at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0)
    ++at;
  return text.substr(at, text.size() - at - 1);
}

bool ReadString(NativeString string, OwnMemory* memory, std::string* text) {
  uint64_t head[3];
  if (!LooksAddressable(string.text) || !memory->Read(reinterpret_cast<const uint64_t*>(string.text) - 3, &head))
    return false;
  if (head[0] > kLongestText || head[1] < head[0] || head[1] > kLongestText * 4) return false;
  text->resize(head[0]);
  for (size_t at = 0; at < text->size(); at += 4096) {
    if (!memory->Read(string.text + at, text->data() + at, std::min<size_t>(4096, text->size() - at))) return false;
  }
  char last = 1;
  return memory->Read(string.text + head[0], &last, 1) && last == '\0';
}

Result<FoundBundle> FindBundle(const void* function_record, OwnMemory* memory) {
  const void* function = Follow(function_record, kFunctionInRecord, memory);
  if (function == nullptr) return Unlike("the function behind the callable");
  const void* closure = Follow(function, 0, memory);
  if (closure == nullptr) return Unlike("what the function has captured");
  const void* place = Follow(closure, 0, memory);
  if (place == nullptr) return Unlike("the records, or the callable was called before");
  Bundle bundle;
  if (!LooksAddressable(place) || !memory->Read(place, &bundle)) return Unlike("the bundle of records");
  FoundBundle found{.start = bundle.start, .threads = {}, .begin = bundle.begin, .end = bundle.end};
  if (bundle.start < kEarliest) return Unlike("the time of the start");
  if (!ReadThreads(bundle.threads, memory, &found)) return Unlike("the names of the threads");
  if (bundle.options.size > kMaxThreads) return Unlike("the options");
  const auto bytes = reinterpret_cast<uintptr_t>(bundle.end) - reinterpret_cast<uintptr_t>(bundle.begin);
  if (bundle.begin > bundle.end || bundle.end > bundle.capacity || bytes % sizeof(NativeRecord) != 0) {
    return Unlike("the list of records");
  }
  if (bundle.begin == bundle.end) return found;
  NativeRecord first, last;
  if (!LooksAddressable(bundle.begin) || !memory->Read(bundle.begin, &first) || !memory->Read(bundle.end - 1, &last)) {
    return Unlike("the list of records");
  }
  if (first.id > last.id || found.threads.count(first.thread) == 0 || found.threads.count(last.thread) == 0) {
    return Unlike("the records' numbers and threads");
  }
  if (!IsEvent(first, memory) || !IsEvent(last, memory)) return Unlike("the type of a record");
  return found;
}

void FreeBundle(const void* function_record, OwnMemory* memory) {
  auto* const place = const_cast<void*>(Follow(function_record, kFunctionInRecord, memory));
  NativeFunction function;
  if (place == nullptr || !memory->Read(place, &function) || function.manager == nullptr) return;
  Dl_info manager = {}, invoker = {};
  if (dladdr(function.manager, &manager) == 0 || dladdr(function.invoker, &invoker) == 0) return;
  if (manager.dli_fbase != invoker.dli_fbase) return;
  auto* const native = static_cast<NativeFunction*>(place);
  const auto manage = reinterpret_cast<NativeFunction::Manager>(reinterpret_cast<uintptr_t>(function.manager));
  manage(native->storage, native->storage, NativeFunction::kDestroy);
  native->manager = native->invoker = nullptr;
}

}  // namespace opscope::megengine
