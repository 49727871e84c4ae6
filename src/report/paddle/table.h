// The views of Paddle's summary. Each function appends its table, or nothing if the table would be empty.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "opscope/paddle/table.h"

namespace opscope {

struct PaddleTexts {
  const Trace& trace;
  const PaddleStatistics& statistics;
  const PaddleTableOptions& options;

  std::string Name(StringId id) const;  // escaped for a terminal if options.is_escaped
};

void AppendPaddleDevices(const PaddleTexts& texts, std::string* out);
void AppendPaddleOverview(const PaddleTexts& texts, std::string* out);
void AppendPaddleModel(const PaddleTexts& texts, std::string* out);
void AppendPaddleDistribution(const PaddleTexts& texts, std::string* out);
void AppendPaddleOperators(const PaddleTexts& texts, std::string* out);
void AppendPaddleKernels(const PaddleTexts& texts, std::string* out);
void AppendPaddleMemoryManipulation(const PaddleTexts& texts, std::string* out);
void AppendPaddleRanges(const PaddleTexts& texts, std::string* out);
void AppendPaddleMemory(const PaddleTexts& texts, std::string* out);

}  // namespace opscope
