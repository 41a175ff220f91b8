// Errors: their messages, codes and the names of OpenCL statuses.
#include <clcook/core/error.hpp>

#include <cmath>
#include <cstdint>
#include <locale>
#include <set>
#include <string>
#include <string_view>

#include "support/testing.hpp"

using namespace clcook;
using clcook::testing::contains;
using clcook::testing::error_of;

namespace {

struct CommaDecimals : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

}  // namespace

TEST_CASE("text joins strings and numbers") {
  CHECK(text("width ", 3, " of ", std::size_t{4}, std::string("!")) == "width 3 of 4!");
  CHECK(text(0.1f) == "0.100000001");  // the nine digits that tell two floats apart
  CHECK(text(-1, ' ', true) == "-1 1");
  CHECK(text(-0.0, " ", 1e-45f, " ", 1e300, " ", 123456789.0, " ", 1234567890.0, " ", 0x1p-1074) ==
        "-0 1.40129846e-45 1e+300 123456789 1.23456789e+09 4.94065646e-324");
  CHECK(text(HUGE_VAL, " ", -HUGE_VAL, " ", std::nan("")) == "inf -inf nan");
  CHECK(text(std::uint64_t(-1), std::string_view(" x")) == "18446744073709551615 x");
}

TEST_CASE("text ignores the global locale") {
  const std::locale old =
      std::locale::global(std::locale(std::locale::classic(), new CommaDecimals));
  const std::string joined = text(1.5, " ", 1234567);
  std::locale::global(old);
  CHECK(joined == "1.5 1234567");
}

TEST_CASE("an error carries code, place, status and log") {
  const Error error = error_of(
      [] { fail(Errc::build_failed, "place", "what", CL_BUILD_PROGRAM_FAILURE, "the log"); });
  CHECK(error.code == Errc::build_failed);
  CHECK(error.where == "place");
  CHECK(error.status == CL_BUILD_PROGRAM_FAILURE);
  CHECK(error.build_log == "the log");
  CHECK(std::string(error.what()) == "place: what\nthe log");
  const Error plain = error_of([] { fail(Errc::io, "place", "what"); });
  CHECK(std::string(plain.what()) == "place: what");
  CHECK(plain.status == CL_SUCCESS);
  CHECK_THROWS_AS(fail(Errc::io, "a", "b"), std::runtime_error);
}

TEST_CASE("check lets success pass and maps statuses to codes") {
  CHECK_NOTHROW(check(CL_SUCCESS, "call"));
  for (const cl_int status :
       {CL_OUT_OF_RESOURCES, CL_OUT_OF_HOST_MEMORY, CL_MEM_OBJECT_ALLOCATION_FAILURE}) {
    const Error error = error_of([&] { check(status, "clSomething"); });
    CHECK(error.code == Errc::out_of_resources);
    CHECK(error.status == status);
  }
  for (const cl_int status : {CL_INVALID_VALUE, CL_INVALID_KERNEL_ARGS, CL_MAP_FAILURE, -9999}) {
    const Error error = error_of([&] { check(status, "clSomething"); });
    CHECK(error.code == Errc::opencl);
    CHECK(error.status == status);
    CHECK(error.where == "clSomething");
    CHECK(contains(error.what(), status_name(status)));
    CHECK(contains(error.what(), std::to_string(status)));
  }
}

TEST_CASE("statuses and codes have names of their own") {
  CHECK(status_name(CL_SUCCESS) == "CL_SUCCESS");
  CHECK(status_name(CL_INVALID_WORK_GROUP_SIZE) == "CL_INVALID_WORK_GROUP_SIZE");
  CHECK(status_name(-1001) == "CL_PLATFORM_NOT_FOUND_KHR");
  CHECK(status_name(-4711) == "status -4711");
  // Every status of OpenCL 1.2 but -18 and -19 (device partitions, argument info).
  std::set<std::string> names;
  int known = 0;
  for (cl_int status = 0; status >= -68; --status) {
    if (status < -19 && status > -30) continue;  // not assigned
    const std::string name = status_name(status);
    if (name.rfind("CL_", 0) == 0) ++known;
    CHECK(names.insert(name).second);
  }
  CHECK(known >= 50);
  std::set<std::string> codes;
  for (const Errc code : {Errc::invalid_argument, Errc::unsupported, Errc::out_of_resources,
                          Errc::build_failed, Errc::no_device, Errc::io, Errc::opencl}) {
    CHECK(codes.insert(to_string(code)).second);
    CHECK(std::string(to_string(code)) != "unknown");
  }
}
