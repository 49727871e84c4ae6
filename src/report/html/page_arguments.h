// The arguments of the kept spans of a page: docs/reference/web_data.md has the layout. Most arguments of a program are
// lists that many spans share (shapes, types) and integers that no two spans share (ids, sequence numbers): lists are
// written once, and the integers of a key are a column of their own. A text for each integer would take most of a page.
//
//   PageArguments arguments(results, kept, max_bytes);
//   arguments.AddTexts(&strings);
//   arguments.AddColumns(&columns);   // to be compressed
//   arguments.AppendJson(&out);
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "opscope/report/html.h"
#include "report/html/integer_column.h"
#include "report/html/page_strings.h"

namespace opscope {

class ArgumentCollector;

class PageArguments {
 public:
  // The spans with arguments that do not fit into about max_bytes are the shortest ones. O(n log n) then.
  PageArguments(const PageResults& results, std::span<const uint32_t> kept, size_t max_bytes);
  ~PageArguments();

  // Gives the texts their numbers, which completes the columns. To be called once, before the functions below. Only
  // this function uses the texts of the page, so the constructor may run beside another writer of them.
  void AddTexts(PageStrings* strings);
  void AddColumns(std::vector<IntegerColumn*>* columns);
  // The value of the member "arguments".
  void AppendJson(std::string* out) const;

 private:
  struct Integers {
    uint32_t key;  // index of a text
    IntegerColumn span{IntegerColumn::kDeltas}, value{IntegerColumn::kDeltas};
  };

  friend class ArgumentCollector;

  bool CollectAll(const PageResults& results, std::span<const uint32_t> kept, size_t max_bytes);

  std::unique_ptr<ArgumentCollector> collected_;  // until AddTexts
  IntegerColumn span_{IntegerColumn::kDeltas}, key_, value_;
  IntegerColumn list_span_{IntegerColumn::kDeltas}, list_;
  IntegerColumn row_list_{IntegerColumn::kDeltas}, row_key_, row_value_;
  std::vector<Integers> integers_;
  uint64_t left_out_ = 0;
};

}  // namespace opscope
