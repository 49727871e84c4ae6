// Finds DuckDB's library and resolves its functions by name.
//
// A library counts only if it has every function that opscope calls: the module of the Python package exports them as a
// fact, not as a promise, and a release that stops doing so must be passed over. Example: with OPSCOPE_DUCKDB_LIB
// unset, `opscope query` in a Python that has the package `duckdb` loads _duckdb.cpython-311-x86_64-linux-gnu.so.
// SPDX-License-Identifier: Apache-2.0
#include "sql/duckdb_api.h"

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <system_error>

namespace opscope::duckdb {
namespace {

struct Loaded {
  Api api;
  std::string why_not;  // "": it can be used
};

Loaded LoadFrom(const std::string& path) {
  Loaded loaded;
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* const reason = dlerror();
    loaded.why_not = reason != nullptr ? reason : path + ": cannot be loaded";
    return loaded;
  }
#define OPSCOPE_DUCKDB_RESOLVE(type, name, parameters)                                     \
  loaded.api.name = reinterpret_cast<type(*) parameters>(dlsym(library, "duckdb_" #name)); \
  if (loaded.api.name == nullptr && loaded.why_not.empty()) loaded.why_not = path + ": has no function duckdb_" #name;
  OPSCOPE_DUCKDB_FUNCTIONS(OPSCOPE_DUCKDB_RESOLVE)
#undef OPSCOPE_DUCKDB_RESOLVE
  return loaded;
}

std::string BesideTheProgram() {
  std::error_code unknown;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", unknown);
  const std::filesystem::path library = program.parent_path() / "libduckdb.so";
  return !unknown && std::filesystem::exists(library, unknown) ? library.string() : "";
}

// Set once, under the mutex. Leaked, since DuckDB's threads may outlive the destructors of statics.
const Api* g_loaded = nullptr;
std::mutex g_loading;

// "": the library is now the loaded one. Otherwise why it cannot be used.
std::string Use(const std::string& path) {
  Loaded loaded = LoadFrom(path);
  if (loaded.why_not.empty()) g_loaded = new Api(loaded.api);
  return loaded.why_not;
}

}  // namespace

Result<const Api*> LoadDuckdb(const std::string& python_module) {
  const std::lock_guard lock(g_loading);
  if (g_loaded != nullptr) return g_loaded;
  const char* const named = std::getenv("OPSCOPE_DUCKDB_LIB");
  if (named != nullptr && *named != '\0') {
    const std::string why_not = Use(named);
    if (why_not.empty()) return g_loaded;
    return Error{ErrorCode::kUnsupported,
                 "OPSCOPE_DUCKDB_LIB: " + why_not + "; unset it, or pip install 'opscope[sql]'"};
  }
  std::string why_not;
  for (const std::string& path : {BesideTheProgram(), std::string("libduckdb.so"), python_module}) {
    if (path.empty()) continue;
    why_not = Use(path);
    if (why_not.empty()) return g_loaded;
  }
  if (python_module.empty()) why_not.clear();  // that of libduckdb.so says no more than the message
  return Error{ErrorCode::kUnsupported,
               "SQL needs DuckDB: pip install 'opscope[sql]', or name its library in OPSCOPE_DUCKDB_LIB" +
                   (why_not.empty() ? "" : " (" + why_not + ")")};
}

const Api& LoadedDuckdb() {
  return *g_loaded;
}

}  // namespace opscope::duckdb
