// Reads a file in pieces, for libmd to digest.
// SPDX-License-Identifier: Apache-2.0
#include "job/sha256.h"

#include <sha2.h>

#include <charconv>
#include <vector>

#include "base/assign.h"
#include "base/file.h"

namespace opscope {

Result<std::string> Sha256OfFile(const std::string& path) {
  OPSCOPE_ASSIGN(InputFile file, InputFile::Open(path));
  std::vector<std::byte> buffer(size_t{1} << 20);
  SHA2_CTX context;
  SHA256Init(&context);
  while (true) {
    OPSCOPE_ASSIGN(const size_t count, file.Read(buffer));
    if (count == 0) break;
    SHA256Update(&context, reinterpret_cast<const uint8_t*>(buffer.data()), count);
  }
  char text[SHA256_DIGEST_STRING_LENGTH];
  SHA256End(&context, text);
  return std::string(text);
}

std::string Sha256OfText(std::string_view text) {
  SHA2_CTX context;
  SHA256Init(&context);
  SHA256Update(&context, reinterpret_cast<const uint8_t*>(text.data()), text.size());
  char digits[SHA256_DIGEST_STRING_LENGTH];
  SHA256End(&context, digits);
  return digits;
}

int64_t IdOfSha256(std::string_view sha256) {
  uint64_t bits = 0;
  const std::string_view digits = sha256.substr(0, 16);
  std::from_chars(digits.data(), digits.data() + digits.size(), bits, 16);
  return static_cast<int64_t>(bits);
}

}  // namespace opscope
