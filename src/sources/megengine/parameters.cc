// Compiled with libstdc++'s older strings, as MegEngine's wheels are: nothing of std crosses the border of this file
// but the function that is called here.
// SPDX-License-Identifier: Apache-2.0
#include "sources/megengine/parameters.h"

#include <functional>
#include <string>
#include <unordered_map>

namespace opscope::megengine {

static_assert(_GLIBCXX_USE_CXX11_ABI == 0 && sizeof(std::string) == 8);

bool ReadParameters(const void* function,
                    void (*take)(void* context, const char* key, size_t key_size, const char* value, size_t value_size),
                    void* context) {
  using Parameters = std::unordered_map<std::string, std::string>;
  const auto* get = static_cast<const std::function<Parameters()>*>(function);
  try {
    if (!*get) return false;
    for (const auto& [key, value] : (*get)())
      take(context, key.data(), key.size(), value.data(), value.size());
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace opscope::megengine
