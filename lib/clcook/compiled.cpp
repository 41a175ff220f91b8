// The library clcook::compiled: the functions that headers only declare where CLCOOK_COMPILED is
// defined.
#define CLCOOK_IMPLEMENTATION
#include <clcook/clcook.hpp>
