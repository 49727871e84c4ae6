// Whether a command is a Python that does not load what PYTHONPATH names.
//
// Thread rule: any thread. Reads PATH and the begin of one file.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace opscope {

// The option of Python by which it ignores PYTHONPATH or sitecustomize: 'I', 'E' or 'S'. 0: the command has none, or is
// no Python. `command` has at least one argument. Python's options may be on the command line, or in the first line
// of the script that the command is ("#!/usr/bin/python3 -I").
[[nodiscard]] char OptionWithoutSitecustomize(const std::vector<std::string>& command);

// The file that execvp runs for this name; "": there is no such file.
[[nodiscard]] std::string FindInPath(const std::string& name);

}  // namespace opscope
