// Kernel text that includes headers.
#include <clcook/core/error.hpp>
#include <clcook/core/source.hpp>

#include "fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace clcook;
  const std::string text(fuzz::view(data, size));
  try {
    Source source("fuzz.cl", text);
    source.header("self.clh", text);
    const std::string flat = source.flatten();
    CLCOOK_FUZZ_CHECK(flat.size() < (std::size_t{1} << 26));
    const Source known =
        source.with_options("-DA=1 -D B=\"self.clh\" -UC -D'x y " + text.substr(0, 9));
    CLCOOK_FUZZ_CHECK(known.self_contained().size() < (std::size_t{1} << 26));
  } catch (const Error&) {
  }
  return 0;
}
