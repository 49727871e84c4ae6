// A temporary folder for one test, removed at its end, and the sorted names of the files in a folder.
// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "jobs.h"

namespace faults {

Folder::Folder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "opscope_faults_XXXXXX").string();
  path_ = mkdtemp(pattern.data());
}
Folder::~Folder() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

std::vector<std::string> NamesIn(const std::string& folder) {
  std::vector<std::string> names;
  DIR* directory = opendir(folder.c_str());
  if (directory == nullptr) return names;
  while (const dirent* entry = readdir(directory)) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  closedir(directory);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace faults
