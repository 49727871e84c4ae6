// A hash join of device spans with host calls, by correlation number. A join of every span would dominate
// the build, so:
//
//   1. collect the numbers of device spans; other numbers cost nothing afterwards
//   2. for each number, find the first host span that has it (in an array if numbers are dense, else a sorted set)
//   3. climb from that call to the first operator around it, mostly one or two steps
//   4. without such a call, use Kineto's external id
//
// Rows are divided among threads in pieces of 65,536. Of several spans with one number the one that begins
// first wins, by compare-and-swap, so the result does not depend on the number of threads.
// SPDX-License-Identifier: Apache-2.0
#include "trace/launches.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "base/column.h"
#include "base/number_set.h"
#include "base/thread_team.h"

namespace opscope {
namespace {

constexpr uint32_t kNoSpan = Row(SpanId::kNone);
constexpr size_t kRowsAtOnce = size_t{1} << 16;

// Rows [first, end) of one track, and their launchers.
struct Piece {
  uint32_t first = 0, end = 0;
  std::vector<std::pair<uint32_t, uint32_t>> links;  // of a thread: row and launcher
  std::span<uint32_t> launchers;                     // of a stream: by row
  size_t launched = 0;                               // number of launchers that are not kNoSpan
};

std::vector<Piece> PiecesOf(const TrackColumns& tracks, TrackKind kind) {
  std::vector<Piece> pieces;
  for (size_t track = 0; track < tracks.size(); ++track) {
    if (tracks.kind[track] != kind) continue;
    const size_t end = size_t{tracks.first_span[track]} + tracks.span_count[track];
    for (size_t first = tracks.first_span[track]; first < end; first += kRowsAtOnce) {
      Piece& piece = pieces.emplace_back();
      piece.first = static_cast<uint32_t>(first);
      piece.end = static_cast<uint32_t>(std::min(end, first + kRowsAtOnce));
    }
  }
  return pieces;
}

// kOperator: work, on a device too. kCall: a call of the runtime or driver. kRange: marked by the program around those.
// kOther: neither computes nor launches.
enum class Role : uint8_t { kOperator, kCall, kRange, kOther };

// The role follows from the kind. Two kinds need the category too: some formats have communications as ranges of the
// program, others as operators, and kOther holds spans of any role.
class Roles {
 public:
  explicit Roles(const StringPool& strings)
      : recording_(strings.Find("Trace")),
        range_(strings.Find("user_annotation")),
        call_(strings.Find("python_function")) {}

  Role Of(SpanKind kind, StringId category) const {
    switch (kind) {
      case SpanKind::kRuntimeCall:
      case SpanKind::kDriverCall:
        return Role::kCall;
      case SpanKind::kSynchronization:
      case SpanKind::kOverhead:
        return Role::kOther;
      case SpanKind::kUserRange:
      case SpanKind::kStep:
      case SpanKind::kModule:
      case SpanKind::kPythonFunction:
      case SpanKind::kCFunction:
      case SpanKind::kDataLoading:
      case SpanKind::kOptimizer:
      case SpanKind::kBackward:
      case SpanKind::kForward:
        return Role::kRange;
      case SpanKind::kCommunication:
        return category == range_ ? Role::kRange : Role::kOperator;
      case SpanKind::kOther:
        return category == recording_ ? Role::kOther : category == call_ ? Role::kRange : Role::kOperator;
      default:
        return Role::kOperator;
    }
  }

 private:
  std::optional<StringId> recording_, range_, call_;
};

// The first host span with each number of a device span; other numbers are ignored. Calls are numbered consecutively,
// so an array over the range of the numbers mostly suffices.
class SpanByNumber {
 public:
  SpanByNumber() = default;
  // `for_each(use)` calls use(number) for each, always the same ones.
  template <typename ForEach>
  explicit SpanByNumber(const ForEach& for_each) {
    constexpr size_t kSparsest = 4;  // an array may have so many entries per number
    size_t count = 0;
    uint32_t first = UINT32_MAX, last = 0;
    for_each([&](uint32_t number) { ++count, first = std::min(first, number), last = std::max(last, number); });
    if (count == 0) return;
    has_range_ = (last - first) / kSparsest < count;
    first_ = first;
    if (!has_range_) numbers_ = NumberSet::Of(for_each);
    const size_t rows = has_range_ ? size_t{last - first} + 1 : numbers_.size();
    owners_.reserve(rows);
    owners_.resize(rows, kNoSpan);
  }
  // Makes `row` the owner of the number unless the owner has a smaller sort_key(row). Any thread; is_alone: no other
  // thread offers, so no atomic instruction is needed.
  template <typename SortKey>
  void Offer(uint32_t number, uint32_t row, bool is_alone, const SortKey& sort_key) {
    const size_t index = IndexOf(number);
    if (index >= owners_.size()) return;
    const auto is_before = [&](uint32_t known) { return known == kNoSpan || sort_key(row) < sort_key(known); };
    if (is_alone) {
      if (is_before(owners_[index])) owners_[index] = row;
      return;
    }
    const std::atomic_ref<uint32_t> owner(owners_[index]);
    uint32_t known = owner.load(std::memory_order_relaxed);
    while (is_before(known) && !owner.compare_exchange_weak(known, row, std::memory_order_relaxed)) {
    }
  }
  // REQUIRES: all calls of Offer have returned.
  uint32_t Of(uint32_t number) const {
    const size_t index = IndexOf(number);
    return index < owners_.size() ? owners_[index] : kNoSpan;
  }

 private:
  // Index into owners_; beyond its end if no device span has the number.
  size_t IndexOf(uint32_t number) const {
    return has_range_ ? size_t{number} - first_ : numbers_.IndexOf(number);  // wraps below the first
  }

  bool has_range_ = false;
  uint32_t first_ = 0;
  NumberSet numbers_;
  Column<uint32_t> owners_;
};

class LaunchFinder {
 public:
  LaunchFinder(const TraceStorage& storage, size_t max_threads)
      : roles_(storage.strings),
        spans_(storage.spans.view()),
        host_(PiecesOf(storage.tracks.view(), TrackKind::kThread)),
        device_(PiecesOf(storage.tracks.view(), TrackKind::kDeviceStream)),
        team_(std::clamp<size_t>((host_.size() + device_.size()) / 2, 1, max_threads)) {}

  // has_ids: some span has an external id.
  void Run(bool has_ids) {
    calls_ = OwnersOf(spans_.correlation);
    if (has_ids) operators_ = OwnersOf(spans_.external_id);
    size_t rows = 0;
    for (const Piece& piece : device_)
      rows += piece.end - piece.first;
    launchers_.reserve(rows);
    launchers_.resize_unset(rows);
    uint32_t* next = launchers_.data();
    for (Piece& piece : device_) {
      piece.launchers = {next, piece.end - piece.first};
      next += piece.launchers.size();
    }
    team_.ForEach(host_.size(), [&](size_t piece, size_t) { VisitHost(&host_[piece]); });
    team_.ForEach(device_.size(), [&](size_t piece, size_t) { AssignByCalls(&device_[piece]); });
    team_.ForEach(device_.size(), [&](size_t piece, size_t) { AssignByIds(&device_[piece]); });
  }

  void Write(LaunchTable* launches) {
    std::vector<Piece> all = std::move(host_);
    std::move(device_.begin(), device_.end(), std::back_inserter(all));
    std::sort(all.begin(), all.end(), [](const Piece& a, const Piece& b) { return a.first < b.first; });
    size_t rows = 0;
    for (const Piece& piece : all)
      rows += piece.links.size() + piece.launched;
    launches->ForEach([rows](auto& column) {
      column.reserve(rows);
      column.resize_unset(rows);
    });
    size_t next = 0;
    const auto add = [&](uint32_t row, uint32_t launcher) {
      launches->span[next] = SpanId{row};
      launches->launcher[next++] = SpanId{launcher};
    };
    for (const Piece& piece : all) {
      for (const auto& [row, launcher] : piece.links)
        add(row, launcher);
      for (size_t i = 0; i < piece.launchers.size(); ++i) {
        if (piece.launchers[i] != kNoSpan) add(piece.first + static_cast<uint32_t>(i), piece.launchers[i]);
      }
    }
  }

  uint64_t foreign_ids() const { return foreign_ids_; }

 private:
  SpanByNumber OwnersOf(std::span<const uint32_t> numbers) const {
    return SpanByNumber([&](const auto& use) {
      for (const Piece& piece : device_) {
        for (const uint32_t number : numbers.subspan(piece.first, piece.end - piece.first))
          if (number != 0) use(number);
      }
    });
  }

  void VisitHost(Piece* piece) {
    const bool is_alone = team_.size() == 1;
    const auto begin = [&](uint32_t row) { return std::tuple(spans_.start[row], row); };
    // A span that merely enqueued the work under this number, on another thread, begins before the operator.
    const auto operator_then_begin = [&](uint32_t row) {
      return std::tuple(spans_.kind[row] != SpanKind::kOperator, spans_.start[row], row);
    };
    for (uint32_t row = piece->first; row < piece->end; ++row) {
      const Role role = RoleOf(row);
      if (role == Role::kOther) continue;
      calls_.Offer(spans_.correlation[row], row, is_alone, begin);
      if (role != Role::kCall) {
        operators_.Offer(spans_.external_id[row], row, is_alone, operator_then_begin);
      } else if (const uint32_t around = EnclosingOperator(row); around != kNoSpan) {
        piece->links.emplace_back(row, around);
      }
    }
  }

  void AssignByCalls(Piece* piece) {
    uint64_t own = 0, foreign = 0;
    for (uint32_t row = piece->first; row < piece->end; ++row) {
      const uint32_t call = calls_.Of(spans_.correlation[row]);
      const uint32_t around = call == kNoSpan ? kNoSpan : EnclosingOperator(call);
      piece->launchers[row - piece->first] = around;
      const bool is_work = RoleOf(row) != Role::kOther;
      if (around == kNoSpan || spans_.external_id[row] == 0 || !is_work) continue;
      ++(spans_.external_id[around] == spans_.external_id[row] ? own : foreign);
    }
    own_ids_ += own;
    foreign_ids_ += foreign;
  }

  // Device spans whose call has no operator around it.
  void AssignByIds(Piece* piece) {
    const bool ids_are_correlations = foreign_ids_ > own_ids_;
    for (uint32_t row = piece->first; row < piece->end; ++row) {
      uint32_t& launcher = piece->launchers[row - piece->first];
      if (launcher == kNoSpan) launcher = LauncherByIds(row, ids_are_correlations);
      piece->launched += launcher != kNoSpan ? 1 : 0;
    }
  }

  uint32_t LauncherByIds(uint32_t row, bool ids_are_correlations) const {
    const uint32_t id = spans_.external_id[row], correlation = spans_.correlation[row];
    // Kineto gives a wait that no operator made its own correlation as its id.
    const bool is_own = spans_.kind[row] == SpanKind::kSynchronization || ids_are_correlations;
    const uint32_t found = id != correlation || !is_own ? operators_.Of(id) : kNoSpan;
    return found != kNoSpan ? found : calls_.Of(correlation);
  }

  // The innermost operator that is or encloses the span. It is few steps away, except in a hostile trace.
  uint32_t EnclosingOperator(uint32_t row) {
    for (int steps = 0; steps < 64; ++steps) {
      if (IsOperator(row)) return row;
      if (spans_.parent[row] == SpanId::kNone) return kNoSpan;
      row = Row(spans_.parent[row]);
    }
    std::call_once(all_computed_, [&] { ComputeAllEnclosing(); });
    return enclosing_operator_[row];
  }

  void ComputeAllEnclosing() {
    enclosing_operator_.resize(spans_.size());
    for (uint32_t row = 0; row < spans_.size(); ++row) {
      const SpanId parent = spans_.parent[row];
      const uint32_t around = parent == SpanId::kNone ? kNoSpan : enclosing_operator_[Row(parent)];
      enclosing_operator_[row] = IsOperator(row) ? row : around;
    }
  }

  Role RoleOf(uint32_t row) const { return roles_.Of(spans_.kind[row], spans_.category[row]); }
  bool IsOperator(uint32_t row) const { return RoleOf(row) == Role::kOperator; }

  const Roles roles_;
  const SpanColumns spans_;
  std::vector<Piece> host_, device_;
  ThreadTeam team_;
  SpanByNumber calls_, operators_;  // by correlation, by external id
  Column<uint32_t> launchers_;      // of the rows of the device, piece after piece
  std::once_flag all_computed_;
  std::vector<uint32_t> enclosing_operator_;  // by span; filled at its first use
  std::atomic<uint64_t> own_ids_ = 0, foreign_ids_ = 0;
};

}  // namespace

uint64_t FindLaunches(size_t max_threads, TraceStorage* storage) {
  const auto kinds = storage->tracks.kind.view();
  const bool has_devices = std::find(kinds.begin(), kinds.end(), TrackKind::kDeviceStream) != kinds.end();
  if (!has_devices && storage->spans.correlation.is_unallocated()) return 0;
  LaunchFinder finder(*storage, max_threads);
  finder.Run(!storage->spans.external_id.is_unallocated());
  finder.Write(&storage->launches);
  return finder.foreign_ids();
}

}  // namespace opscope
