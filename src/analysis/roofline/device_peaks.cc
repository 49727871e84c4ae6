// Peaks of devices as their manufacturer states them: dense, without sparsity; of 16 and 8 bits and TF32 those of
// tensor cores, of float and double those of the other units. Names are compared whole, because a part of a device
// (MIG) and a sibling of it ("GH200", "H200 NVL") have other peaks.
// SPDX-License-Identifier: Apache-2.0
#include "opscope/analysis/roofline.h"

namespace opscope {
namespace {

constexpr double kTera = 1e12, kGiga = 1e9;

constexpr DevicePeaks kPeaks[] = {
    {"A100-PCIE-40GB", 1555 * kGiga, 9.7 * kTera, 19.5 * kTera, 156 * kTera, 312 * kTera, 312 * kTera, 0,
     "NVIDIA A100 Tensor Core GPU, data sheet"},
    {"A100-SXM4-40GB", 1555 * kGiga, 9.7 * kTera, 19.5 * kTera, 156 * kTera, 312 * kTera, 312 * kTera, 0,
     "NVIDIA A100 Tensor Core GPU, data sheet"},
    {"A100-SXM4-80GB", 2039 * kGiga, 9.7 * kTera, 19.5 * kTera, 156 * kTera, 312 * kTera, 312 * kTera, 0,
     "NVIDIA A100 Tensor Core GPU, data sheet"},
    {"A100 80GB PCIe", 1935 * kGiga, 9.7 * kTera, 19.5 * kTera, 156 * kTera, 312 * kTera, 312 * kTera, 0,
     "NVIDIA A100 Tensor Core GPU, data sheet"},
    {"H100 80GB HBM3", 3350 * kGiga, 34 * kTera, 67 * kTera, 494.7 * kTera, 989.5 * kTera, 989.5 * kTera, 1979 * kTera,
     "NVIDIA H100 Tensor Core GPU (SXM), data sheet"},
    {"H200", 4800 * kGiga, 34 * kTera, 67 * kTera, 494.7 * kTera, 989.5 * kTera, 989.5 * kTera, 1979 * kTera,
     "NVIDIA H200 Tensor Core GPU (SXM), data sheet"},
};

}  // namespace

std::span<const DevicePeaks> KnownDevicePeaks() {
  return kPeaks;
}

const DevicePeaks* PeaksOfDevice(std::string_view name) {
  for (const std::string_view maker : {"NVIDIA ", "Tesla "})
    if (name.starts_with(maker)) name.remove_prefix(maker.size());
  for (const DevicePeaks& peaks : kPeaks)
    if (name == peaks.name) return &peaks;
  return nullptr;
}

}  // namespace opscope
