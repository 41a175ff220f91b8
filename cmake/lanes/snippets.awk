# awk -f snippets.awk [-v kind=cl] PAGE...: a C++ program (with kind=cl an OpenCL C file) on standard
# output that runs the snippets of pages, one function per snippet; with the arguments TURN OF one in OF.
#
# Before each ```cpp block a comment, which no reader sees, gives what the text around it assumes:
#   <!-- snippet:
#   const cl::Buffer src = buffer(64), dst = buffer(64);
#   -->
# There are `runtime`, `uploaded` (an event), `buffer(bytes)` and `marker(runtime)`. A line @ of the
# comment stands for the block; else it follows. A first paragraph that begins with #include is put
# at file scope, as are #include lines of the comment. A ```c block that begins so is device code;
# other ```c blocks are sketches.
function fail(message) {
  printf "%s:%d: %s\n", FILENAME, FNR, message > "/dev/stderr"
  failed = 1
}
function finish(    name, i, n, lines) {
  if (!has_setup) {
    if (language == "cpp") fail("a cpp block without <!-- snippet: ... --> before it (line " start ")")
    return
  }
  n = split(head, lines, "\n")
  for (i = 1; i < n; i++) {
    if (!(lines[i] in seen)) heads = heads lines[i] "\n"
    seen[lines[i]] = 1
  }
  if (!sub(/(^|\n)@\n/, "\n\001", setup)) setup = setup "\001"
  i = index(setup, "\001")
  block = substr(setup, 1, i - 1) "#line " body_line " \"" FILENAME "\"\n" block substr(setup, i + 1)
  count++
  if (kind == "cl") {
    functions = functions "\n" block
    return
  }
  name = FILENAME
  sub(/.*\//, "", name)
  gsub(/[^A-Za-z0-9]/, "_", name)
  name = "snippet_" name "_" start
  functions = functions "\nvoid " name "(const clcook::Runtime& runtime, const cl::Event& uploaded) {\n" \
    "  (void)runtime;\n  (void)uploaded;\n" \
    "  [[maybe_unused]] const auto buffer = [&](std::size_t bytes) {\n" \
    "    return clcook::create_buffer(runtime, bytes);\n  };\n" block "}\n"
  calls = calls "  run(\"" FILENAME ":" start "\", " name ");\n"
}
/^<!-- snippet:/ {
  has_setup = in_setup = 1
  setup = head = ""
  if (/-->/) in_setup = 0
  next
}
in_setup {
  if (/^-->/) in_setup = 0
  else if (/^#include/) head = head $0 "\n"
  else setup = setup $0 "\n"
  next
}
/^```(cpp|c)$/ && !in_block {
  language = substr($0, 4)
  in_block = 1
  in_head = 0
  start = FNR
  block = ""
  next
}
/^```$/ && in_block {
  in_block = 0
  if ((kind == "cl") == (language == "c") && (language == "cpp" || sketch == 0)) finish()
  has_setup = 0
  next
}
in_block {
  if (FNR == start + 1) {
    in_head = /^#include/
    sketch = !in_head
    body_line = FNR
  }
  if (in_head && !/^$/) {
    head = head $0 "\n"
    body_line = FNR + 1
  } else {
    in_head = 0
    block = block $0 "\n"
  }
  next
}
# A comment belongs to the block right behind it.
has_setup && !/^$/ { fail("<!-- snippet: --> without a block behind it"); has_setup = 0 }
END {
  if (failed) exit 1
  if (!count) {
    print "no snippets" > "/dev/stderr"
    exit 1
  }
  if (kind == "cl") {
    printf "%s%s", heads, functions
    exit
  }
  print heads "#include <clcook/core/error.hpp>\n#include <clcook/core/runtime.hpp>\n" \
    "#include <cstddef>\n#include <cstdint>\n#include <cstdio>\n#include <cstdlib>\n#include <exception>\n#include <vector>\n\n" \
    "cl::Event marker(const clcook::Runtime& runtime) {\n  cl_event event = nullptr;\n" \
    "  clcook::check(clEnqueueMarkerWithWaitList(runtime.queue()(), 0, nullptr, &event), \"marker\");\n" \
    "  return cl::Event(event);\n}\n" functions "\n" \
    "int main(int argc, char** argv) {\n  int failed = 0, number = 0;\n" \
    "  const int turn = argc > 2 ? std::atoi(argv[1]) : 0, of = argc > 2 ? std::atoi(argv[2]) : 1;\n" \
    "  const auto run = [&](const char* name, auto* snippet) {\n" \
    "    if ((number++ + turn) % of != 0) return;\n    try {\n" \
    "      const clcook::Runtime runtime = clcook::Runtime::pick();\n" \
    "      snippet(runtime, marker(runtime));\n" \
    "      clcook::check(clFinish(runtime.queue()()), \"clFinish\");\n" \
    "      std::printf(\"%s ran\\n\", name);\n    } catch (const std::exception& error) {\n" \
    "      std::printf(\"FAILED: %s: %s\\n\", name, error.what());\n      failed = 1;\n    }\n  };\n" \
    calls "  return failed;\n}"
}
