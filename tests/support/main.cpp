// The main function of every test program; compiled once and linked to each.
#define DOCTEST_CONFIG_IMPLEMENT  // said in full: a precompiled header has the declarations already
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
