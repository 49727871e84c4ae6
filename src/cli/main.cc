// The program without Python.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/cli.h"

int main(int argc, char** argv) {
  return opscope::RunCli(argc, argv);
}
