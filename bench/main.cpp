// clcook: the command line of the cookbook.

#include "tool/command.hpp"

int main(int argc, char** argv) { return clcook::tool::run_command(argc, argv); }
