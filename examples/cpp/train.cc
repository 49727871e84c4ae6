// A program that profiles itself, with a build of its own: docs/cpp.md is about it.
// SPDX-License-Identifier: Apache-2.0
#include <opscope/profiler.h>

#include <cmath>
#include <cstdio>
#include <vector>

float Layer(std::vector<float>* values, int number) {
  opscope::Scope scope("layer");
  scope.Arg("number", number);
  for (float& value : *values)
    value = std::sqrt(value + 1);
  return values->front();
}

opscope::Status Train() {
  opscope::Profiler profiler({.max_bytes = 64 << 20});
  OPSCOPE_TRY(profiler.Start());
  std::vector<float> values(100'000, 2);
  for (int step = 0; step < 10; ++step) {
    OPSCOPE_SCOPE("step");
    for (int layer = 0; layer < 3; ++layer)
      opscope::Counter("first value", Layer(&values, layer));
  }
  OPSCOPE_TRY(profiler.Stop());
  return profiler.Save("train.opscope");
}

int main() {
  const opscope::Status status = Train();
  if (!status.ok()) std::fprintf(stderr, "train: %s\n", status.error().message.c_str());
  return status.ok() ? 0 : 1;
}
