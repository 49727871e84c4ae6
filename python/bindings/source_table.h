// Loads the function table of a framework's source. Every table begins with the common Source; the functions that only
// this framework has follow.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dlfcn.h>

#include <string>

#include "opscope/source.h"
#include "python/bindings/bindings.h"

namespace opscope::python {

// Python's `_core.torch.TorchSource` and so on: a loaded library with its function table, such as TorchSource.
template <typename Table>
struct LoadedTable : LoadedSource {
  const Table* table = nullptr;
};

// The table that the library's function opscope_FRAMEWORK_source returns. kUnsupported: the library has no such
// function, or is of another version of opscope. Any thread, without the GIL.
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

// Adds `load_source(path)` to the submodule of a framework. With the GIL.
template <typename Table>
void BindLoadSource(nb::module_& module, const char* framework, uint32_t abi) {
  module.def(
      "load_source",
      [framework, abi](nb::handle path) {
        const std::string file = FromPath(path);
        const Table* table = Unwrap(WithoutGil([&] { return LoadTable<Table>(file, framework, abi); }));
        return LoadedTable<Table>{{&table->source}, table};
      },
      nb::arg("path"), "Loads the library of this source. opscope.Error: the loader's own sentence.");
}

}  // namespace opscope::python
