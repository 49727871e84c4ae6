// The rows of an engine as values of a result.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/job_engine.h"
#include "opscope/report/result_table.h"
#include "opscope/result.h"

namespace opscope {

class RowValues {
 public:
  // kMalformed: the JSON is not a list of rows.
  [[nodiscard]] static Result<RowValues> Parse(const JobRows& rows);
  RowValues(RowValues&&) noexcept;
  ~RowValues();

  size_t size() const;
  // nullopt: no such column, null, or another type. A floating-point number without a fraction is an integer.
  std::optional<int64_t> Integer(size_t row, std::string_view column) const;
  std::string Text(size_t row, std::string_view column) const;  // "" for null
  // The integers of a list as "0,1,2"; "" for null.
  std::string NumberList(size_t row, std::string_view column) const;
  ResultValue Value(size_t row, const ResultColumn& column) const;
  // The columns of the description that have a key; those that the rows lack are unknown.
  [[nodiscard]] ResultTable Table(const ResultDescription& description) const;

 private:
  struct Parsed;
  explicit RowValues(std::unique_ptr<Parsed> parsed);
  std::unique_ptr<Parsed> parsed_;
};

}  // namespace opscope
