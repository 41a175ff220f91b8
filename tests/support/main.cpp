// The main function of every test program; compiled once and linked to each.
#define DOCTEST_CONFIG_IMPLEMENT  // said in full: a precompiled header has the declarations already
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>
#include <sys/stat.h>

// A program cache that others may write to is not used: the files and folders of tests are not such,
// whatever the shell's umask.
[[maybe_unused]] static const mode_t shell_umask = umask(022);
