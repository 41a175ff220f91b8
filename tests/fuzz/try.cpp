// Descriptions of somebody's kernels: what is not right is refused with an Error.
#include "bench/try/description.hpp"
#include "fuzz/fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace clcook;
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const tool::described::Description about = tool::described::parse_description(text, "try.toml");
    CLCOOK_FUZZ_CHECK(!about.kernels.empty() && !about.compare.outputs.empty());
    CLCOOK_FUZZ_CHECK(about.baseline().baseline && !about.check_shapes.empty());
  } catch (const Error& error) {
    CLCOOK_FUZZ_CHECK(error.code == Errc::invalid_argument || error.code == Errc::io ||
                      error.code == Errc::unsupported || error.code == Errc::build_failed);
  }
  return 0;
}
