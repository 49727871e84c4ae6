// SPDX-License-Identifier: Apache-2.0
#include "report/python_literal.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

namespace opscope {
namespace {

TEST(PythonLiteral, WritesWhatTorchPrints) {
  const std::vector<std::pair<const char*, const char*>> cases = {
      {"True", "True"},
      {"False", "False"},
      {"-7", "-7"},
      {"9223372036854775807", "9223372036854775807"},
      {"-9223372036854775808", "-9223372036854775808"},
      {"1.", "1.0"},
      {"0.10000000000000001", "0.1"},
      {"1.0000000000000001e-05", "1e-05"},
      {"-2.5e+300", "-2.5e+300"},
      {"inf", "float(\"inf\")"},
      {"-inf", "float(\"-inf\")"},
      {"nan", "float(\"nan\")"},
      {"-nan", "float(\"nan\")"},
      {"1.+2.j", "complex(1.0, 2.0)"},
      {"-1e-05-2.5e+30j", "complex(-1e-05, -2.5e+30)"},
      {"0.-infj", "complex(0.0, float(\"-inf\"))"},
      {"[]", "[]"},
      {"[1, 2]", "[1, 2]"},
      {"[4,5]", "[4, 5]"},
      {"[0.5, True, 3]", "[0.5, True, 3]"},
  };
  for (const auto& [value, literal] : cases)
    EXPECT_EQ(PythonLiteral(value), literal) << value;
}

TEST(PythonLiteral, RefusesEverythingElse) {
  for (const char* value : {"",
                            "__import__('os')",
                            "[__import__('os').system('id')]",
                            "1)\nimport os\n(",
                            "'a'",
                            "\"a\"",
                            "1_0",
                            "0x10",
                            "[1, [2]]",
                            "[1,]",
                            "[1",
                            "1]",
                            "j",
                            "+j",
                            "1.+j",
                            "1;2",
                            "1 2",
                            "--1",
                            "1e999",
                            "\xd9\xa1",
                            "None",
                            "nan(0)x",
                            "[1]\n",
                            "(1)",
                            "#",
                            "[1]#",
                            "1e",
                            "99999999999999999999j"})
    EXPECT_EQ(PythonLiteral(value), std::nullopt) << value;
}

// Whatever the text is, the literal consists of numbers and of the words that the generator knows.
TEST(PythonLiteral, HasNoCharactersOfItsInputButNumbers) {
  std::mt19937_64 random(7);
  const std::string alphabet = "0123456789.+-eEjinfa[], xX_()'\"\\\n\t#TrueFls";
  for (int i = 0; i < 200'000; ++i) {
    std::string text;
    for (size_t size = random() % 9; size > 0; --size)
      text.push_back(alphabet[random() % alphabet.size()]);
    const auto literal = PythonLiteral(text);
    if (!literal) continue;
    std::string left = *literal;
    for (const std::string word :
         {"float(\"inf\")", "float(\"-inf\")", "float(\"nan\")", "complex(", "True", "False"}) {
      for (size_t at = left.find(word); at != std::string::npos; at = left.find(word))
        left.replace(at, word.size(), word == "complex(" ? "<" : "0");
    }
    EXPECT_EQ(left.find_first_not_of("0123456789.+-e[], <)"), std::string::npos) << text << " -> " << *literal;
  }
}

TEST(CommentText, IsPrintableAsciiOfOneLine) {
  EXPECT_EQ(CommentText("run.opscope"), "run.opscope");
  EXPECT_EQ(CommentText("a\nimport os\r\f\xe2\x80\xa8\\"), "a\\x0aimport os\\x0d\\x0c\\xe2\\x80\\xa8\\x5c");
  EXPECT_EQ(CommentText(std::string(1000, 'a')), std::string(200, 'a') + "...");
}

}  // namespace
}  // namespace opscope
