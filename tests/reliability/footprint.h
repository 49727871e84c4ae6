// What this process holds of the system's things, read from /proc.
//
// Thread rule: any thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

struct Footprint {
  int64_t resident_bytes = 0;
  int64_t descriptors = 0;
  int64_t threads = 0;
  int64_t mappings = 0;
  int64_t thread_keys_left = 0;
};

inline int64_t ResidentBytes() {
  int64_t all = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> all >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

inline int64_t CountEntries(const char* folder) {
  using Entries = std::filesystem::directory_iterator;
  return std::distance(Entries(folder), Entries());
}

inline Footprint TakeFootprint() {
  Footprint now;
  std::vector<pthread_key_t> keys;
  for (pthread_key_t key; pthread_key_create(&key, nullptr) == 0;)
    keys.push_back(key);
  for (const pthread_key_t key : keys)
    pthread_key_delete(key);
  now.thread_keys_left = static_cast<int64_t>(keys.size());
  now.descriptors = CountEntries("/proc/self/fd");
  now.threads = CountEntries("/proc/self/task");
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    ++now.mappings;
  now.resident_bytes = ResidentBytes();
  return now;
}
