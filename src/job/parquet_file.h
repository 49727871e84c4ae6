// What can be learnt of a file of Parquet without DuckDB, whose messages for a damaged file do not name it.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "opscope/result.h"

namespace opscope {

// Looks at both ends of a file that a manifest lists. kNotFound: it cannot be opened. kMalformed: it is damaged there.
[[nodiscard]] Status CheckParquet(const std::string& path);

// Whether the file has the column. Reads the footer, in which names are plain text behind their length. The errors are
// those of CheckParquet.
[[nodiscard]] Result<bool> ParquetHasColumn(const std::string& path, std::string_view column);

}  // namespace opscope
