// The exported symbols of our libraries. There is one recorder per process, which programs built with other versions
// share, so its exports are a fixed list, and no other library of ours may define one of these names.
// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "command.h"

namespace opscope {
namespace {

constexpr char kList[] = OPSCOPE_SOURCE_DIR "/src/recorder/exported_symbols.txt";

// A symbol's class as nm prints it, and its name: "T opscope_prepare".
std::vector<std::string> SymbolsOf(const std::string& nm_options, const std::string& file) {
  std::vector<std::string> symbols;
  for (const std::string& line : LinesOf(OutputOf(OPSCOPE_NM " " + nm_options + " '" + file + "'"))) {
    std::smatch match;
    if (std::regex_match(line, match, std::regex("[0-9a-f]+ ([A-Za-z]) (\\S+)"))) {
      symbols.push_back(match.str(1) + " " + match.str(2));
    }
  }
  std::sort(symbols.begin(), symbols.end());
  return symbols;
}

std::set<std::string> NamesOf(const std::vector<std::string>& symbols) {
  std::set<std::string> names;
  for (const std::string& symbol : symbols)
    names.insert(symbol.substr(2));
  return names;
}

bool IsWeak(const std::string& symbol) {
  return symbol[0] == 'V' || symbol[0] == 'W' || symbol[0] == 'u' || symbol[0] == 'v' || symbol[0] == 'w';
}

TEST(Exports, OfTheRecorderAreTheListedFew) {
  const std::vector<std::string> exported = SymbolsOf("-D --defined-only", OPSCOPE_RECORDER);
  EXPECT_EQ(exported, LinesOf(ReadText(kList)))
      << "a symbol more or less is a new kRecorderAbi; OPSCOPE_UPDATE_GOLDEN=1 writes it into " << kList;
  if (exported != LinesOf(ReadText(kList)) && std::getenv("OPSCOPE_UPDATE_GOLDEN") != nullptr) {
    std::string text = ReadText(kList);
    std::ofstream file(kList, std::ios::binary);
    file << text.substr(0, text.find("\nB ") + 1);  // the comment
    for (const std::string& symbol : exported)
      file << symbol << '\n';
  }
}

TEST(Exports, OfTheRecorderAllBelongToTheDescribedInterface) {
  const std::string header = ReadText(OPSCOPE_SOURCE_DIR "/include/opscope/recorder_abi.h");
  for (const std::string& name : NamesOf(LinesOf(ReadText(kList))))
    EXPECT_TRUE(std::regex_search(header, std::regex("OPSCOPE_RECORDER_API[^;]*\\b" + name + "\\b"))) << name;
}

// The static library is linked into arbitrary programs: its C names must be those of the C header, without those of the
// recorder.
TEST(Exports, OfTheArchiveAreTheCHeaderAndNamespaces) {
  std::string header;
  for (const char* name : {"c.h", "c_error.h", "c_trace.h"})
    header += ReadText(std::string(OPSCOPE_SOURCE_DIR "/include/opscope/") + name);
  const std::set<std::string> recorder = NamesOf(LinesOf(ReadText(kList)));
  size_t functions = 0;
  for (const std::string& symbol : SymbolsOf("-g --defined-only", OPSCOPE_ARCHIVE)) {
    const std::string name = symbol.substr(2);
    EXPECT_EQ(recorder.count(name), 0u) << name << " would stand twice in a process";
    if (name.starts_with("_Z")) {
      EXPECT_TRUE(IsWeak(symbol) || name.find("7opscope") != std::string::npos) << symbol << " is in no namespace";
      continue;
    }
    if (name.starts_with("DW.ref.") || name.starts_with("__")) continue;  // the compiler's own, weak and hidden
    ++functions;
    EXPECT_TRUE(std::regex_search(header, std::regex("\\b" + name + "\\("))) << name;
  }
  // And what the header promises is there.
  std::regex declaration("\\b(opscope_[a-z_]+)\\((?!\\*)");
  std::set<std::string> promised;
  for (const std::string& line : LinesOf(header)) {
    if (line.starts_with("//") || line.starts_with(" ") || line.starts_with("#")) continue;
    for (std::sregex_iterator it(line.begin(), line.end(), declaration), end; it != end; ++it)
      promised.insert(it->str(1));
  }
  promised.erase("opscope_set_thread_name");  // the recorder's own
  EXPECT_EQ(promised.size(), functions);
}

#ifdef OPSCOPE_TORCH_SOURCE
TEST(Exports, OfTheTorchSourceAreTheTwoThatAskForIt) {
  std::vector<std::string> strong;
  for (const std::string& symbol : SymbolsOf("-D --defined-only", OPSCOPE_TORCH_SOURCE)) {
    const std::string name = symbol.substr(2);
    if (!IsWeak(symbol) && name != "__bss_start" && name != "_edata" && name != "_end") strong.push_back(symbol);
  }
  EXPECT_THAT(strong, testing::ElementsAre("T opscope_source", "T opscope_torch_source"));
}
#endif

}  // namespace
}  // namespace opscope
