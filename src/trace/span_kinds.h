// Kinds of spans by their formats' names for them: the table that docs/reference/span_kinds.md shows.
//
// Thread rule: pure functions, but SpanKindFinder (one thread at a time).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "opscope/trace.h"

namespace opscope {

// Category of the ranges that importers make for steps, if the tool has no range per step.
inline constexpr std::string_view kStepCategory = "profiler_step";

struct KindOfText {
  std::string_view text;
  SpanKind kind = SpanKind::kOther;
};
// Categories that determine the kind, and prefixes of range names that do.
[[nodiscard]] std::span<const KindOfText> KnownCategories();
[[nodiscard]] std::span<const KindOfText> KnownRanges();

// The kind of a category; kOther if it is unknown.
[[nodiscard]] SpanKind KindOfCategory(std::string_view category);

// Refines the kind by the span's name, for Python calls and for ranges that a framework's Python code opens.
[[nodiscard]] SpanKind KindOfName(SpanKind of_category, std::string_view name);

// Looks up the kinds of a trace's spans; caches the result for each category and name.
class SpanKindFinder {
 public:
  // `texts`: number of strings of the trace.
  explicit SpanKindFinder(size_t texts) : of_category_(texts, kUnknown) {}

  // text(StringId): one of the strings.
  template <typename Text>
  SpanKind Of(StringId category, StringId name, uint8_t flags, const Text& text) {
    if ((flags & (span_flags::kStep | span_flags::kNative)) != 0)
      return (flags & span_flags::kStep) != 0 ? SpanKind::kStep : SpanKind::kUserRange;
    if (category != last_category_) {  // neighbours often share it
      if (Row(category) >= of_category_.size()) return SpanKind::kOther;
      uint8_t& known = of_category_[Row(category)];
      if (known == kUnknown) known = static_cast<uint8_t>(KindOfCategory(text(category)));
      last_category_ = category, last_kind_ = static_cast<SpanKind>(known);
    }
    const SpanKind kind = last_kind_;
    if (!depends_on_name()) return kind;
    if (Row(name) >= of_category_.size()) return SpanKind::kOther;
    std::vector<uint8_t>& of_name = kind == SpanKind::kUserRange ? of_range_ : of_call_;
    if (of_name.empty()) of_name.resize(of_category_.size(), kUnknown);
    uint8_t& known = of_name[Row(name)];
    if (known == kUnknown) known = static_cast<uint8_t>(KindOfName(kind, text(name)));
    return static_cast<SpanKind>(known);
  }

  // False if all spans with the category of the last Of, and without flags, have one kind.
  bool depends_on_name() const { return last_kind_ == SpanKind::kPythonFunction || last_kind_ == SpanKind::kUserRange; }

 private:
  static constexpr uint8_t kUnknown = 0xff;
  StringId last_category_ = StringId::kNone;
  SpanKind last_kind_ = SpanKind::kOther;
  std::vector<uint8_t> of_category_;
  std::vector<uint8_t> of_call_, of_range_;  // by name; empty until their first use
};

}  // namespace opscope
