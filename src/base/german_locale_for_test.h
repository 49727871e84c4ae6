// A locale with a decimal comma, as a program may have set one.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <clocale>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace opscope {

// In effect as long as the object lives. Makes the locale, because few machines have it.
class GermanLocale {
 public:
  GermanLocale() : folder_(testing::TempDir() + "locales-" + std::to_string(getpid())) {
    std::filesystem::create_directories(folder_);
    const std::string make = "localedef -i de_DE -f UTF-8 " + folder_ + "/de_DE.UTF-8 > /dev/null 2>&1";
    if (std::system(make.c_str()) != 0) return;
    setenv("LOCPATH", folder_.c_str(), 1);
    is_set_ = std::setlocale(LC_NUMERIC, "de_DE.UTF-8") != nullptr && *std::localeconv()->decimal_point == ',';
  }
  GermanLocale(const GermanLocale&) = delete;
  GermanLocale& operator=(const GermanLocale&) = delete;
  ~GermanLocale() {
    std::setlocale(LC_NUMERIC, before_.c_str());
    unsetenv("LOCPATH");
    std::filesystem::remove_all(folder_);
  }

  // False: this machine lacks the sources of the locale (package locales).
  bool is_set() const { return is_set_; }

 private:
  const std::string before_ = std::setlocale(LC_NUMERIC, nullptr);
  const std::string folder_;
  bool is_set_ = false;
};

}  // namespace opscope
