// Writes the results of a verb, one per input, to standard output: as text under the name of the file (if there are
// several), folded to the terminal; with --json and several files as one array of objects, each with its "file".
//
// Thread rule: one thread at a time.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "cli/terminal.h"
#include "cli/verb.h"

namespace opscope {

class ResultWriter {
 public:
  // kTogether: one answer for all inputs.
  enum class Of { kEachInput, kTogether };
  explicit ResultWriter(const CommonOptions& common, Of of = Of::kEachInput);
  ResultWriter(const ResultWriter&) = delete;
  ResultWriter& operator=(const ResultWriter&) = delete;

  // Columns of the terminal; 0: standard output is no terminal.
  size_t width() const { return width_; }
  // The next answer. A table's first line is bold where there is colour. Gives the exit code.
  int Write(const std::string& file, const std::string& text, bool is_table);
  // Nothing comes after this. Gives the worse of the exit codes.
  int End(int exit_code);

 private:
  std::string RenderText(const std::string& file, const std::string& text, bool is_table) const;
  std::string AsElement(const std::string& file, std::string_view object) const;

  const CommonOptions& common_;
  const Terminal terminal_;
  const size_t width_;
  const bool is_of_several_;  // an answer for each of several inputs
  size_t written_ = 0;
};

}  // namespace opscope
