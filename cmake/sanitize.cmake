# CLCOOK_SANITIZE=address,undefined instruments our own programs.

add_library(clcook_sanitize INTERFACE)
if(CLCOOK_SANITIZE)
  set(flags -fsanitize=${CLCOOK_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(clcook_sanitize INTERFACE ${flags} -g1)
  target_link_options(clcook_sanitize INTERFACE ${flags})
endif()

# CLCOOK_FUZZ=libFuzzer builds the programs of tests/fuzz with libFuzzer, CLCOOK_FUZZ=replay with a
# main() that replays seeds and changes them at random. cmake/lanes/fuzz.sh sets it.
set(CLCOOK_FUZZ "" CACHE STRING "Build tests/fuzz: libFuzzer or replay")
if(CLCOOK_FUZZ)
  # What would make a fuzzer wait does less: fewer rounds of the bootstrap, no other program started.
  target_compile_definitions(clcook_sanitize INTERFACE FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION=1)
endif()
