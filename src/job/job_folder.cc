// Reads and writes job.json and the manifests. Which manifests are in effect: they are sorted, those of most files
// first, of equal ones those that no other replaces, then by name; each that repeats no file of one before it is in
// effect. So a process that compacts, another one that does so at the same time, and those that add do not disturb each
// other: a compaction joins all manifests that are in effect, so the one that has joined more has all that the others
// have.
//
// Example: A {a}, B {b}. One compaction joins them as C {a, b}; while it reads, D {d} is added, and another compaction
// joins E {a, b, d}. E is in effect, and A, B, C and D repeat it. An A' {a}, which was collected meanwhile, repeats it,
// too.
// SPDX-License-Identifier: Apache-2.0
#include "job/job_folder.h"

#include <simdjson.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <iterator>
#include <random>
#include <system_error>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "base/assign.h"
#include "base/file.h"
#include "base/json_object.h"
#include "base/system_error.h"
#include "base/text.h"

namespace opscope {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kVersion = 1;
constexpr std::string_view kFormat = "opscope-job";
constexpr uint64_t kMaxManifestBytes = uint64_t{1} << 30;
constexpr int kMaxListings = 1000;  // each but the first needs another compaction meanwhile

fs::path HeadPath(const std::string& job) {
  return fs::path(job) / "_opscope" / "job.json";
}

fs::path PartsPath(const std::string& job) {
  return fs::path(job) / "_opscope" / "parts";
}

Error SystemError(const fs::path& path, const std::error_code& code) {
  return SystemErrorFor(path.string(), code.value(), ErrorCode::kIo);
}

// A path of a manifest may not lead out of JOB.
bool IsBelowJob(std::string_view path) {
  if (path.empty() || path.front() == '/') return false;
  for (const fs::path& piece : fs::path(path))
    if (piece == "..") return false;
  return true;
}

class JsonFile {
 public:
  Status Read(const fs::path& path) {
    path_ = path.string();
    std::error_code failed;
    if (const uint64_t size = fs::file_size(path, failed); !failed && size > kMaxManifestBytes)
      return Wrong("is larger than a gigabyte");
    simdjson::dom::element root;
    const simdjson::error_code error = parser_.load(path_).get(root);
    if (error == simdjson::IO_ERROR) return Error{ErrorCode::kIo, path_ + ": it cannot be read"};
    if (error != simdjson::SUCCESS || root.get(object_) != simdjson::SUCCESS) return Wrong("is not a JSON object");
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
      PartFile& file = files->emplace_back(PartFile{std::string(table), std::string(path), rows});
      int64_t rank = 0;
      if (element["rank_of_name"].get(rank) == simdjson::SUCCESS && rank >= 0 && rank <= INT32_MAX)
        file.rank_of_name = static_cast<int32_t>(rank);
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
    JsonObject object(&json);
    object.Text("table", file.table).Text("path", file.path).Uint("rows", file.rows);
    if (file.rank_of_name) object.Int("rank_of_name", *file.rank_of_name);
    object.Close();
  }
  json.append("],");
  AppendTexts("replaces", part.replaces, &json);
  return json + "}\n";
}

// The names of the manifests, sorted.
Result<std::vector<std::string>> ListManifests(const fs::path& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end; entry.increment(failed))
    if (entry->path().extension() == ".json") names.push_back(entry->path().stem().string());
  if (failed) return SystemError(folder, failed);
  std::sort(names.begin(), names.end());
  return names;
}

// False: another process has removed the file.
Result<bool> ReadManifest(const fs::path& path, PartManifest* part) {
  JsonFile file;
  if (const Status read = file.Read(path); !read.ok()) {
    std::error_code ignored;
    // The status of the entry itself: a link that leads nowhere is a lasting error.
    if (fs::symlink_status(path, ignored).type() == fs::file_type::not_found) return false;
    return read.error();
  }
  if (!file.ReadTexts("sha256", &part->sha256) || !file.ReadFiles(&part->files) ||
      !file.ReadTexts("replaces", &part->replaces))
    return file.Wrong("is not the manifest of a part");
  return true;
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
    return Error{ErrorCode::kInvalidArgument, path + ": it is not empty and not a JOB"};
  fs::create_directories(PartsPath(path), failed);
  if (failed) return SystemError(path, failed);
  std::string json = "{";
  JsonMemberWriter(&json).Text("format", kFormat).Int("version", kVersion).Uint("bucket_ranks", bucket_ranks);
  // If several processes do this, one is first, and all read its file.
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
    return Error{ErrorCode::kInvalidArgument, path_ + ": it is not a JOB; opscope collect makes one"};
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

// A compaction may remove manifests while this reads them. It removes a manifest only after the replacement was added,
// so there are two cases for a manifest that was listed and is gone:
//   - The replacement was listed: its parts are read in any case.
//   - It was added after the listing began: a new listing has it.
// The names are listed before the first manifest is read, so all manifests that are read existed together when the
// listing ended. Without this, a reader could read A, miss B, which replaces A, and read C, which replaces B: it would
// take A and C for repetitions of each other.
Status JobFolder::ReadParts() {
  std::vector<PartManifest> all;
  std::set<std::string> replaced;
  bool is_complete = false;
  for (int listing = 0; !is_complete; ++listing) {
    if (listing == kMaxListings)
      return Error{ErrorCode::kIo, PartsPath(path_).string() + ": its manifests do not stay while they are read", 0};
    OPSCOPE_ASSIGN(const std::vector<std::string> names, ListManifests(PartsPath(path_)));
    std::vector<std::string> gone;
    all.clear();
    replaced.clear();
    for (const std::string& name : names) {
      PartManifest part{.name = name, .sha256 = {}, .files = {}, .replaces = {}};
      OPSCOPE_ASSIGN(const bool was_there, ReadManifest(PartsPath(path_) / (name + ".json"), &part));
      if (!was_there) {
        gone.push_back(name);
        continue;
      }
      replaced.insert(part.replaces.begin(), part.replaces.end());
      all.push_back(std::move(part));
    }
    is_complete =
        std::all_of(gone.begin(), gone.end(), [&](const std::string& name) { return replaced.contains(name); });
  }
  SelectParts(std::move(all));
  return {};
}

void JobFolder::SelectParts(std::vector<PartManifest> all) {
  parts_.clear();
  superseded_.clear();
  sha256_.clear();
  std::set<std::string> replaced;
  for (const PartManifest& part : all)
    replaced.insert(part.replaces.begin(), part.replaces.end());
  const auto order = [&](const PartManifest& part) {
    return std::tuple(SIZE_MAX - part.sha256.size(), replaced.contains(part.name), std::string_view(part.name));
  };
  std::sort(all.begin(), all.end(), [&](const PartManifest& a, const PartManifest& b) { return order(a) < order(b); });
  for (PartManifest& part : all) {
    const bool repeats = RepeatsAny(part);
    if (!repeats) sha256_.insert(part.sha256.begin(), part.sha256.end());
    (repeats ? superseded_ : parts_).push_back(std::move(part));
  }
  DropReplaced();
  std::sort(parts_.begin(), parts_.end(), [](const PartManifest& a, const PartManifest& b) { return a.name < b.name; });
}

// A manifest that another one in effect replaces is superseded, even if no other manifest has its files. opscope writes
// no such manifest; another program may remove a file from the JOB in this way.
void JobFolder::DropReplaced() {
  std::set<std::string> replaced;
  for (const PartManifest& part : parts_)
    replaced.insert(part.replaces.begin(), part.replaces.end());
  const auto is_dropped = [&](const PartManifest& part) { return replaced.contains(part.name); };
  const auto dropped = std::stable_partition(parts_.begin(), parts_.end(), std::not_fn(is_dropped));
  for (auto part = dropped; part != parts_.end(); ++part) {
    for (const std::string& sha256 : part->sha256)
      sha256_.erase(sha256);
  }
  std::move(dropped, parts_.end(), std::back_inserter(superseded_));
  parts_.erase(dropped, parts_.end());
}

bool JobFolder::RepeatsAny(const PartManifest& part) const {
  return std::any_of(part.sha256.begin(), part.sha256.end(), [&](const std::string& sha256) { return Has(sha256); });
}

bool JobFolder::RepeatsAll(const PartManifest& part) const {
  return std::all_of(part.sha256.begin(), part.sha256.end(), [&](const std::string& sha256) { return Has(sha256); });
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
  if (part.replaces.empty() && !RepeatsAny(part)) {  // as most parts: without a look at all others
    sha256_.insert(part.sha256.begin(), part.sha256.end());
    parts_.push_back(std::move(part));
    return {};
  }
  std::vector<PartManifest> all = std::move(parts_);
  std::move(superseded_.begin(), superseded_.end(), std::back_inserter(all));
  all.push_back(std::move(part));
  SelectParts(std::move(all));
  return {};
}

Status JobFolder::RemoveSuperseded() {
  if (superseded_.empty()) return {};
  std::unordered_set<std::string_view> live;
  for (const PartManifest& part : parts_) {
    for (const PartFile& file : part.files)
      live.insert(file.path);
  }
  std::error_code failed;
  for (const PartManifest& part : superseded_) {
    if (!RepeatsAll(part)) continue;  // it has a file that no other manifest has: nothing that opscope writes
    fs::remove(PartsPath(path_) / (part.name + ".json"), failed);
    if (failed) return SystemError(PartsPath(path_), failed);
    for (const PartFile& file : part.files) {
      if (live.contains(file.path)) continue;
      fs::remove(fs::path(path_) / file.path, failed);
      if (failed) return SystemError(fs::path(path_) / file.path, failed);
    }
  }
  std::erase_if(superseded_, [&](const PartManifest& part) { return RepeatsAll(part); });
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
