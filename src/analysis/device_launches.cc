// Three passes, each over some columns of some rows: which numbers device spans carry, which host spans have them
// first, how much device time each number has. No pass keeps anything per span.
// SPDX-License-Identifier: Apache-2.0
#include "analysis/device_launches.h"

#include <algorithm>

#include "analysis/function_event_rules.h"
#include "analysis/row_chunks.h"

namespace opscope {
namespace {

// The rows of all tracks of a kind, in pieces that several threads can take.
std::vector<RowRange> RowsOfKind(const TrackColumns& tracks, TrackKind kind) {
  std::vector<RowRange> pieces;
  for (size_t track = 0; track < tracks.size(); ++track) {
    if (tracks.kind[track] != kind) continue;
    const size_t end = size_t{tracks.first_span[track]} + tracks.span_count[track];
    for (size_t first = tracks.first_span[track]; first < end; first += RowChunks::kUsualSize)
      pieces.push_back({first, std::min(end, first + RowChunks::kUsualSize)});
  }
  return pieces;
}

// Remembers what was said of the last category: neighbours often share it.
class RuntimeCategories {
 public:
  explicit RuntimeCategories(const Trace& trace) : trace_(trace) {}
  bool IsCall(StringId category) {
    for (Known& known : known_) {
      if (known.category == category) return known.is_call;
    }
    Known& forgotten = known_[next_++ % std::size(known_)];
    forgotten = {category, RoleOfCategory(trace_.text(category)).is_runtime};
    return forgotten.is_call;
  }

 private:
  struct Known {
    StringId category = StringId::kNone;
    bool is_call = false;  // of kNone: its text is empty
  };
  const Trace& trace_;
  Known known_[4];
  size_t next_ = 0;
};

}  // namespace

NumberSet::NumberSet(std::span<const uint32_t> numbers, std::span<const RowRange> rows) {
  const auto for_each = [&](const auto& use) {
    for (const RowRange& range : rows) {
      for (const uint32_t number : numbers.subspan(range.first, range.end - range.first)) {
        if (number != 0) use(number);
      }
    }
  };
  size_t count = 0, first = UINT32_MAX, last = 0;
  for_each([&](uint32_t number) {
    ++count;
    first = std::min<size_t>(first, number);
    last = std::max<size_t>(last, number);
  });
  if (count == 0) return;
  constexpr size_t kSparsest = 64;  // numbers of the range for each row of the table: 16 bytes for each
  if (last - first < kSparsest * numbers.size()) {
    first_ = first;
    words_.resize((last - first) / 64 + 1);
    for_each([&](uint32_t number) { words_[(number - first) / 64].bits |= uint64_t{1} << (number - first) % 64; });
    for (Word& word : words_) {
      word.before = size_;
      size_ += static_cast<size_t>(std::popcount(word.bits));
    }
    return;
  }
  sorted_.reserve(count);
  for_each([&](uint32_t number) { sorted_.push_back(number); });
  std::sort(sorted_.begin(), sorted_.end());
  sorted_.erase(std::unique(sorted_.begin(), sorted_.end()), sorted_.end());
  size_ = sorted_.size();
}

size_t NumberSet::PlaceInList(uint32_t number) const {
  const auto found = std::lower_bound(sorted_.begin(), sorted_.end(), number);
  return found != sorted_.end() && *found == number ? static_cast<size_t>(found - sorted_.begin()) : kNone;
}

DeviceLaunches::DeviceLaunches(const Trace& trace, ThreadTeam* team)
    : external_id_(trace.spans().external_id), correlation_(trace.spans().correlation) {
  const TrackColumns& tracks = trace.tracks();
  has_device_ = std::find(tracks.kind.begin(), tracks.kind.end(), TrackKind::kDeviceStream) != tracks.kind.end();
  const std::vector<RowRange> device_rows = RowsOfKind(tracks, TrackKind::kDeviceStream);
  if (device_rows.empty()) return;
  team->ForEach(2, [&](size_t which, size_t) {
    if (which == 0) ops_ = LaunchNumbers(NumberSet(external_id_, device_rows));
    if (which == 1) calls_ = LaunchNumbers(NumberSet(correlation_, device_rows));
  });
  FindOwners(trace, team);
  AddTimes(trace, device_rows, team);
}

void DeviceLaunches::FindOwners(const Trace& trace, ThreadTeam* team) {
  const std::vector<RowRange> host_rows = RowsOfKind(trace.tracks(), TrackKind::kThread);
  const std::span<const StringId> category = trace.spans().category;
  team->ForEach(host_rows.size(), [&](size_t piece, size_t) {
    RuntimeCategories categories(trace);
    for (size_t row = host_rows[piece].first; row < host_rows[piece].end; ++row) {
      if (calls_.Expects(correlation_[row])) calls_.Offer(correlation_[row], row);
      if (!ops_.Expects(external_id_[row]) || categories.IsCall(category[row])) continue;
      ops_.Offer(external_id_[row], row);
    }
  });
}

void DeviceLaunches::AddTimes(const Trace& trace, std::span<const RowRange> device_rows, ThreadTeam* team) {
  const std::span<const Duration> duration = trace.spans().duration;
  team->ForEach(device_rows.size(), [&](size_t piece, size_t) {
    for (size_t row = device_rows[piece].first; row < device_rows[piece].end; ++row) {
      if (!ops_.AddTime(external_id_[row], duration[row])) calls_.AddTime(correlation_[row], duration[row]);
    }
  });
}

}  // namespace opscope
