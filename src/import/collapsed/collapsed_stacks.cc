// Reads collapsed stacks, the input lines of flamegraph.pl: frames from the root on, a blank, and a sample count.
//
//   main;train;matmul 12            a.  [main: 15                                  ]
//   main;load 3                         [train: 12               ][load: 3         ]
//                                       [matmul: 12              ]
//
// The lines have no times. They become one track with the flame graph of all lines: equal frames of one caller are
// joined, in the order of their first line, and a count is a nanosecond, so total and self time of a name are its
// counts.
//
// Files in which no line has callers are accepted, too: `main 10`, `thread 139 4`. tracing-flame separates frames by ";
// ". A byte-order mark before the first line is skipped.
//
// Differential stacks, by FlameGraph's difffolded.pl, have two counts in each line, of a profile before and one after.
// Each becomes a flame graph on a separate track, with the stacks that it counts.
//
//   main;load 3 5                       before [main: 3 ]      after [main: 5     ]
//
// The stacks are a tree by (caller, name), numbered in order of appearance. So files in any order give one span per
// frame and caller; spans line by line would give one per frame and line.
// SPDX-License-Identifier: Apache-2.0
#include <tsl/robin_map.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "base/text.h"
#include "import/collapsed/importer.h"
#include "import/text/json_number.h"
#include "import/text/malformed.h"
#include "import/text/text_source.h"

namespace opscope {
namespace {

constexpr size_t kDeepest = 60'000;        // depths of spans are 16-bit numbers
constexpr uint64_t kMaxCount = kLatestNs;  // sum of all counts
constexpr int kLinesLookedAt = 32;
constexpr size_t kLookedAt = size_t{1} << 20;  // bytes inspected for differential stacks

struct StackLine {
  std::string_view frames;
  uint64_t count = 0;
  bool is_whole_number = true;
  uint64_t count_before = 0;  // of differential stacks, whose `count` is the one after
};

// Parses "a;b;c 12", also with decimals, which some tools write. False: another kind of line.
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

// The next line without its end; moves `*at` behind it.
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

// Properties of all lines, determined from the first megabyte.
struct StackStyle {
  // Every stack has two counts, and one has callers: in `worker 3 4` the frame may be "worker 3". If frames end in
  // numbers, there are usually other frames, too. The last line is ignored, because it may be cut.
  bool is_differential = false;
  bool is_spaced = false;  // frames are separated by "; ", as tracing-flame does
};

StackStyle FindStyle(std::string_view text) {
  bool have_two = true, has_callers = false, is_packed = false;
  for (size_t at = 0; at < text.size();) {
    bool is_ended = false;
    const std::string_view line = TakeLine(text, &at, &is_ended);
    StackLine stack;
    if (line.empty() || IsComment(line) || !ParseLine(line, &stack)) continue;
    for (size_t i = stack.frames.find(';'); i != std::string_view::npos; i = stack.frames.find(';', i + 1)) {
      has_callers = true;
      is_packed = is_packed || !stack.frames.substr(i).starts_with("; ");
    }
    have_two = have_two && (ParseDifferentialLine(line, &stack) || !is_ended);
  }
  return {has_callers && have_two, has_callers && !is_packed};
}

class FrameTree {
 public:
  explicit FrameTree(TraceBuilder* builder) : builder_(builder), nodes_(1) {}

  // False: the stack is too deep; its outer frames were added.
  bool Add(std::string_view frames, bool is_spaced, uint64_t count) {
    uint32_t node = 0;
    size_t depth = 0;
    for (size_t at = 0; at <= frames.size() && depth < kDeepest; ++depth) {
      const size_t end = std::min(frames.find(';', at), frames.size());
      node = ChildOf(node, builder_->Intern(frames.substr(at, end - at)));
      at = end + 1;
      if (is_spaced && at < frames.size() && frames[at] == ' ') ++at;
    }
    nodes_[node].self += count;
    return depth < kDeepest;
  }

  // Memory, including the rows that the nodes will become.
  uint64_t memory_bytes() const {
    return nodes_.capacity() * sizeof(Node) + child_of_.bucket_count() * kBucketBytes + nodes_.size() * sizeof(SpanRow);
  }

  // Adds every node as a span of `track`, callers before callees.
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
  std::vector<Node> nodes_;  // 0: the root, which is not a frame
  NodeTable child_of_;
};

bool IsControl(unsigned char c) {
  return c < ' ' || c == 127;
}

// If frames are separated by "; ", each blank must follow a semicolon.
bool AreFrames(std::string_view frames) {
  if (frames.find("; ") == std::string_view::npos) return true;
  for (size_t i = frames.find(' '); i != std::string_view::npos; i = frames.find(' ', i + 1)) {
    if (i == 0 || frames[i - 1] != ';') return false;
  }
  return true;
}

// A thread or function without callers: a name, "thread 139". Not prose, a key, a table or a list item.
bool IsName(std::string_view frame) {
  const auto first = static_cast<unsigned char>(frame[0]);
  const bool begins =
      std::isalpha(first) != 0 || first >= 0x80 || std::string_view("_<[(/").find(frame[0]) != std::string_view::npos;
  if (!begins || frame.find_first_of(",=\"") != std::string_view::npos) return false;
  if (std::string_view(":.!?-").find(frame.back()) != std::string_view::npos) return false;
  const size_t blank = frame.find(' ');
  return blank == std::string_view::npos ||
         std::all_of(frame.begin() + static_cast<ptrdiff_t>(blank) + 1, frame.end(), IsDigit);
}

}  // namespace

// The first line and two of three others must be stacks with a count, and each of the others must have several frames
// or be a name; prose, logs and tables fail this. If no line has callers, every line must be a name.
bool LooksLikeCollapsedStacks(std::span<const std::byte> head) {
  std::string_view text = AsText(head);
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  int lines = 0, stacks = 0, with_callers = 0, names = 0;
  for (size_t at = 0; at < text.size() && lines < kLinesLookedAt;) {
    bool is_ended = false;
    const std::string_view line = TakeLine(text, &at, &is_ended);
    if (!is_ended && lines > 0) break;  // the head may end within a line
    if (line.empty() || IsComment(line)) continue;
    StackLine stack;
    const bool is_stack =
        ParseLine(line, &stack) && AreFrames(stack.frames) && std::none_of(line.begin(), line.end(), IsControl);
    if (lines++ == 0 && !is_stack) return false;
    if (!is_stack) continue;
    ++stacks;
    if (stack.frames.find(';') != std::string_view::npos) {
      ++with_callers;
    } else if (IsName(stack.frames) && !line.ends_with('.')) {
      ++names;
    }
  }
  if (with_callers == 0) return names > 0 && names == lines;
  return 3 * stacks >= 2 * lines && 2 * (with_callers + names) >= stacks;
}

namespace {

class CollapsedStacks {
 public:
  CollapsedStacks(TextSource* text, const ImportOptions& options, TraceBuilder* builder)
      : text_(*text), options_(options), builder_(builder) {}

  // False: there is no stack.
  bool Read() {
    text_.Extend(kLookedAt);
    if (text_.text().starts_with(kByteOrderMark)) static_cast<void>(text_.Take(kByteOrderMark.size()));
    style_ = FindStyle(text_.text().substr(0, kLookedAt));
    while (!text_.text().empty() && !is_over_limit_) {
      const size_t read = ReadLines(text_.text());
      static_cast<void>(text_.Take(read));
      // Reads more until a line is complete; the last line of the text may have no line break.
      const size_t wanted = std::max(text_.window_bytes(), 2 * text_.text().size());
      is_over_limit_ = is_over_limit_ || IsOverLimit(read == 0 ? wanted : 0);
      if (!is_over_limit_) text_.Extend(wanted);
    }
    if (is_over_limit_) builder_->AddProblem("over_memory_limit", static_cast<int64_t>(text_.offset()));
    return builder_->info().recorded != 0 || is_over_limit_;
  }

  void AddSpans() {
    const ProcessId process = builder_->AddProcess({});
    if (style_.is_differential) before_.AddSpans(AddTrack(process, 0, "before"));
    after_.AddSpans(AddTrack(process, style_.is_differential ? 1 : 0, style_.is_differential ? "after" : "stacks"));
  }

 private:
  // Adds the complete lines, as far as the limit allows. Returns their size in bytes.
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
                             "a line is not a stack with a count");
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
    return style_.is_differential ? ParseDifferentialLine(line, stack) : ParseLine(line, stack);
  }

  // False: the count is too large.
  bool Add(const StackLine& stack, int64_t offset) {
    if (stack.count > kMaxCount - total_ || stack.count_before > kMaxCount - total_before_) {
      builder_->AddProblem("bad_value", offset, 1, "a count with which the sum would pass 4 * 10^18");
      return false;
    }
    total_ += stack.count;
    total_before_ += stack.count_before;
    if (!stack.is_whole_number) builder_->AddProblem("bad_value", offset, 1, "decimals of counts, which are rounded");
    bool is_whole = true;
    if (stack.count_before != 0) is_whole = before_.Add(stack.frames, style_.is_spaced, stack.count_before);
    if (stack.count != 0 || !style_.is_differential)
      is_whole &= after_.Add(stack.frames, style_.is_spaced, stack.count);
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
  StackStyle style_;
  bool is_over_limit_ = false;
  const ImportOptions& options_;
  TraceBuilder* builder_;
  FrameTree before_{builder_}, after_{builder_};  // before_: for differential stacks only
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
