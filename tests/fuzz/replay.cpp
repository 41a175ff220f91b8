// The main() of the fuzz programs where there is no libFuzzer: gives the entry function every file of
// a folder, then random changes of them, the same ones every time.
//
//   replay SECONDS DICTIONARY FOLDER
#include <algorithm>
#include <chrono>
#include <clcook/registry/random.hpp>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "fuzz/fuzz.hpp"

namespace {

using clcook::Random;
using Inputs = std::vector<std::string>;

std::string content(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// The words of a dictionary of libFuzzer: NAME="WORD" with \\, \" and \xNN.
Inputs words_of(const std::string& dictionary) {
  Inputs out;
  std::ifstream in(dictionary);
  for (std::string line; std::getline(in, line);) {
    const std::size_t begin = line.find('"');
    const std::size_t end = line.rfind('"');
    if (line.empty() || line[0] == '#' || begin == end) continue;
    std::string word;
    for (std::size_t i = begin + 1; i < end; ++i) {
      if (line[i] == '\\' && line[i + 1] == 'x') {
        word += static_cast<char>(std::stoi(line.substr(i + 2, 2), nullptr, 16));
        i += 3;
      } else {
        if (line[i] == '\\') ++i;
        word += line[i];
      }
    }
    out.push_back(word);
  }
  return out;
}

// Damages an input: bits, bytes, words of the format, cuts, doubled and moved pieces.
std::string damaged(const std::string& input, const Inputs& words, Random& random) {
  const auto below = [&](std::size_t count) {
    return static_cast<std::size_t>(random.below(count));
  };
  std::string out = input;
  for (std::size_t n = 1 + below(6); n > 0; --n) {
    const std::size_t size = out.size();
    // Headers come first, so half of the places are among the first 160 bytes.
    const std::size_t reach = below(2) == 0 ? std::min<std::size_t>(size, 160) : size;
    const std::size_t at = size == 0 ? 0 : below(reach);
    switch (below(8)) {
      case 0:
        if (size > 0) out[at] = static_cast<char>(out[at] ^ (1 << below(8)));
        break;
      case 1:
        if (size > 0) out[at] = static_cast<char>(static_cast<unsigned char>(below(256)));
        break;
      case 2:
      case 3:
        if (!words.empty()) {
          const std::string& word = words[below(words.size())];
          // On a multiple of 4 as fields are, or anywhere as text is.
          const std::size_t to = below(4) == 0 ? at : at / 4 * 4;
          if (to + word.size() <= size) out.replace(to, word.size(), word);
        }
        break;
      case 4:
        if (!words.empty()) out.insert(at, words[below(words.size())]);
        break;
      case 5:
        out.resize(at);
        break;
      case 6:
        out.erase(at, below(64));
        break;
      default:
        out.insert(at, out.substr(below(size + 1), below(64)));
    }
  }
  return out;
}

void run(const std::string& input) {
  // A block of memory that ends where the input ends, so that a read beyond it is seen.
  const std::unique_ptr<std::uint8_t[]> tight(new std::uint8_t[input.size()]);
  std::copy(input.begin(), input.end(), tight.get());
  LLVMFuzzerTestOneInput(tight.get(), input.size());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "replay SECONDS DICTIONARY FOLDER\n");
    return 2;
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(argv[1]));
  const Inputs words = words_of(argv[2]);
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(argv[3]))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  Inputs seeds;
  for (const auto& file : files) seeds.push_back(content(file));
  if (seeds.empty()) {
    std::fprintf(stderr, "there is no file in %s\n", argv[3]);
    return 2;
  }
  std::string input;
  unsigned long runs = 0;
  try {
    for (const std::string& seed : seeds) {
      input = seed;
      run(input);
    }
    Random random(2024);
    for (; std::chrono::steady_clock::now() < end; ++runs) {
      input = damaged(seeds[runs % seeds.size()], words, random);
      run(input);
    }
  } catch (const std::exception& error) {
    std::ofstream("crash-replay", std::ios::binary) << input;
    std::fprintf(stderr, "after %lu inputs: %s; the input is in crash-replay\n", runs,
                 error.what());
    return 1;
  }
  std::fprintf(stderr, "Done %zu seeds and %lu changes of them\n", seeds.size(), runs);
}
