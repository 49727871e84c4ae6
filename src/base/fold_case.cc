// Letters in pairs lie in blocks: in most, the small letter follows at a fixed distance; in some, capital and small
// letters alternate. A table of blocks is enough, and a locale would change results by machine.
// SPDX-License-Identifier: Apache-2.0
#include "base/fold_case.h"

#include "base/text.h"

namespace opscope {
namespace {

// Capital letters [first, last]. distance 0: capital and small letters alternate, and `first` is a capital.
struct LetterBlock {
  uint32_t first, last, distance;
};
constexpr LetterBlock kBlocks[] = {
    {'A', 'Z', 32},     {0xC0, 0xD6, 32},    {0xD8, 0xDE, 32},    {0x100, 0x12F, 0},    {0x132, 0x137, 0},
    {0x139, 0x148, 0},  {0x14A, 0x177, 0},   {0x179, 0x17E, 0},   {0x391, 0x3A1, 32},   {0x3A3, 0x3AB, 32},
    {0x400, 0x40F, 80}, {0x410, 0x42F, 32},  {0x460, 0x481, 0},   {0x48A, 0x4BF, 0},    {0x4D0, 0x52F, 0},
    {0x531, 0x556, 48}, {0x1E00, 0x1E95, 0}, {0x1EA0, 0x1EFF, 0}, {0xFF21, 0xFF3A, 32},
};

}  // namespace

uint32_t FoldCodePoint(uint32_t code) {
  for (const LetterBlock& block : kBlocks) {
    if (code < block.first) return code;
    if (code > block.last) continue;
    return block.distance != 0 ? code + block.distance : code + ((code - block.first) % 2 == 0 ? 1 : 0);
  }
  return code;
}

void FoldCase(std::string_view text, std::string* folded) {
  folded->clear();
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    const size_t length = static_cast<signed char>(c) >= 0 ? 1 : Utf8SequenceLength(text.substr(at));
    if (length > 1) {
      AppendCodePoint(folded, FoldCodePoint(DecodeUtf8(text.substr(at, length))));
      at += length;
    } else {
      folded->push_back(LowerCase(c));
      ++at;
    }
  }
}

}  // namespace opscope
