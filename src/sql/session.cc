// Opens DuckDB with every door closed that its settings can close: files, network, extensions, spilling to disk, and at
// last the settings themselves. Export alone opens one with access to files, and runs no statement of a user there.
// SPDX-License-Identifier: Apache-2.0
#include "sql/session.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/system_error.h"

namespace opscope::duckdb {

Result<std::unique_ptr<Session>> Session::Open(const Api& api, std::shared_ptr<const Trace> trace,
                                               const SessionOptions& options) {
  std::vector<std::pair<const char*, std::string>> settings = {
      {"threads", std::to_string(std::max(1u, options.threads))},
      {"autoinstall_known_extensions", "false"},
      {"autoload_known_extensions", "false"},
      {"temp_directory", ""},
  };
  if (options.max_memory != 0) settings.emplace_back("memory_limit", std::to_string(options.max_memory) + "B");
  if (!options.may_write_files) {
    settings.emplace_back("enable_external_access", "false");
    settings.emplace_back("lock_configuration", "true");
  }
  Owned<config> configured(api.destroy_config);
  if (api.create_config(configured.out()) != kSuccess) return Error{ErrorCode::kOutOfMemory, "DuckDB gave no settings"};
  for (const auto& [name, setting] : settings) {
    if (api.set_config(configured.get(), name, setting.c_str()) != kSuccess) {
      return Error{ErrorCode::kUnsupported, std::string("DuckDB ") + api.library_version() + " has no setting " + name +
                                                "; install another release: pip install -U 'opscope[sql]'"};
    }
  }
  std::unique_ptr<Session> session(new Session(api));
  char* message = nullptr;
  if (api.open_ext(nullptr, &session->database_, configured.get(), &message) != kSuccess) {
    const Error error = {ErrorCode::kUnsupported, CleanMessage(message)};
    api.free(message);
    return error;
  }
  if (api.connect(session->database_, &session->connection_) != kSuccess)
    return Error{ErrorCode::kUnsupported, "DuckDB gave no connection"};
  if (trace) OPSCOPE_TRY(session->tables_.emplace_back(api, std::move(trace)).Register(session->connection_));
  return session;
}

Status Session::Add(const std::shared_ptr<const OwnedTable>& table) {
  return tables_.emplace_back(api_, table).Register(connection_);
}

Session::~Session() {
  if (connection_ != nullptr) api_.disconnect(&connection_);
  if (database_ != nullptr) api_.close(&database_);
}

Result<uint64_t> Session::WriteParquet(const std::string& select, const std::string& path) {
  namespace fs = std::filesystem;
  const fs::path file(path), folder = file.parent_path();
  std::error_code failed, ignored;
  fs::create_directories(folder, failed);
  if (failed) return SystemErrorFor(folder.string(), failed.value(), ErrorCode::kIo);
  const fs::path unfinished = folder / ("." + file.filename().string() + ".tmp-" + std::to_string(getpid()));
  const Result<uint64_t> written =
      Execute("COPY (" + select + ") TO " + SqlText(unfinished.string()) + " (FORMAT parquet, COMPRESSION zstd)");
  if (written.ok()) {
    fs::rename(unfinished, file, failed);
    if (!failed) return written.value();
  }
  fs::remove(unfinished, ignored);
  if (written.ok()) return SystemErrorFor(path, failed.value(), ErrorCode::kIo);
  return Error{ErrorCode::kIo, path + ": " + written.error().message};
}

Result<uint64_t> Session::Execute(const std::string& sql) {
  result executed = {};
  const bool is_done = api_.query(connection_, sql.c_str(), &executed) == kSuccess;
  Result<uint64_t> done = is_done ? Result<uint64_t>(api_.rows_changed(&executed))
                                  : Error{ErrorCode::kIo, CleanMessage(api_.result_error(&executed))};
  api_.destroy_result(&executed);
  return done;
}

std::string SqlText(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text)
    quoted.append(c == '\'' ? 2 : 1, c);
  return quoted + "'";
}

std::string CleanMessage(const char* message) {
  std::string_view text = message != nullptr ? message : "DuckDB gave no reason";
  text = text.substr(0, text.find("\n\n"));
  text = text.substr(0, text.find("\nLINE "));
  text = text.substr(0, text.find("\nPossible solutions"));
  text = text.substr(0, text.find(" Use \"SET "));  // a query cannot
  if (text.starts_with("INTERNAL")) text = text.substr(0, text.find('\n'));
  std::string line;
  for (const char c : text)
    line += c == '\n' || c == '\r' || c == '\t' ? ' ' : c;
  return line;
}

}  // namespace opscope::duckdb
