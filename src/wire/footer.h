// The footer of a complete column file: where the blocks are, which times they cover, and sums per
// name. Other programs can read these without decoding the spans; opscope's own importer reads the
// blocks from the front and ignores the footer. footer_for_test.h shows how to read it.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace opscope {

struct FooterBlock {
  uint64_t offset = 0;
  uint32_t type = 0;
  uint32_t table = 0;  // of kTable blocks
  uint64_t rows = 0;
  int64_t first_ns = 0, last_ns = 0;  // first start and last start of the rows; 0, 0 for tables without times
};

// All spans of one name and category. Self time is the duration without the direct children.
struct FooterSum {
  uint32_t name = 0;  // StringId
  uint32_t category = 0;
  uint64_t count = 0;
  int64_t total_ns = 0, self_ns = 0, min_ns = 0, max_ns = 0;
};

struct Footer {
  std::vector<FooterBlock> blocks;
  std::vector<FooterSum> sums;
};

[[nodiscard]] std::string EncodeFooter(const Footer& footer);

}  // namespace opscope
