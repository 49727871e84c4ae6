// Assigns kinds by runs: neighbouring rows mostly share category and track, so one lookup serves a run. The
// column stays unallocated until a row needs a value other than kOther. Threads take pieces of 65,536 rows;
// each has its own lookup cache, so they share nothing.
// SPDX-License-Identifier: Apache-2.0
#include "trace/fill_kinds.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <vector>

#include "trace/span_kinds.h"

namespace opscope {
namespace {

class KindFiller {
 public:
  KindFiller(const StringPool& strings, std::span<const TrackRow> tracks, SpanTable* spans)
      : strings_(strings),
        tracks_(tracks),
        spans_(*spans),
        flags_(spans->flags.is_unallocated() ? nullptr : spans->flags.filled()->data()),
        any_annotations_(std::ranges::any_of(tracks, IsAnnotation)) {}

  // True if the importer gave a row a kind that differs from the derived one. Several threads may call it for
  // different rows.
  bool Fill(size_t row, size_t end, SpanKindFinder* finder) const {
    const auto text = [this](StringId id) { return strings_.text(id); };
    SpanKind* rows = spans_.kind.is_unallocated() ? nullptr : spans_.kind.filled()->data();
    bool is_explicit = false;
    for (size_t next = row; row < end; row = next) {
      SpanKind found = finder->Of(spans_.category[row], spans_.name[row], FlagsOf(row), text);
      if (found != SpanKind::kStep && IsOnAnnotations(row)) found = SpanKind::kDeviceAnnotation;
      const SpanKind given = rows == nullptr ? kKindOfCategory : rows[row];
      const SpanKind kind = given == kKindOfCategory ? found : given == kForcedOther ? SpanKind::kOther : given;
      is_explicit |= kind != found;
      ++next;
      if (FlagsOf(row) == 0 && !finder->depends_on_name()) next = EndOfRun(row, end, rows);
      if (kind == given) continue;
      if (rows == nullptr) spans_.kind.Set(row, kind), rows = spans_.kind.filled()->data();
      for (; row < next; ++row)
        rows[row] = kind;
    }
    return is_explicit;
  }

 private:
  static bool IsAnnotation(const TrackRow& track) { return track.kind == TrackKind::kDeviceAnnotation; }
  bool IsOnAnnotations(size_t row) const { return any_annotations_ && IsAnnotation(tracks_[Row(spans_.track[row])]); }
  uint8_t FlagsOf(size_t row) const { return flags_ == nullptr ? uint8_t{0} : flags_[row]; }

  // The end of the run of rows that are like this one.
  size_t EndOfRun(size_t row, size_t end, const SpanKind* rows) const {
    const StringId* const category = spans_.category.data();
    const TrackId* const track = spans_.track.data();
    size_t next = row + 1;
    while (next < end && category[next] == category[row] && track[next] == track[row] && FlagsOf(next) == 0 &&
           (rows == nullptr || rows[next] == rows[row]))
      ++next;
    return next;
  }

  const StringPool& strings_;
  const std::span<const TrackRow> tracks_;
  SpanTable& spans_;
  const uint8_t* const flags_;
  const bool any_annotations_;
};

}  // namespace

bool FillKinds(const StringPool& strings, std::span<const TrackRow> tracks, ThreadTeam* team, SpanTable* spans) {
  constexpr size_t kRowsAtOnce = size_t{1} << 16;
  const KindFiller filler(strings, tracks, spans);
  std::vector<std::unique_ptr<SpanKindFinder>> finders(team->size());
  std::atomic<bool> is_explicit{false};
  team->ForEach((spans->size() + kRowsAtOnce - 1) / kRowsAtOnce, [&](size_t part, size_t member) {
    if (finders[member] == nullptr) finders[member] = std::make_unique<SpanKindFinder>(strings.size());
    const size_t end = std::min(spans->size(), (part + 1) * kRowsAtOnce);
    if (filler.Fill(part * kRowsAtOnce, end, finders[member].get())) is_explicit.store(true, std::memory_order_relaxed);
  });
  return is_explicit.load();
}

}  // namespace opscope
