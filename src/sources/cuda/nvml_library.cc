// Functions are found by name, newest version first, because the machine's driver determines the version of the
// library. CUDA and NVML number devices differently: with several devices each is looked up by its UUID, if the driver
// has UUIDs.
// SPDX-License-Identifier: Apache-2.0
#include "sources/cuda/nvml_library.h"

#include <dlfcn.h>
#include <stdlib.h>

#include <cstddef>
#include <initializer_list>
#include <string>

namespace opscope::cuda {
namespace {

template <typename Function>
void Resolve(void* handle, std::initializer_list<const char*> names, Function* function) {
  for (const char* name : names) {
    if (*function == nullptr) *function = reinterpret_cast<Function>(dlsym(handle, name));
  }
}

// As NVML spells it: "GPU-01020304-0506-0708-090a-0b0c0d0e0f10".
std::string TextOf(const DriverFunctions::Uuid& uuid) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text = "GPU";
  for (size_t i = 0; i < sizeof(uuid.bytes); ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text.push_back('-');
    text.push_back(kDigits[uuid.bytes[i] >> 4]);
    text.push_back(kDigits[uuid.bytes[i] & 15]);
  }
  return text;
}

std::vector<ReadDevice> ByNumber(const NvmlFunctions& nvml, unsigned count) {
  std::vector<ReadDevice> devices;
  for (unsigned number = 0; number < count; ++number) {
    ReadDevice device{.device = number};
    if (nvml.DeviceGetHandleByIndex(number, &device.handle) == 0) devices.push_back(device);
  }
  return devices;
}

}  // namespace

bool NvmlFunctions::is_usable() const {
  const bool finds = Init != nullptr && DeviceGetCount != nullptr && DeviceGetHandleByIndex != nullptr;
  return finds && (DeviceGetPowerUsage != nullptr || DeviceGetClockInfo != nullptr);
}

NvmlFunctions LoadNvml() {
  NvmlFunctions nvml;
  const char* named = getenv("OPSCOPE_NVML_LIB");
  const bool is_named = named != nullptr && *named != '\0';
  void* handle = dlopen(is_named ? named : "libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return nvml;
  Resolve(handle, {"nvmlInit_v2", "nvmlInit"}, &nvml.Init);
  Resolve(handle, {"nvmlShutdown"}, &nvml.Shutdown);
  Resolve(handle, {"nvmlDeviceGetCount_v2", "nvmlDeviceGetCount"}, &nvml.DeviceGetCount);
  Resolve(handle, {"nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex"}, &nvml.DeviceGetHandleByIndex);
  Resolve(handle, {"nvmlDeviceGetHandleByUUID"}, &nvml.DeviceGetHandleByUUID);
  Resolve(handle, {"nvmlDeviceGetPowerUsage"}, &nvml.DeviceGetPowerUsage);
  Resolve(handle, {"nvmlDeviceGetClockInfo"}, &nvml.DeviceGetClockInfo);
  return nvml;
}

DriverFunctions FindDriver() {
  DriverFunctions driver;
  void* handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (handle == nullptr) return driver;
  Resolve(handle, {"cuDeviceGetCount"}, &driver.DeviceGetCount);
  Resolve(handle, {"cuDeviceGet"}, &driver.DeviceGet);
  Resolve(handle, {"cuDeviceGetUuid_v2", "cuDeviceGetUuid"}, &driver.DeviceGetUuid);
  dlclose(handle);  // the driver stays loaded: its first user never unloads it
  return driver;
}

std::vector<ReadDevice> FindDevices(const NvmlFunctions& nvml, const DriverFunctions& driver) {
  unsigned in_machine = 0;
  if (nvml.DeviceGetCount(&in_machine) != 0) return {};
  const bool has_uuids = driver.DeviceGetCount != nullptr && driver.DeviceGet != nullptr &&
                         driver.DeviceGetUuid != nullptr && nvml.DeviceGetHandleByUUID != nullptr;
  if (in_machine <= 1 || !has_uuids) return ByNumber(nvml, in_machine);
  std::vector<ReadDevice> devices;
  int visible = 0;
  if (driver.DeviceGetCount(&visible) != 0) return {};  // it is not initialised yet
  for (int ordinal = 0; ordinal < visible; ++ordinal) {
    int device = 0;
    DriverFunctions::Uuid uuid{};
    if (driver.DeviceGet(&device, ordinal) != 0 || driver.DeviceGetUuid(&uuid, device) != 0) continue;
    ReadDevice read{.device = static_cast<uint32_t>(ordinal)};
    if (nvml.DeviceGetHandleByUUID(TextOf(uuid).c_str(), &read.handle) == 0) devices.push_back(read);
  }
  return devices;
}

}  // namespace opscope::cuda
