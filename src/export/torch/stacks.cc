// Writes torch's export_stacks: a line "frame;frame;frame microseconds" per event. Operators of a loop share their
// stacks, so the text of each distinct stack is cached (up to 64 MiB). Against torch this takes 1/288 of the time
// (docs/reference/benchmarks_files.md).
// SPDX-License-Identifier: Apache-2.0
#include "opscope/torch/stacks.h"

#include <string>
#include <unordered_map>
#include <vector>

#include "base/catch_bad_alloc.h"
#include "base/file.h"
#include "base/text.h"

namespace opscope {
namespace {

constexpr size_t kPieceBytes = size_t{1} << 18;
constexpr size_t kMaxKeptBytes = size_t{64} << 20;  // limit of the cache of stack texts

class StackLines {
 public:
  StackLines(const Trace& trace, const FunctionEvents& events) : stacks_(trace, events) {}

  // The line's stack for event i; empty if it has none. Valid until the next call.
  std::string_view TextOf(size_t i) {
    const StackId id = stacks_.IdOf(i);
    if (id == StackId::kNone) return {};
    const auto found = texts_.find(Row(id));
    if (found != texts_.end()) return found->second;
    if (kept_bytes_ > kMaxKeptBytes) {
      texts_.clear();
      kept_bytes_ = 0;
    }
    std::string& text = texts_[Row(id)];
    text = Make(id);
    kept_bytes_ += text.size();
    return text;
  }

 private:
  std::string Make(StackId id) const {
    const std::vector<std::string_view> frames = stacks_.Frames(id);
    std::string text;
    for (size_t i = frames.size(); i-- > 0;) {
      for (const char c : frames[i])
        text += c == ' ' || c == ';' || c == '\t' || c == '\n' ? '_' : c;
      if (i > 0) text += ';';
    }
    return text;
  }

  FunctionEventStacks stacks_;
  std::unordered_map<uint32_t, std::string> texts_;
  size_t kept_bytes_ = 0;
};

// Python's int(): truncation; 0 for values outside int64 and NaN.
int64_t WholeMicroseconds(double us) {
  constexpr double kMax = 9e18;
  return us > -kMax && us < kMax ? static_cast<int64_t>(us) : 0;
}

Status Export(const Trace& trace, const FunctionEvents& events, StackMetric metric, const std::string& path) {
  Result<AtomicFile> file = AtomicFile::Create(path);
  if (!file.ok()) return file.error();
  StackLines lines(trace, events);
  std::string piece;
  for (size_t i = 0; i < events.size(); ++i) {
    const std::string_view text = lines.TextOf(i);
    if (text.empty()) continue;
    const int64_t us = WholeMicroseconds(metric == StackMetric::kSelfCpuTime ? SelfCpuTimeTotal(events, i)
                                                                             : SelfDeviceTimeTotal(events, i));
    if (us <= 0) continue;
    piece.append(text).append(" ");
    AppendInt(&piece, us);
    piece += '\n';
    if (piece.size() < kPieceBytes) continue;
    if (Status status = file.value().Write(piece); !status.ok()) return status;
    piece.clear();
  }
  if (Status status = file.value().Write(piece); !status.ok()) return status;
  return file.value().Commit();
}

}  // namespace

Status ExportTorchStacks(const Trace& trace, const FunctionEvents& events, StackMetric metric,
                         const std::string& path) {
  return CatchBadAlloc(path, [&] { return Export(trace, events, metric, path); });
}

}  // namespace opscope
