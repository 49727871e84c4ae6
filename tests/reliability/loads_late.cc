// A program that knows nothing of opscope until it loads a plugin: loads_late PLUGIN OTHER MODE, where MODE
// is local, global or deepbind. Both plugins must find the same recorder.
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

namespace {

template <typename Function>
Function* Find(void* plugin, const char* name) {
  void* place = dlsym(plugin, name);
  if (place == nullptr) {
    std::printf("no %s\n", name);
    std::exit(2);
  }
  return reinterpret_cast<Function*>(place);
}

int FlagsOf(const char* mode) {
  if (std::strcmp(mode, "global") == 0) return RTLD_NOW | RTLD_GLOBAL;
  if (std::strcmp(mode, "deepbind") == 0) return RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND;
  return RTLD_LAZY | RTLD_LOCAL;
}

thread_local char much_thread_local_data[4096];  // what large programs have before the recorder comes

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 98;
  much_thread_local_data[argc] = 1;
  void* first = dlopen(argv[1], FlagsOf(argv[3]));
  void* second = first == nullptr ? nullptr : dlopen(argv[2], FlagsOf(argv[3]));
  if (second == nullptr) {
    std::printf("%s\n", dlerror());
    return 1;
  }
  if (Find<int()>(first, "plugin_start")() != 0) return 3;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([=] {
      Find<void(int)>(first, "plugin_work")(1000);
      Find<void(int)>(second, "plugin_work")(1000);
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  std::printf("%lu\n", Find<unsigned long()>(first, "plugin_stop")());
  dlclose(second);
  dlclose(first);
  std::thread([] { much_thread_local_data[0] = 2; }).join();  // a thread ends after the plugins went
  return 0;
}
