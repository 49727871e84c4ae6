// Names of torch's tensor layouts as attributes of the module torch: `torch.strided`, `torch.sparse_coo`.
//
// Thread rule: a constant.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "opscope/trace.h"

namespace opscope {

inline const char* LayoutName(TensorLayout layout) {
  constexpr const char* kNames[] = {"strided",    "sparse_coo", "sparse_csr", "_mkldnn",
                                    "sparse_csc", "sparse_bsr", "sparse_bsc", "jagged"};
  static_assert(sizeof(kNames) / sizeof(*kNames) == static_cast<size_t>(TensorLayout::kJagged) + 1);
  return kNames[static_cast<size_t>(layout)];
}

}  // namespace opscope
