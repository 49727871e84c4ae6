// Loads the function table of a framework adapter. Every table begins with the common Source; the functions that only
// this framework has follow.
//
// Thread rule: any thread, without the GIL.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>

#include <string>

#include "opscope/source.h"

namespace opscope::python {

// The table that the library's function opscope_FRAMEWORK_source returns. kUnsupported: the library has no such
// function, or is of another version of opscope.
template <typename Table>
Result<const Table*> LoadTable(const std::string& path, const char* framework, uint32_t abi) {
  const Result<const Source*> source = LoadSource(path);
  if (!source.ok()) return source.error();
  const std::string function = std::string("opscope_") + framework + "_source";
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
  void* symbol = library != nullptr ? dlsym(library, function.c_str()) : nullptr;
  if (symbol == nullptr) {
    return Error{ErrorCode::kUnsupported, path + ": is not a " + framework + " source: it has no " + function};
  }
  const Table* table = reinterpret_cast<const Table* (*)()>(symbol)();
  if (table == nullptr || table->abi != abi) {
    return Error{ErrorCode::kUnsupported, path + ": belongs to another version of opscope"};
  }
  return table;
}

}  // namespace opscope::python
