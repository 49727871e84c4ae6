// Collapsed stacks, the lines that flamegraph.pl reads: frames from the root on, a blank, how often the stack was seen.
//
//   main;train;matmul 12            a.  [main: 15                                  ]
//   main;load 3                         [train: 12               ][load: 3         ]
//                                       [matmul: 12              ]
//
// There are no times in them. They become one track with the flame graph of all lines on it, equal frames of one caller
// joined in the order in which they first come, one nanosecond per count: total and self of a name are its counts.
//
// The stacks are a tree by (caller, name), numbered as they come. Files in any order give one span per frame and
// caller, where spans line by line would give one per frame and line. SPDX-License-Identifier: Apache-2.0
#include <tsl/robin_map.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "import/chrome_json_number.h"
#include "import/importer.h"
#include "import/malformed.h"

namespace opscope {
namespace {

constexpr size_t kDeepest = 60'000;    // depths of spans are 16-bit numbers
constexpr uint64_t kMost = kLatestNs;  // of all counts
constexpr int kLinesLookedAt = 32;

struct StackLine {
  std::string_view frames;
  uint64_t count = 0;
  bool is_whole_number = true;
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

class FrameTree {
 public:
  explicit FrameTree(TraceBuilder* builder) : builder_(builder), nodes_(1) {}

  // False: the stack is too deep, and was added up to a point.
  bool Add(const StackLine& stack) {
    uint32_t node = 0;
    size_t depth = 0;
    for (size_t at = 0; at <= stack.frames.size() && depth < kDeepest; ++depth) {
      const size_t end = std::min(stack.frames.find(';', at), stack.frames.size());
      node = ChildOf(node, builder_->Intern(stack.frames.substr(at, end - at)));
      at = end + 1;
    }
    nodes_[node].self += stack.count;
    return depth < kDeepest;
  }

  uint64_t memory_bytes() const { return nodes_.capacity() * sizeof(Node) + child_of_.size() * 40; }

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
  tsl::robin_map<uint64_t, uint32_t, MixedHash> child_of_;
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
    const bool is_stack =
        ParseLine(line, &stack) && stack.frames.find("; ") == std::string_view::npos &&
        std::none_of(line.begin(), line.end(), [](char c) { return c >= 0 && (c < ' ' || c == 127); });
    if (lines++ == 0 && !is_stack) return false;
    if (!is_stack) continue;
    ++stacks;
    if (stack.frames.find(';') != std::string_view::npos) ++with_callers;
  }
  return stacks > 0 && 3 * stacks >= 2 * lines && 2 * with_callers >= stacks;
}

Status ImportCollapsedStacks(std::span<const std::byte> bytes, std::string_view name, const ImportOptions& options,
                             TraceBuilder* builder) {
  const std::string_view text{reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  FrameTree tree(builder);
  uint64_t total = 0;
  uint64_t& lines = builder->info().recorded;
  for (size_t at = 0; at < text.size();) {
    const auto offset = static_cast<int64_t>(at);
    bool is_ended = false;
    const std::string_view line = TakeLine(text, &at, &is_ended);
    if (line.empty() || IsComment(line)) continue;
    StackLine stack;
    if (!ParseLine(line, &stack)) {
      builder->AddProblem(is_ended ? "damaged_record" : "truncated", is_ended ? offset : static_cast<int64_t>(at), 1,
                          "a line is no stack with a count");
      continue;
    }
    if (stack.count > kMost - total) {
      builder->AddProblem("bad_value", offset, 1, "a count with which the sum would pass 4 * 10^18");
      continue;
    }
    total += stack.count;
    if (!stack.is_whole_number) builder->AddProblem("bad_value", offset, 1, "decimals of counts, which are rounded");
    if (!tree.Add(stack)) builder->AddProblem("bad_value", offset, 1, "frames 60000 calls deep and deeper");
    if (++lines % 1024 != 0 || options.max_memory == 0) continue;
    if (text.size() + builder->memory_bytes() + tree.memory_bytes() <= options.max_memory) continue;
    builder->AddProblem("over_memory_limit", static_cast<int64_t>(at));
    break;
  }
  if (lines == 0) return MalformedAt(name, 0, "no line is a stack with a count");
  const ProcessId process = builder->AddProcess({});
  tree.AddSpans(builder->AddTrack({.process = process, .name = builder->Intern("stacks")}));
  builder->info().format = "collapsed-stacks";
  builder->AddMetadata("unit", "\"one nanosecond per count\"");
  return {};
}

}  // namespace opscope
