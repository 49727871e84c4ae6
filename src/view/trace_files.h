// The traces of a viewer. It finds them when it starts, opens each at the first use, and closes traces if the open ones
// use more memory than allowed.
//
// Thread rule: Find by one thread; afterwards any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/mutex.h"
#include "opscope/result.h"
#include "opscope/trace.h"
#include "opscope/view.h"

namespace opscope {

class TraceFiles {
 public:
  // Lists the files of options.files, and for each folder the traces below it, by name. Follows no links in folders.
  // kNotFound, kIo: a file cannot be read, or a folder has no trace. Cost: reads the first bytes of files in folders.
  static Result<std::unique_ptr<TraceFiles>> Find(const ViewOptions& options);

  // Opens the traces that are needed from the start: all if they are few, otherwise inputs that can be read only once,
  // and named files whose first bytes are not those of a trace. Fails if a file that the user named cannot be read.
  [[nodiscard]] Status OpenAtStart();

  [[nodiscard]] size_t size() const { return files_.size(); }
  // The name on the page: the path as given, or relative to the given folder.
  [[nodiscard]] const std::string& name(size_t file) const { return files_[file].name; }
  // False, too, while any file is being read. Never waits.
  [[nodiscard]] bool is_open(size_t file);
  // Opens the file if necessary. The Trace stays as long as the caller holds it. REQUIRES: file < size()
  [[nodiscard]] Result<std::shared_ptr<const Trace>> Open(size_t file);

 private:
  struct File {
    std::string name, path;
    bool is_named = false;      // by the user; else found in a folder
    bool is_read_once = false;  // standard input, a pipe: cannot be opened again
    bool is_job = false;        // a folder that ViewOptions::open_job reads
    dev_t device = 0;           // of a file that was found, and its number: it is opened only while it is the same one
    ino_t number = 0;
    std::shared_ptr<const Trace> trace = {};
    uint64_t last_use = 0;
  };

  explicit TraceFiles(const ViewOptions& options) : options_(options) {}
  Status AddNamed(const std::string& path);
  void AddBelow(UniqueDescriptor folder, const std::string& path, const std::string& name, int depth);
  void AddFound(int folder, const char* entry, const std::string& path, const std::string& name);
  static bool HeadIsOfTrace(const File& file);
  Result<Trace> Import(const File& file, uint64_t max_memory) const;
  uint64_t OpenBytes() const;
  void CloseOthers(size_t but, uint64_t max_bytes);

  const ViewOptions options_;
  Mutex mutex_;  // of traces and uses; held while a file is read, so that one is read at a time
  std::vector<File> files_;
  uint64_t uses_ = 0;
};

}  // namespace opscope
