// Floats as Python's format() and repr() print them. NaN has no sign.
//
// Thread rule: pure functions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace opscope {

std::string PythonRepr(double value);                     // repr(value): "0.1", "2.0", "1e-05"
std::string PythonFixed(double value, int decimals);      // f"{value:.2f}"
std::string PythonGeneral(double value);                  // f"{value:g}"
std::string PythonSignificant(double value, int digits);  // f"{value:.3}": as :g, but "2.0" and "1.5e+02"

}  // namespace opscope
