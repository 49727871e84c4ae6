// SPDX-License-Identifier: Apache-2.0
#include "sources/paddle/route.h"

#include <array>
#include <atomic>
#include <cstdlib>
#include <forward_list>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "sources/got/patched_entries.h"
#include "sources/paddle/hooks.h"
#include "sources/paddle/paddle_library.h"
#include "sources/paddle/stand_ins.h"

namespace opscope {
namespace {

using namespace paddle_layout;

constexpr const char* kNotTried = "this library was not tried with its Paddle";
constinit std::array<std::atomic<const char*>, kPaddleParts> verdicts{kNotTried, kNotTried, kNotTried, kNotTried,
                                                                      kNotTried, kNotTried, kNotTried};

constexpr PaddlePart PartOf(size_t symbol) {
  return symbol == kMemory                                 ? PaddlePart::kMemory
         : symbol == kOpInfo || symbol == kOpInfoIsEnabled ? PaddlePart::kShapes
                                                           : PaddlePart::kSlots;
}

// With SlotLock(). Never destroyed.
struct Redirection {
  std::vector<CallSlot> slots;  // numbered as kPaddleSymbols
  bool is_searched = false;
  uint32_t in_core = 0;  // symbols that libphi_core.so calls through slots, a bit each
  uint32_t pointed = 0;  // parts
  bool ends_point = false;
  PointedSlots until_last_window;
  PointedSlots for_ever;          // of End
  const char* refused = nullptr;  // why they will not be pointed again in this process
};
Redirection& TheRedirection() {
  static Redirection& redirection = *new Redirection;
  return redirection;
}

// REQUIRES: SlotLock() is held, Paddle's libraries are there.
Redirection& FindSlots() {
  Redirection& redirection = TheRedirection();
  if (redirection.is_searched) return redirection;
  redirection.slots.clear();
  redirection.in_core = 0;
  for (const char* library : kPaddleLibraries) {
    const std::vector<CallSlot> found = FindCallSlots(library, kPaddleSymbols);
    redirection.slots.insert(redirection.slots.end(), found.begin(), found.end());
    if (library != kPaddleLibraries[0]) continue;
    for (const CallSlot& slot : found)
      redirection.in_core |= 1u << slot.symbol;
  }
  redirection.is_searched = true;
  return redirection;
}

// Null: libphi_core.so calls all functions of the part through slots.
const char* WhyNotBySlots(PaddlePart part) {
  const uint32_t in_core = FindSlots().in_core;
  for (size_t symbol = 0; symbol < kSymbols; ++symbol) {
    if (PartOf(symbol) == part && (in_core >> symbol & 1u) == 0) {
      return "libphi_core.so calls the functions of its profiler in another way than by slots";
    }
  }
  return nullptr;
}

struct Way {
  std::string_view name;
  PaddleWay way;
  PaddlePart part;
  const char* is_forced;
};
constexpr Way kWays[] = {
    {"slots", PaddleWay::kSlots, PaddlePart::kSlots, ""},
    {"drain", PaddleWay::kDrain, PaddlePart::kDrain, "OPSCOPE_PADDLE_ROUTE=drain"},
    {"native", PaddleWay::kNative, PaddlePart::kNative, "OPSCOPE_PADDLE_ROUTE=native"},
    {"wrappers", PaddleWay::kWrappers, PaddlePart::kWrappers, "OPSCOPE_PADDLE_ROUTE=wrappers"},
};

// Shapes, attributes and memory come by the slots.
PaddleWay WayOf(PaddlePart part) {
  for (const Way& way : kWays) {
    if (way.part == part) return way.way;
  }
  return PaddleWay::kSlots;
}

// Null: the environment leaves the choice.
const char* WhyForbidden(PaddlePart part) {
  const char* value = std::getenv("OPSCOPE_PADDLE_ROUTE");
  const std::string_view wanted = value == nullptr ? "" : value;
  if (wanted.empty()) return nullptr;
  for (const Way& way : kWays) {
    if (wanted == way.name) return WayOf(part) < way.way ? way.is_forced : nullptr;
  }
  return WayOf(part) == PaddleWay::kSlots
             ? "OPSCOPE_PADDLE_ROUTE has a value that says nothing, known are: drain, native, wrappers"
             : nullptr;
}

bool IsFilled(const char* sentence) {
  return sentence != nullptr && *sentence != '\0';
}

__attribute__((constructor)) void MakeRedirection() {
  TheRedirection();  // before a child of a fork can ask for it
}

}  // namespace

void TakeVerdict(PaddlePart part, const char* sentence) {
  static constinit Mutex taking;
  static std::forward_list<std::string>& taken = *new std::forward_list<std::string>;  // who reads one may be late
  const MutexLock lock(taking);
  std::atomic<const char*>& verdict = verdicts[static_cast<size_t>(part)];
  if (verdict.load() != std::string_view(sentence)) verdict.store(taken.emplace_front(sentence).c_str());
}

const char* WhyNot(PaddlePart part) {
  if (const char* forbidden = WhyForbidden(part)) return forbidden;
  if (const char* verdict = verdicts[static_cast<size_t>(part)].load(); IsFilled(verdict)) return verdict;
  if (part == PaddlePart::kNative || part == PaddlePart::kWrappers) {
    return HasStandIn(part) ? nullptr : "nobody in this process stands in for the slots";
  }
  const MutexLock lock(SlotLock());
  if (const char* missing = FindPaddle(part)) return missing;
  if (part == PaddlePart::kDrain) return nullptr;
  if (const char* refused = TheRedirection().refused) return refused;
  return WhyNotBySlots(part);
}

PaddleWay ChooseWay() {
  for (const Way& way : kWays) {
    if (WhyNot(way.part) == nullptr) return way.way;
  }
  return PaddleWay::kNone;
}

std::string RouteText(PaddleWay way) {
  const char* why_not_slots = WhyNot(PaddlePart::kSlots);
  if (way == PaddleWay::kSlots || why_not_slots == nullptr) return "slots";
  std::string text = "none";
  for (const Way& known : kWays) {
    if (known.way == way) text = known.name;
  }
  return text.append(": ").append(why_not_slots);
}

const char* PointSlots(uint32_t parts) {
  Redirection& redirection = FindSlots();
  const uint32_t missing = parts & ~redirection.pointed;
  if (missing == 0) return nullptr;
  const std::array<void*, kSymbols> hooks = PaddleHooks();
  for (const CallSlot& slot : redirection.slots) {
    if ((missing & BitOf(PartOf(slot.symbol))) == 0 || (slot.symbol == kEnd && redirection.ends_point)) continue;
    PointedSlots& pointed = slot.symbol == kEnd ? redirection.for_ever : redirection.until_last_window;
    if (pointed.Point(slot, hooks[slot.symbol])) continue;
    redirection.until_last_window.PutBack();
    redirection.pointed = 0;
    return redirection.refused = "a slot of Paddle's libraries cannot be written";
  }
  redirection.pointed |= missing;
  redirection.ends_point |= (missing & BitOf(PaddlePart::kSlots)) != 0;
  return nullptr;
}

void PutSlotsBack() {
  Redirection& redirection = TheRedirection();
  redirection.until_last_window.PutBack();
  redirection.pointed = 0;
}

}  // namespace opscope
