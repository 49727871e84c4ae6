// The footer of a complete column file: where the blocks are, which times they cover, and sums per
// name. It is for programs that want these without decoding the spans; opscope's own importer reads
// blocks from the front and ignores it.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
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
// False when the bytes contradict themselves, or name more blocks or sums than a file of `file_bytes` can hold. So a
// damaged footer takes no more than about 60 bytes of memory per byte of its file.
[[nodiscard]] bool DecodeFooter(std::span<const std::byte> payload, uint64_t file_bytes, Footer* footer);
// Finds the footer from the end of a complete file without reading anything else.
[[nodiscard]] bool FindFooter(std::span<const std::byte> file, Footer* footer);

}  // namespace opscope
