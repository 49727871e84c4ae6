// Paddle names the memory of an allocation by a place: "Place(cpu)", "Place(gpu:1)". Only a GPU has a number.
// SPDX-License-Identifier: Apache-2.0
#include "import/paddle/place.h"

#include "import/text/json_number.h"

namespace opscope {

void ReadPaddlePlace(std::string_view place, AllocationRow* row) {
  if (!place.starts_with("Place(gpu:")) return;
  const size_t end = place.find_first_not_of("0123456789", 10);
  const auto index = ParseInteger(place.substr(10, end == std::string_view::npos ? end : end - 10));
  row->device_type = 1;  // CUDA
  if (index && *index <= INT32_MAX) row->device = static_cast<int32_t>(*index);
}

}  // namespace opscope
