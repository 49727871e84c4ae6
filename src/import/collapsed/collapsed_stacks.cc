// Collapsed stacks, the lines that flamegraph.pl reads: frames from the root on, a blank, how often the stack was seen.
//
//   main;train;matmul 12            a.  [main: 15                                  ]
//   main;load 3                         [train: 12               ][load: 3         ]
//                                       [matmul: 12              ]
//
// There are no times in them. They become one track with the flame graph of all lines on it, equal frames of one caller
// joined in the order in which they first come, one nanosecond per count: total and self of a name are its counts.
//
// Differential ones, as FlameGraph's difffolded.pl writes them, have two counts in each line, of a profile before and
// one after: each is a flame graph on a track of its own, with the stacks that it counts.
//
//   main;load 3 5                       before [main: 3 ]      after [main: 5     ]
//
// The stacks are a tree by (caller, name), numbered as they come. Files in any order give one span per frame and
// caller, where spans line by line would give one per frame and line.
// SPDX-License-Identifier: Apache-2.0
#include <tsl/robin_map.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "import/collapsed/importer.h"
#include "import/text/json_number.h"
#include "import/text/malformed.h"

namespace opscope {
namespace {

constexpr size_t kDeepest = 60'000;    // depths of spans are 16-bit numbers
constexpr uint64_t kMost = kLatestNs;  // of all counts
constexpr int kLinesLookedAt = 32;
constexpr size_t kLookedAt = size_t{1} << 20;  // decides whether stacks are differential

struct StackLine {
  std::string_view frames;
  uint64_t count = 0;
  bool is_whole_number = true;
  uint64_t count_before = 0;  // of differential stacks; `count` is that after
};

// "a;b;c 12", also with decimals, which some tools write. False: it is no such line.
bool ParseLine(std::string_view line, StackLine* stack) {
  const size_t blank = line.rfind(' ');
  if (blank == std::string_view::npos || blank == 0 || blank + 1 == line.size()) return false;
  stack->frames = line.substr(0, blank);
  const std::string_view number = line.substr(blank + 1);
  const auto whole = std::from_chars(number.data(), number.data() + number.size(), stack->count);
  if (whole.ptr == number.data() || number[0] == '-') return false;
  if (whole.ec != std::errc()) stack->count = UINT64_MAX;
  const std::string_view rest = number.substr(static_cast<size_t>(whole.ptr - number.data()));
  if (rest.empty()) return true;
  if (rest[0] != '.' || rest.find_first_not_of("0123456789", 1) != std::string_view::npos) return false;
  stack->is_whole_number = rest.find_first_not_of('0', 1) == std::string_view::npos;
  if (rest.size() > 1 && rest[1] >= '5' && stack->count != UINT64_MAX) ++stack->count;
  return true;
}

bool IsComment(std::string_view line) {
  return line.starts_with("# ");
}

// The next line without its end, from `*at` on.
std::string_view TakeLine(std::string_view text, size_t* at, bool* is_ended) {
  const size_t end = text.find('\n', *at);
  *is_ended = end != std::string_view::npos;
  std::string_view line = text.substr(*at, (*is_ended ? end : text.size()) - *at);
  *at = *is_ended ? end + 1 : text.size();
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

bool ParseDifferentialLine(std::string_view line, StackLine* stack) {
  StackLine before;
  if (!ParseLine(line, stack) || !ParseLine(stack->frames, &before)) return false;
  stack->frames = before.frames;
  stack->count_before = before.count;
  stack->is_whole_number &= before.is_whole_number;
  return true;
}

// Whether every stack has two counts, as far as the first megabyte goes. Of frames that end in a number ("worker 3") a
// file has others, too. What a cut may have left of the last line decides nothing.
bool IsDifferential(std::string_view text) {
  bool any = false;
  for (size_t at = 0; at < text.size();) {
    bool is_ended = false;
    const std::string_view line = TakeLine(text, &at, &is_ended);
    StackLine stack;
    if (line.empty() || IsComment(line) || !ParseLine(line, &stack)) continue;
    const bool has_two = ParseDifferentialLine(line, &stack);
    if (!has_two && (is_ended || !any)) return false;
    any = true;
  }
  return any;
}

class FrameTree {
 public:
  explicit FrameTree(TraceBuilder* builder) : builder_(builder), nodes_(1) {}

  // False: the stack is too deep, and was added up to a point.
  bool Add(std::string_view frames, uint64_t count) {
    uint32_t node = 0;
    size_t depth = 0;
    for (size_t at = 0; at <= frames.size() && depth < kDeepest; ++depth) {
      const size_t end = std::min(frames.find(';', at), frames.size());
      node = ChildOf(node, builder_->Intern(frames.substr(at, end - at)));
      at = end + 1;
    }
    nodes_[node].self += count;
    return depth < kDeepest;
  }

  // With the rows that the nodes will be.
  uint64_t memory_bytes() const {
    return nodes_.capacity() * sizeof(Node) + child_of_.bucket_count() * kBucketBytes + nodes_.size() * sizeof(SpanRow);
  }

  // Every node as a span of `track`, callers before callees.
  void AddSpans(TrackId track) {
    AddTotals();
    builder_->SetPreOrdered(track);
    const StringId category = builder_->Intern("stack");
    std::vector<Place> open = {{0, 0}};
    uint32_t node = nodes_[0].first_child;
    while (node != kNone) {
      const Node& frame = nodes_[node];
      SpanRow row;
      row.start = {static_cast<int64_t>(open.back().next_start)};
      row.duration = {static_cast<int64_t>(frame.total)};
      row.name = frame.name;
      row.category = category;
      row.track = track;
      row.depth = static_cast<uint16_t>(open.size() - 1);
      builder_->AddSpan(row);
      open.back().next_start += frame.total;
      if (frame.first_child != kNone) {
        open.push_back({frame.sibling, static_cast<uint64_t>(row.start.ns)});
        node = frame.first_child;
        continue;
      }
      node = frame.sibling;
      while (node == kNone && open.size() > 1) {
        node = open.back().sibling_of_caller;
        open.pop_back();
      }
    }
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  using NodeTable = tsl::robin_map<uint64_t, uint32_t, MixedHash>;
  static constexpr uint64_t kBucketBytes = sizeof(NodeTable::value_type) + 8;  // the pair, its hash and distance
  struct Node {
    StringId name = StringId::kEmpty;
    uint32_t caller = kNone, first_child = kNone, last_child = kNone, sibling = kNone;
    uint64_t self = 0, total = 0;
  };
  struct Place {
    uint32_t sibling_of_caller = 0;
    uint64_t next_start = 0;  // of the next child
  };

  uint32_t ChildOf(uint32_t caller, StringId name) {
    const auto [found, added] =
        child_of_.try_emplace(uint64_t{caller} << 32 | Row(name), static_cast<uint32_t>(nodes_.size()));
    if (!added) return found->second;
    const auto node = static_cast<uint32_t>(nodes_.size());
    const uint32_t last = nodes_[caller].last_child;
    (last == kNone ? nodes_[caller].first_child : nodes_[last].sibling) = node;
    nodes_[caller].last_child = node;
    nodes_.push_back({.name = name, .caller = caller});
    return node;
  }

  // A caller always has a lower number.
  void AddTotals() {
    for (size_t i = nodes_.size(); i-- > 1;) {
      nodes_[i].total += nodes_[i].self;
      nodes_[nodes_[i].caller].total += nodes_[i].total;
    }
  }

  TraceBuilder* builder_;
  std::vector<Node> nodes_;  // 0: the root, no frame
  NodeTable child_of_;
};

}  // namespace

// The first line and two of three behind it must be stacks with a count, and every other one of them have several
// frames: prose, logs and tables do not look so. "; " is how people write.
bool LooksLikeCollapsedStacks(std::span<const std::byte> head) {
  const std::string_view text{reinterpret_cast<const char*>(head.data()), head.size()};
  int lines = 0, stacks = 0, with_callers = 0;
  for (size_t at = 0; at < text.size() && lines < kLinesLookedAt;) {
    bool is_ended = false;
    const std::string_view line = TakeLine(text, &at, &is_ended);
    if (!is_ended && lines > 0) break;  // the head may end anywhere
    if (line.empty() || IsComment(line)) continue;
    StackLine stack;
    const bool is_stack = ParseLine(line, &stack) && stack.frames.find("; ") == std::string_view::npos &&
                          std::none_of(line.begin(), line.end(), [](unsigned char c) { return c < ' ' || c == 127; });
    if (lines++ == 0 && !is_stack) return false;
    if (!is_stack) continue;
    ++stacks;
    if (stack.frames.find(';') != std::string_view::npos) ++with_callers;
  }
  return stacks > 0 && 3 * stacks >= 2 * lines && 2 * with_callers >= stacks;
}

namespace {

class CollapsedStacks {
 public:
  CollapsedStacks(TextSource* text, const ImportOptions& options, TraceBuilder* builder)
      : text_(*text), options_(options), builder_(builder) {}

  // False: there is no stack.
  bool Read() {
    text_.Extend(kLookedAt);
    is_differential_ = IsDifferential(text_.text().substr(0, kLookedAt));
    while (!text_.text().empty() && !is_over_limit_) {
      const size_t read = ReadLines(text_.text());
      static_cast<void>(text_.Take(read));
      // Of a line that is longer than what is there, more; a text ends with no line that is not whole.
      const size_t wanted = std::max(text_.window_bytes(), 2 * text_.text().size());
      is_over_limit_ = is_over_limit_ || IsOverLimit(read == 0 ? wanted : 0);
      if (!is_over_limit_) text_.Extend(wanted);
    }
    if (is_over_limit_) builder_->AddProblem("over_memory_limit", static_cast<int64_t>(text_.offset()));
    return builder_->info().recorded != 0 || is_over_limit_;
  }

  void AddSpans() {
    const ProcessId process = builder_->AddProcess({});
    if (is_differential_) before_.AddSpans(AddTrack(process, 0, "before"));
    after_.AddSpans(AddTrack(process, is_differential_ ? 1 : 0, is_differential_ ? "after" : "stacks"));
  }

 private:
  // Lines that are whole, as far as the limit allows; how many bytes they are.
  size_t ReadLines(std::string_view text) {
    uint64_t& lines = builder_->info().recorded;
    for (size_t at = 0; at < text.size();) {
      const size_t begin = at;
      bool is_ended = false;
      const std::string_view line = TakeLine(text, &at, &is_ended);
      if (!is_ended && !text_.ended()) return begin;
      if (line.empty() || IsComment(line)) continue;
      const auto offset = static_cast<int64_t>(text_.offset() + begin);
      const auto end = static_cast<int64_t>(text_.offset() + at);
      StackLine stack;
      if (!Parse(line, &stack)) {
        builder_->AddProblem(is_ended ? "damaged_record" : "truncated", is_ended ? offset : end, 1,
                             "a line is no stack with a count");
        continue;
      }
      if (!Add(stack, offset) || ++lines % 1024 != 0) continue;
      if (options_.on_progress) options_.on_progress(text_.bytes_read(), text_.total_bytes());
      is_over_limit_ = IsOverLimit(0);
      if (is_over_limit_) return at;
    }
    return text.size();
  }

  bool Parse(std::string_view line, StackLine* stack) const {
    return is_differential_ ? ParseDifferentialLine(line, stack) : ParseLine(line, stack);
  }

  // False: its count is too much.
  bool Add(const StackLine& stack, int64_t offset) {
    if (stack.count > kMost - total_ || stack.count_before > kMost - total_before_) {
      builder_->AddProblem("bad_value", offset, 1, "a count with which the sum would pass 4 * 10^18");
      return false;
    }
    total_ += stack.count;
    total_before_ += stack.count_before;
    if (!stack.is_whole_number) builder_->AddProblem("bad_value", offset, 1, "decimals of counts, which are rounded");
    bool is_whole = true;
    if (stack.count_before != 0) is_whole = before_.Add(stack.frames, stack.count_before);
    if (stack.count != 0 || !is_differential_) is_whole &= after_.Add(stack.frames, stack.count);
    if (!is_whole) builder_->AddProblem("bad_value", offset, 1, "frames 60000 calls deep and deeper");
    return true;
  }

  TrackId AddTrack(ProcessId process, int64_t tid, std::string_view name) {
    return builder_->AddTrack({.process = process, .tid = tid, .name = builder_->Intern(name)});
  }

  bool IsOverLimit(uint64_t more) const {
    const uint64_t bytes =
        text_.memory_bytes() + builder_->memory_bytes() + before_.memory_bytes() + after_.memory_bytes() + more;
    return options_.max_memory != 0 && bytes > options_.max_memory;
  }

  TextSource& text_;
  bool is_differential_ = false;
  bool is_over_limit_ = false;
  const ImportOptions& options_;
  TraceBuilder* builder_;
  FrameTree before_{builder_}, after_{builder_};  // before_: of differential stacks
  uint64_t total_before_ = 0, total_ = 0;
};

}  // namespace

Status ImportCollapsedStacks(TextSource* text, std::string_view name, const ImportOptions& options,
                             TraceBuilder* builder) {
  CollapsedStacks stacks(text, options, builder);
  if (!stacks.Read()) return MalformedAt(name, 0, "no line is a stack with a count");
  stacks.AddSpans();
  builder->info().format = "collapsed-stacks";
  builder->AddMetadata("unit", "\"one nanosecond per count\"");
  return {};
}

}  // namespace opscope
