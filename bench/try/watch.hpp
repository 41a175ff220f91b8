// Running someone's kernels in a child process: one that crashes or never ends takes nobody with it.
#pragma once

#include <functional>
#include <string>

namespace clcook::tool::described {

// Runs `command` in a child process and returns its exit code. A launch that does not end within
// its limit ends the child; so does a signal. SIGINT and SIGTERM are the child's to handle, and end
// this process as they end the child. Either is reported on standard error, with the place
// and the launch that was under way, and 1 is returned. An exception is reported too: 2. Call it
// before this process has begun any thread, such as those of an OpenCL implementation.
int in_child(const std::function<int()>& command);

// Tells the parent what is under way in the child: a launch, or a call, that may take `seconds`.
// `place` is FILE:LINE. Does nothing where there is no parent that watches. Any thread.
void began(const std::string& place, const std::string& what, double seconds);
// One of those that began has ended.
void ended();

}  // namespace clcook::tool::described
