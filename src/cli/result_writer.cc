// Writes the result of each input in the form that the user chose: plain text under the file's name, folded to the
// terminal; CSV; or with --json and several files one array, whose elements are the verbs' objects with "file" as first
// member. The array is written incrementally, so that memory holds one result at a time.
// SPDX-License-Identifier: Apache-2.0
#include "cli/result_writer.h"

#include "base/escaped_text.h"
#include "base/text.h"
#include "cli/exit_code.h"

namespace opscope {
namespace {

std::string WithBoldTitle(const std::string& table) {
  const size_t end = table.find('\n');
  return end == std::string::npos ? table : "\x1b[1m" + table.substr(0, end) + "\x1b[0m" + table.substr(end);
}

}  // namespace

ResultWriter::ResultWriter(const CommonOptions& common, Of of)
    : common_(common),
      terminal_(DetectTerminal(common.no_color)),
      width_(common.prints_text() ? terminal_.width : 0),
      is_of_several_(of == Of::kEachInput && common.files.size() > 1) {
}

int ResultWriter::Write(const std::string& file, const std::string& text, bool is_table) {
  const Status written = WriteStandardOutput(is_of_several_ && common_.json ? AsElement(file, text)
                                             : common_.prints_text()        ? RenderText(file, text, is_table)
                                                                            : text);
  ++written_;
  return ExitFor(written);
}

int ResultWriter::End(int exit_code) {
  if (!is_of_several_ || !common_.json) return exit_code;
  return WorseExit(exit_code, ExitFor(WriteStandardOutput(written_ == 0 ? "[]\n" : "\n]\n")));
}

std::string ResultWriter::RenderText(const std::string& file, const std::string& text, bool is_table) const {
  std::string title;
  if (is_of_several_) {
    const std::string name = EscapedText(InputName(file));
    title = (written_ == 0 ? "" : "\n") + (width_ == 0 ? name : ElideToWidth(name, width_)) + "\n";
  }
  const std::string folded = WrapLines(text, width_);
  return title + (is_table && terminal_.color ? WithBoldTitle(folded) : folded);
}

// REQUIRES: an object that is not empty, and a line end.
std::string ResultWriter::AsElement(const std::string& file, std::string_view object) const {
  std::string element = written_ == 0 ? "[\n{\"file\":" : ",\n{\"file\":";
  AppendJsonString(&element, InputName(file));
  object.remove_prefix(1);
  object.remove_suffix(1);
  return element.append(",").append(object);
}

}  // namespace opscope
