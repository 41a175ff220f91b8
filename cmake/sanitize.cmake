# CLCOOK_SANITIZE=address,undefined instruments our own programs.

add_library(clcook_sanitize INTERFACE)
if(CLCOOK_SANITIZE)
  set(flags -fsanitize=${CLCOOK_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(clcook_sanitize INTERFACE ${flags} -g1)
  target_link_options(clcook_sanitize INTERFACE ${flags})
endif()
