// The folder of a JOB: lists its parts and adds a part.
//
//   JOB/_opscope/job.json          {"format": "opscope-job", "version": 1, "bucket_ranks": 128}
//   JOB/_opscope/parts/NAME.json   {"sha256": [...], "files": [{"table", "path", "rows"}], "replaces": [NAME, ...]}
//
// A file of the table "traces" may also have "rank_of_name".
//
// Adding a part ends with the rename of its manifest; readers ignore a file that no manifest lists. Several processes
// may add parts at once, so two manifests may list the same traces: the one with more files is in effect.
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "opscope/result.h"

namespace opscope {

struct PartFile {
  std::string table;
  std::string path;  // below JOB
  uint64_t rows = 0;
  // The rank in the name of the collected file, if the metadata of the trace have another one.
  std::optional<int32_t> rank_of_name = {};
};

struct PartManifest {
  std::string name;  // without ".json"
  std::vector<std::string> sha256;
  std::vector<PartFile> files;
  std::vector<std::string> replaces;
};

class JobFolder {
 public:
  // kInvalidArgument: the folder is no JOB. kUnsupported: its version is newer. kMalformed names the file.
  [[nodiscard]] static Result<JobFolder> Open(const std::string& path);
  // Opens JOB, or makes it. kInvalidArgument: there is another folder that is not empty.
  [[nodiscard]] static Result<JobFolder> OpenOrCreate(const std::string& path, uint32_t bucket_ranks);

  const std::string& path() const { return path_; }
  uint32_t bucket_ranks() const { return bucket_ranks_; }
  // The manifests in effect, by name; those added by Add may follow at the end.
  const std::vector<PartManifest>& parts() const { return parts_; }
  // The manifests that are not in effect, because others list the same traces.
  const std::vector<PartManifest>& superseded() const { return superseded_; }
  bool Has(std::string_view sha256) const { return sha256_.contains(sha256); }
  // Paths of the files of a table, in the order of the manifests.
  [[nodiscard]] std::vector<std::string> FilesOf(std::string_view table) const;
  // The number of rows of these files, from the manifests.
  [[nodiscard]] uint64_t CountRows(std::string_view table) const;

  // Writes the manifest and puts it into effect. Its files must be complete.
  [[nodiscard]] Status Add(PartManifest part);
  // Removes the superseded manifests whose traces all are in parts(), and their files, except files that a part of
  // parts() lists. An error leaves the rest to the next call.
  [[nodiscard]] Status RemoveSuperseded();
  // A name that no other process uses.
  [[nodiscard]] static std::string NewName(std::string_view sha256);

 private:
  explicit JobFolder(std::string path) : path_(std::move(path)) {}
  Status ReadHead();
  Status ReadParts();
  // Sorts all manifests into those in effect and the superseded ones.
  void SelectParts(std::vector<PartManifest> all);
  void DropReplaced();
  bool RepeatsAny(const PartManifest& part) const;
  bool RepeatsAll(const PartManifest& part) const;

  std::string path_;
  uint32_t bucket_ranks_ = 128;
  std::vector<PartManifest> parts_, superseded_;
  std::set<std::string, std::less<>> sha256_;
};

}  // namespace opscope
