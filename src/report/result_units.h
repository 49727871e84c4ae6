// The units and conditions of columns by their bare names, for the lists of fields: `using namespace result_units`.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "opscope/report/result_table.h"

namespace opscope::result_units {

using enum ResultUnit;
using enum ColumnShown;

}  // namespace opscope::result_units
