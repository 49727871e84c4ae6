// Patching Paddle's GOT entries. They are restored after the last window, except those of RecordEvent::End: a hook that
// began a range marks it, and only the hook of End knows the mark. So End stays patched for the life of the process.
// SPDX-License-Identifier: Apache-2.0
#include "sources/paddle/capture_mode.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <forward_list>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "sources/got/patched_entries.h"
#include "sources/paddle/fallback_recorders.h"
#include "sources/paddle/hooks.h"
#include "sources/paddle/paddle_library.h"

namespace opscope {
namespace {

using namespace paddle_layout;

constexpr const char* kNotProbed = "this library was not tried with its Paddle";
constinit std::array<std::atomic<const char*>, kPaddleParts> probe_results{
    kNotProbed, kNotProbed, kNotProbed, kNotProbed, kNotProbed, kNotProbed, kNotProbed};

constexpr PaddlePart PartOf(size_t symbol) {
  return symbol == kMemory                                 ? PaddlePart::kMemory
         : symbol == kOpInfo || symbol == kOpInfoIsEnabled ? PaddlePart::kShapes
                                                           : PaddlePart::kHooks;
}

// Guarded by GotLock(). Never destroyed.
struct Patches {
  std::vector<GotEntry> entries;  // numbered as kPaddleSymbols
  bool is_searched = false;
  uint32_t in_core = 0;  // symbols that libphi_core.so calls through its GOT, one bit each
  uint32_t patched = 0;  // parts
  bool is_end_patched = false;
  PatchedEntries until_last_window;
  PatchedEntries for_ever;        // of End
  const char* refused = nullptr;  // why this process must not patch them again; null: it may
};
Patches& ThePatches() {
  static Patches& patches = *new Patches;
  return patches;
}

// REQUIRES: GotLock() is held, Paddle's libraries are there.
Patches& FindEntries() {
  Patches& patches = ThePatches();
  if (patches.is_searched) return patches;
  patches.entries.clear();
  patches.in_core = 0;
  for (const char* library : kPaddleLibraries) {
    const std::vector<GotEntry> found = FindGotEntries(library, kPaddleSymbols);
    patches.entries.insert(patches.entries.end(), found.begin(), found.end());
    if (library != kPaddleLibraries[0]) continue;
    for (const GotEntry& entry : found)
      patches.in_core |= 1u << entry.symbol;
  }
  patches.is_searched = true;
  return patches;
}

// Null: libphi_core.so calls all functions of the part through its GOT.
const char* WhyNotByHooks(PaddlePart part) {
  const uint32_t in_core = FindEntries().in_core;
  for (size_t symbol = 0; symbol < kSymbols; ++symbol) {
    if (PartOf(symbol) == part && (in_core >> symbol & 1u) == 0) {
      return "libphi_core.so does not call its profiler's functions through GOT entries";
    }
  }
  return nullptr;
}

struct Mode {
  std::string_view name;
  PaddleMode mode;
  PaddlePart part;
  const char* is_forced;
};
constexpr Mode kModes[] = {
    {"hooks", PaddleMode::kHooks, PaddlePart::kHooks, ""},
    {"drain", PaddleMode::kDrain, PaddlePart::kDrain, "OPSCOPE_PADDLE_ROUTE=drain"},
    {"native", PaddleMode::kNative, PaddlePart::kNative, "OPSCOPE_PADDLE_ROUTE=native"},
    {"wrappers", PaddleMode::kWrappers, PaddlePart::kWrappers, "OPSCOPE_PADDLE_ROUTE=wrappers"},
};

// Shapes, attributes and memory are recorded by hooks alone.
PaddleMode ModeOf(PaddlePart part) {
  for (const Mode& mode : kModes) {
    if (mode.part == part) return mode.mode;
  }
  return PaddleMode::kHooks;
}

// Null: the environment does not forbid the part.
const char* WhyForbidden(PaddlePart part) {
  const char* value = std::getenv("OPSCOPE_PADDLE_ROUTE");
  const std::string_view wanted = value == nullptr ? "" : value;
  if (wanted.empty()) return nullptr;
  for (const Mode& mode : kModes) {
    if (wanted == mode.name) return ModeOf(part) < mode.mode ? mode.is_forced : nullptr;
  }
  return ModeOf(part) == PaddleMode::kHooks
             ? "OPSCOPE_PADDLE_ROUTE: unknown value; the known ones are 'drain', 'native' and 'wrappers'"
             : nullptr;
}

__attribute__((constructor)) void ConstructPatches() {
  ThePatches();  // constructed before a forked child can use it
}

}  // namespace

void SetProbeResult(PaddlePart part, const char* sentence) {
  static constinit Mutex mutex;
  static auto& sentences = *new std::forward_list<std::string>;  // never freed: readers take no lock
  const MutexLock lock(mutex);
  std::atomic<const char*>& probe_result = probe_results[static_cast<size_t>(part)];
  if (probe_result.load() != std::string_view(sentence)) probe_result.store(sentences.emplace_front(sentence).c_str());
}

const char* WhyNot(PaddlePart part) {
  if (const char* forbidden = WhyForbidden(part)) return forbidden;
  if (const char* complaint = probe_results[static_cast<size_t>(part)].load(); *complaint != '\0') return complaint;
  if (part == PaddlePart::kNative || part == PaddlePart::kWrappers) {
    return HasFallback(part) ? nullptr : "no fallback recorder is installed";
  }
  const MutexLock lock(GotLock());
  if (const char* missing = FindPaddle(part)) return missing;
  if (part == PaddlePart::kDrain) return nullptr;
  if (const char* refused = ThePatches().refused) return refused;
  return WhyNotByHooks(part);
}

PaddleMode ChooseMode() {
  for (const Mode& mode : kModes) {
    if (WhyNot(mode.part) == nullptr) return mode.mode;
  }
  return PaddleMode::kNone;
}

std::string ModeText(PaddleMode mode) {
  const char* why_not_hooks = WhyNot(PaddlePart::kHooks);
  if (mode == PaddleMode::kHooks || why_not_hooks == nullptr) return "hooks";
  std::string text = "none";
  for (const Mode& known : kModes) {
    if (known.mode == mode) text = known.name;
  }
  return text.append(": ").append(why_not_hooks);
}

const char* PatchEntries(uint32_t parts) {
  Patches& patches = FindEntries();
  const uint32_t missing = parts & ~patches.patched;
  if (missing == 0) return nullptr;
  const std::array<void*, kSymbols> hooks = PaddleHooks();
  for (const GotEntry& entry : patches.entries) {
    if ((missing & BitOf(PartOf(entry.symbol))) == 0 || (entry.symbol == kEnd && patches.is_end_patched)) continue;
    PatchedEntries& patched = entry.symbol == kEnd ? patches.for_ever : patches.until_last_window;
    if (patched.Patch(entry, hooks[entry.symbol])) continue;
    patches.until_last_window.Restore();
    patches.patched = 0;
    return patches.refused = "a GOT entry of Paddle's libraries cannot be written";
  }
  patches.patched |= missing;
  patches.is_end_patched |= (missing & BitOf(PaddlePart::kHooks)) != 0;
  return nullptr;
}

void RestoreEntries() {
  Patches& patches = ThePatches();
  patches.until_last_window.Restore();
  patches.patched = 0;
}

}  // namespace opscope
