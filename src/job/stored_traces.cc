// SPDX-License-Identifier: Apache-2.0
#include "job/stored_traces.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/memory_limit.h"

namespace opscope {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPartBegin = "part-";
// At the peak of a merge (docs/reference/benchmarks_files.md).
constexpr uint64_t kBytesPerSpan = 81;

// "rank=3" of "traces/attempt=0/rank=3/part-x.opscope"
bool ReadNumber(const fs::path& path, std::string_view key, int32_t* number) {
  for (const fs::path& piece : path) {
    const std::string text = piece.string();
    if (!std::string_view(text).starts_with(key)) continue;
    const auto [end, error] = std::from_chars(text.data() + key.size(), text.data() + text.size(), *number);
    return error == std::errc() && end == text.data() + text.size();
  }
  return false;
}

}  // namespace

std::vector<StoredTrace> ListStoredTraces(const JobFolder& folder) {
  std::vector<StoredTrace> traces;
  for (const PartManifest& part : folder.parts()) {
    for (const PartFile& file : part.files) {
      const fs::path path(file.path);
      StoredTrace stored{.path = (fs::path(folder.path()) / path).string(),
                         .name = path.stem().string(),
                         .spans = file.rows,
                         .rank_of_name = file.rank_of_name};
      if (stored.name.starts_with(kPartBegin)) stored.name.erase(0, kPartBegin.size());
      if (file.table == "traces" && ReadNumber(path, "attempt=", &stored.attempt) &&
          ReadNumber(path, "rank=", &stored.rank))
        traces.push_back(std::move(stored));
    }
  }
  std::stable_sort(traces.begin(), traces.end(),
                   [](const StoredTrace& a, const StoredTrace& b) { return a.rank < b.rank; });
  return traces;
}

std::string MessageWithoutFile(const Error& error, const StoredTrace& stored) {
  const std::string begin = stored.path + ": ";
  return error.message.substr(error.message.starts_with(begin) ? begin.size() : 0);
}

std::string ListOfNumbers(const std::set<int32_t>& numbers) {
  std::string text;
  for (const int32_t number : numbers)
    text.append(text.empty() ? "" : ", ").append(std::to_string(number));
  return text;
}

Result<int32_t> ChooseAttempt(const std::string& job, std::span<const StoredTrace> stored,
                              std::optional<int32_t> wanted) {
  if (stored.empty()) return Error{ErrorCode::kInvalidArgument, job + ": the JOB has no traces"};
  std::set<int32_t> attempts;
  for (const StoredTrace& trace : stored)
    attempts.insert(trace.attempt);
  Result<int32_t> chosen = ChooseFrom(attempts, wanted);
  if (!chosen.ok()) return Error{chosen.error().code, job + ": " + chosen.error().message};
  return chosen;
}

Result<int32_t> ChooseFrom(const std::set<int32_t>& attempts, std::optional<int32_t> wanted) {
  const int32_t attempt = wanted.value_or(*attempts.rbegin());
  if (attempts.contains(attempt)) return attempt;
  return Error{ErrorCode::kInvalidArgument,
               "there is no attempt " + std::to_string(attempt) + "; there are: " + ListOfNumbers(attempts)};
}

Status CheckMemoryFor(const std::string& job, std::span<const StoredTrace> stored) {
  uint64_t spans = 0;  // a damaged manifest may say any number
  for (const StoredTrace& trace : stored)
    spans += std::min(trace.spans, UINT64_MAX - spans);
  const uint64_t memory = MemoryLimit();
  if (spans <= memory / kBytesPerSpan) return {};
  constexpr uint64_t kGb = 1'000'000'000;
  return Error{
      ErrorCode::kOutOfMemory,
      job + ": its traces have " + std::to_string(spans) + " spans, which take about " +
          std::to_string(spans / kGb * kBytesPerSpan + spans % kGb * kBytesPerSpan / kGb + 1) +
          " GB of memory; this process may use " + std::to_string(memory / kGb) +
          " GB. `opscope merge JOB --ranks LIST -o FILE` takes some ranks, `opscope summary JOB --quantiles` and "
          "`opscope query JOB` ask the tables, "
          "and --max-memory keeps what fits",
      0};
}

}  // namespace opscope
