// Reads and writes job.json and the manifests. Which manifests count: first those that a later one replaces are taken
// away, then each that repeats a file of one before it. A process that compacts and one that adds do not disturb each
// other, since a manifest names what it replaces. Two that compact at once both replace the same ones; then the second
// repeats files of the first, and does not count.
// SPDX-License-Identifier: Apache-2.0
#include "job/job_folder.h"

#include <simdjson.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <random>
#include <system_error>
#include <utility>

#include "base/file.h"
#include "base/json_object.h"
#include "base/text.h"

namespace opscope {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kVersion = 1;
constexpr std::string_view kFormat = "opscope-job";
constexpr uint64_t kMostManifestBytes = uint64_t{1} << 30;

fs::path HeadPath(const std::string& job) {
  return fs::path(job) / "_opscope" / "job.json";
}

fs::path PartsPath(const std::string& job) {
  return fs::path(job) / "_opscope" / "parts";
}

Error SystemError(const fs::path& path, const std::error_code& code) {
  return {ErrorCode::kIo, path.string() + ": " + code.message(), code.value()};
}

// A path of a manifest may not lead out of JOB.
bool IsBelowJob(std::string_view path) {
  if (path.empty() || path.front() == '/') return false;
  for (const fs::path& piece : fs::path(path)) {
    if (piece == "..") return false;
  }
  return true;
}

class JsonFile {
 public:
  Status Read(const fs::path& path) {
    path_ = path.string();
    std::error_code failed;
    if (const uint64_t size = fs::file_size(path, failed); !failed && size > kMostManifestBytes)
      return Wrong("is larger than a gigabyte");
    simdjson::dom::element root;
    const simdjson::error_code error = parser_.load(path_).get(root);
    if (error == simdjson::IO_ERROR) return Error{ErrorCode::kIo, path_ + ": it cannot be read"};
    if (error != simdjson::SUCCESS || root.get(object_) != simdjson::SUCCESS) return Wrong("is no JSON object");
    return {};
  }
  Error Wrong(const std::string& what) const { return {ErrorCode::kMalformed, path_ + ": " + what}; }

  bool ReadInteger(std::string_view key, int64_t* value) const {
    return object_.at_key(key).get(*value) == simdjson::SUCCESS;
  }
  bool ReadText(std::string_view key, std::string* value) const {
    std::string_view text;
    if (object_.at_key(key).get(text) != simdjson::SUCCESS) return false;
    value->assign(text);
    return true;
  }
  bool ReadTexts(std::string_view key, std::vector<std::string>* values) const {
    simdjson::dom::array array;
    if (object_.at_key(key).get(array) != simdjson::SUCCESS) return false;
    for (const simdjson::dom::element element : array) {
      std::string_view text;
      if (element.get(text) != simdjson::SUCCESS) return false;
      values->emplace_back(text);
    }
    return true;
  }
  bool ReadFiles(std::vector<PartFile>* files) const {
    simdjson::dom::array array;
    if (object_.at_key("files").get(array) != simdjson::SUCCESS) return false;
    for (const simdjson::dom::element element : array) {
      std::string_view table, path;
      uint64_t rows = 0;
      if (element["table"].get(table) != simdjson::SUCCESS || element["path"].get(path) != simdjson::SUCCESS ||
          element["rows"].get(rows) != simdjson::SUCCESS || !IsBelowJob(path))
        return false;
      files->push_back({std::string(table), std::string(path), rows});
    }
    return true;
  }

 private:
  std::string path_;
  simdjson::dom::parser parser_;
  simdjson::dom::object object_;
};

void AppendTexts(std::string_view key, const std::vector<std::string>& texts, std::string* out) {
  out->append("\"").append(key).append("\":[");
  for (const std::string& text : texts) {
    if (out->back() != '[') out->append(",");
    AppendJsonString(out, text);
  }
  out->append("]");
}

std::string ManifestJson(const PartManifest& part) {
  std::string json = "{";
  AppendTexts("sha256", part.sha256, &json);
  json.append(",\"files\":[");
  for (const PartFile& file : part.files) {
    if (json.back() != '[') json.append(",\n");
    JsonObject(&json).Text("table", file.table).Text("path", file.path).Uint("rows", file.rows);
    json.append("}");
  }
  json.append("],");
  AppendTexts("replaces", part.replaces, &json);
  return json + "}\n";
}

}  // namespace

Result<JobFolder> JobFolder::Open(const std::string& path) {
  JobFolder folder(path);
  OPSCOPE_TRY(folder.ReadHead());
  OPSCOPE_TRY(folder.ReadParts());
  return folder;
}

Result<JobFolder> JobFolder::OpenOrCreate(const std::string& path, uint32_t bucket_ranks) {
  std::error_code failed;
  if (fs::exists(HeadPath(path), failed)) return Open(path);
  if (fs::exists(path, failed) && !fs::is_empty(path, failed) && !fs::exists(HeadPath(path).parent_path(), failed))
    return Error{ErrorCode::kInvalidArgument, path + ": it is not empty, and no JOB"};
  fs::create_directories(PartsPath(path), failed);
  if (failed) return SystemError(path, failed);
  std::string json = "{";
  JsonMemberWriter(&json).Text("format", kFormat).Int("version", kVersion).Uint("bucket_ranks", bucket_ranks);
  // Of several processes one is first; all read what stands there then.
  const fs::path head = HeadPath(path), mine = head.string() + "." + NewName("new");
  OPSCOPE_TRY(WriteFileAtomically(mine.string(), json + "}\n"));
  if (link(mine.c_str(), head.c_str()) != 0 && !fs::exists(head, failed)) fs::rename(mine, head, failed);
  std::error_code ignored;
  fs::remove(mine, ignored);
  return Open(path);
}

Status JobFolder::ReadHead() {
  std::error_code failed;
  if (!fs::exists(HeadPath(path_), failed))
    return Error{ErrorCode::kInvalidArgument, path_ + ": it is no JOB; opscope collect makes one"};
  JsonFile file;
  OPSCOPE_TRY(file.Read(HeadPath(path_)));
  std::string format;
  int64_t version = 0, bucket_ranks = 0;
  if (!file.ReadText("format", &format) || format != kFormat || !file.ReadInteger("version", &version))
    return file.Wrong("is not that of a JOB");
  if (version > kVersion) {
    return Error{ErrorCode::kUnsupported, path_ + ": it has version " + std::to_string(version) +
                                              " of the format; this opscope reads version " + std::to_string(kVersion)};
  }
  if (!file.ReadInteger("bucket_ranks", &bucket_ranks) || bucket_ranks < 1 || bucket_ranks > INT32_MAX)
    return file.Wrong("has no \"bucket_ranks\"");
  bucket_ranks_ = static_cast<uint32_t>(bucket_ranks);
  return {};
}

Status JobFolder::ReadParts() {
  std::vector<PartManifest> all;
  std::error_code failed;
  for (fs::directory_iterator entry(PartsPath(path_), failed), end; !failed && entry != end; entry.increment(failed)) {
    if (entry->path().extension() != ".json") continue;
    PartManifest part{.name = entry->path().stem().string(), .sha256 = {}, .files = {}, .replaces = {}};
    JsonFile file;
    OPSCOPE_TRY(file.Read(entry->path()));
    if (!file.ReadTexts("sha256", &part.sha256) || !file.ReadFiles(&part.files) ||
        !file.ReadTexts("replaces", &part.replaces))
      return file.Wrong("is no manifest of a part");
    all.push_back(std::move(part));
  }
  if (failed) return SystemError(PartsPath(path_), failed);
  std::sort(all.begin(), all.end(), [](const PartManifest& a, const PartManifest& b) { return a.name < b.name; });
  std::set<std::string> replaced;
  for (const PartManifest& part : all)
    replaced.insert(part.replaces.begin(), part.replaces.end());
  for (PartManifest& part : all) {
    if (replaced.contains(part.name)) {
      superseded_.push_back(std::move(part));
    } else {
      Count(std::move(part));
    }
  }
  return {};
}

void JobFolder::Count(PartManifest part) {
  const bool repeats = std::any_of(part.sha256.begin(), part.sha256.end(),
                                   [&](const std::string& sha256) { return sha256_.contains(sha256); });
  if (repeats) {
    superseded_.push_back(std::move(part));
    return;
  }
  sha256_.insert(part.sha256.begin(), part.sha256.end());
  parts_.push_back(std::move(part));
}

std::vector<std::string> JobFolder::FilesOf(std::string_view table) const {
  std::vector<std::string> files;
  for (const PartManifest& part : parts_) {
    for (const PartFile& file : part.files)
      if (file.table == table) files.push_back((fs::path(path_) / file.path).string());
  }
  return files;
}

uint64_t JobFolder::CountRows(std::string_view table) const {
  uint64_t rows = 0;  // a damaged manifest may say any number
  for (const PartManifest& part : parts_) {
    for (const PartFile& file : part.files)
      if (file.table == table) rows += std::min(file.rows, UINT64_MAX - rows);
  }
  return rows;
}

Status JobFolder::Add(PartManifest part) {
  const fs::path path = PartsPath(path_) / (part.name + ".json");
  OPSCOPE_TRY(WriteFileAtomically(path.string(), ManifestJson(part)));
  const std::set<std::string> replaced(part.replaces.begin(), part.replaces.end());
  for (size_t i = parts_.size(); i-- > 0;) {
    if (!replaced.contains(parts_[i].name)) continue;
    for (const std::string& sha256 : parts_[i].sha256)
      sha256_.erase(sha256);
    superseded_.push_back(std::move(parts_[i]));
    parts_.erase(parts_.begin() + static_cast<ptrdiff_t>(i));
  }
  Count(std::move(part));
  return {};
}

Status JobFolder::Remove(const PartManifest& part) {
  std::set<std::string> kept;  // files that a part which counts has, too
  for (const PartManifest& other : parts_) {
    for (const PartFile& file : other.files)
      kept.insert(file.path);
  }
  std::error_code failed;
  fs::remove(PartsPath(path_) / (part.name + ".json"), failed);
  if (failed) return SystemError(PartsPath(path_), failed);
  for (const PartFile& file : part.files) {
    if (kept.contains(file.path)) continue;
    fs::remove(fs::path(path_) / file.path, failed);
    if (failed) return SystemError(fs::path(path_) / file.path, failed);
  }
  return {};
}

std::string JobFolder::NewName(std::string_view sha256) {
  std::random_device random;
  const uint64_t bits = (static_cast<uint64_t>(random()) << 32) ^ random() ^ static_cast<uint64_t>(getpid());
  std::string name(sha256.substr(0, 16));
  name += '-';
  AppendHex(&name, bits);
  return name;
}

}  // namespace opscope
