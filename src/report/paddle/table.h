// The views of Paddle's summary, a function each: appends its table where there is anything in it.
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

  std::string Name(StringId id) const;  // as it is to be shown
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
