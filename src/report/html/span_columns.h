// The columns of kept spans and of folded blocks, which the data document and the windows of a server have alike.
//
//   PageSpanColumns kept;
//   kept.Add(trace, levels, &strings);
//   for (const auto& [key, column] : kept.ByKey())
//     column->AppendJson(&object.Key(key));
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "opscope/analysis/timeline_levels.h"
#include "report/html/integer_column.h"
#include "report/html/page_strings.h"

namespace opscope {

// The columns of an object of the document, by key.
using ColumnsByKey = std::vector<std::pair<std::string_view, IntegerColumn*>>;

class PageSpanColumns {
 public:
  void Add(const Trace& trace, const TimelineLevels& levels, PageStrings* strings) {
    const SpanColumns& spans = trace.spans();
    for (size_t i = 0; i < levels.kept.size(); ++i) {
      const uint32_t span = levels.kept[i];
      start_.Add(spans.start[span].ns);
      duration_.Add(spans.duration[span].ns);
      covered_.Add(levels.covered_ns[i]);
      depth_.Add(levels.row[i]);
      name_.Add(strings->Of(spans.name[span]));
      category_.Add(strings->Of(spans.category[span]));
    }
  }

  ColumnsByKey ByKey() {
    return {{"start", &start_}, {"duration", &duration_}, {"covered", &covered_},
            {"depth", &depth_}, {"name", &name_},         {"category", &category_}};
  }

 private:
  IntegerColumn start_{IntegerColumn::kDeltas}, duration_, covered_, depth_{IntegerColumn::kDeltas}, name_, category_;
};

class PageBlockColumns {
 public:
  void Add(const TimelineLevels& levels) {
    size_t number = 0;  // of the track among those of `levels`
    for (const FoldedSpans& block : levels.folded) {
      while (levels.tracks[number] != block.track)
        ++number;
      track_.Add(static_cast<int64_t>(number));
      depth_.Add(block.row);
      start_.Add(block.start_ns);
      duration_.Add(block.duration_ns);
      count_.Add(static_cast<int64_t>(block.count));
    }
  }

  ColumnsByKey ByKey() {
    return {{"track", &track_}, {"depth", &depth_}, {"start", &start_}, {"duration", &duration_}, {"count", &count_}};
  }

 private:
  IntegerColumn track_, depth_, start_{IntegerColumn::kDeltas}, duration_, count_;
};

}  // namespace opscope
