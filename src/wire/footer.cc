// The footer is a small table: each field of FooterBlock and FooterSum is one encoded column. A reader finds it from
// the end of the file: the end block has a fixed size and holds the footer's offset.
// SPDX-License-Identifier: Apache-2.0
#include "wire/footer.h"

#include "wire/column_codec.h"

namespace opscope {
namespace {

template <typename Row, typename Field>
void AppendField(std::string* out, const std::vector<Row>& rows, Field Row::* field, ColumnEncoding encoding) {
  std::vector<uint64_t> values;
  values.reserve(rows.size());
  for (const Row& row : rows)
    values.push_back(static_cast<uint64_t>(row.*field));
  ColumnEncoder().Append(out, values, encoding);
}

}  // namespace

std::string EncodeFooter(const Footer& footer) {
  std::string out;
  AppendVarint(&out, footer.blocks.size());
  AppendField(&out, footer.blocks, &FooterBlock::offset, ColumnEncoding::kDelta);
  AppendField(&out, footer.blocks, &FooterBlock::type, ColumnEncoding::kPlain);
  AppendField(&out, footer.blocks, &FooterBlock::table, ColumnEncoding::kPlain);
  AppendField(&out, footer.blocks, &FooterBlock::rows, ColumnEncoding::kPlain);
  AppendField(&out, footer.blocks, &FooterBlock::first_ns, ColumnEncoding::kDelta);
  AppendField(&out, footer.blocks, &FooterBlock::last_ns, ColumnEncoding::kDelta);
  AppendVarint(&out, footer.sums.size());
  AppendField(&out, footer.sums, &FooterSum::name, ColumnEncoding::kDelta);
  AppendField(&out, footer.sums, &FooterSum::category, ColumnEncoding::kPlain);
  AppendField(&out, footer.sums, &FooterSum::count, ColumnEncoding::kPlain);
  AppendField(&out, footer.sums, &FooterSum::total_ns, ColumnEncoding::kSigned);
  AppendField(&out, footer.sums, &FooterSum::self_ns, ColumnEncoding::kSigned);
  AppendField(&out, footer.sums, &FooterSum::min_ns, ColumnEncoding::kSigned);
  AppendField(&out, footer.sums, &FooterSum::max_ns, ColumnEncoding::kSigned);
  return out;
}

}  // namespace opscope
