// Sources: reading, flattening, and the file names and lines that a compiler then reports.
#include <clcook/core/launch.hpp>
#include <clcook/core/source.hpp>
#include <clcook/embedded/headers.hpp>
#include <clcook/embedded/regroup.hpp>

#include <string>
#include <vector>

#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

namespace {

// Builds on the default device; returns the build log of the failure.
std::string build_failure(const Source& source) {
  const Error error = error_of([&] { runtime().build(source, {}, "test/broken"); });
  CHECK(error.code == Errc::build_failed);
  CHECK(error.status != CL_SUCCESS);
  CHECK(contains(error.what(), error.build_log));
  CHECK(contains(error.what(), "test/broken"));
  CHECK(contains(error.what(), runtime().info().name));
  return error.build_log;
}

// The line and file that each line of a flattened text claims to come from.
struct Origin {
  std::string file;
  std::size_t line = 0;
  std::string text;
};
std::vector<Origin> origins(const std::string& flat) {
  std::vector<Origin> out;
  std::string file;
  std::size_t line = 0;
  for (std::size_t begin = 0; begin < flat.size();) {
    const std::size_t end = flat.find('\n', begin);
    REQUIRE(end != std::string::npos);  // every line of a flattened text ends
    const std::string one = flat.substr(begin, end - begin);
    begin = end + 1;
    if (one.rfind("#line ", 0) == 0) {
      std::size_t digits = 0;
      line = std::stoul(one.substr(6), &digits);
      file = one.substr(6 + digits + 2, one.size() - 6 - digits - 3);
    } else {
      out.push_back({file, line++, one});
    }
  }
  return out;
}

// The origin of the only line that contains `part`.
Origin origin_of(const std::string& flat, const std::string& part) {
  Origin found;
  int count = 0;
  for (const Origin& one : origins(flat)) {
    if (!contains(one.text, part)) continue;
    found = one;
    ++count;
  }
  CAPTURE(flat);
  CAPTURE(part);
  CHECK(count == 1);
  return found;
}

const std::string kKnown = std::string(embedded::headers[0].name);

}  // namespace

TEST_CASE("a text without includes only gets its #line") {
  CHECK(Source("a.cl", "x\ny\n").flatten() == "#line 1 \"a.cl\"\nx\ny\n");
  CHECK(Source("a.cl", "x").flatten() == "#line 1 \"a.cl\"\nx\n");  // no final newline
  CHECK(Source("a.cl", "").flatten() == "#line 1 \"a.cl\"\n");
  CHECK(Source("a.cl", "\n\nx").flatten() == "#line 1 \"a.cl\"\n\n\nx\n");
  CHECK(Source("a.cl", "x\r\ny\r\n").flatten() == "#line 1 \"a.cl\"\nx\ny\n");  // CRLF
}

TEST_CASE("a header is inlined at every place, and guards remove the repetition") {
  const std::string guarded = "#ifndef H\n#define H\ninline int f(void) { return 41; }\n#endif\n";
  Source source("a.cl",
                "#include <my/f.clh>\n#include \"my/f.clh\"\n"
                "__kernel void k(__global int* out) { out[0] = f(); }\n#include <my/f.clh>");
  source.header("my/f.clh", guarded);
  const std::string flat = source.flatten();
  CHECK(count_of(flat, "return 41") == 3);
  CHECK_FALSE(contains(flat, "#include"));
  CHECK_NOTHROW(runtime().build(source, {}, "test/guarded"));
  // The same without a guard really is there three times.
  source.header("my/f.clh", "inline int f(void) { return 41; }\n");
  CHECK(contains(build_failure(source), "redefinition"));
}

TEST_CASE("an include whose guard is closed by a macro still counts at a later site") {
  // Inlining only the first include would drop the header here: the first stands under #if 0.
  Source source("a.cl",
                "#if 0\n#include <my/f.clh>\n#endif\n#include <my/f.clh>\n"
                "__kernel void k(__global int* out) { out[0] = F; }\n");
  source.header("my/f.clh", "#ifndef H\n#define H\n#define F 3\n#endif\n");
  CHECK_NOTHROW(runtime().build(source, {}, "test/second_site"));
}

TEST_CASE("headers nest, and line numbers stay right on every level") {
  Source source("main.cl", "m1\n#include <b.clh>\nm3\n  #  include\t\"b.clh\" // again\nm5");
  source.header("b.clh", "b1\n#include <c.clh>\nb3");
  source.header("c.clh", "c1\nc2");
  const std::string flat = source.flatten();
  CHECK(flat ==
        "#line 1 \"main.cl\"\nm1\n"
        "#line 1 \"b.clh\"\nb1\n#line 1 \"c.clh\"\nc1\nc2\n#line 3 \"b.clh\"\nb3\n"
        "#line 3 \"main.cl\"\nm3\n"
        "#line 1 \"b.clh\"\nb1\n#line 1 \"c.clh\"\nc1\nc2\n#line 3 \"b.clh\"\nb3\n"
        "#line 5 \"main.cl\"\nm5\n");
}

TEST_CASE(
    "the embedded device headers are found, a clcook header that does not exist is an error") {
  const Source good("a.cl", "#include <" + kKnown + ">\n__kernel void k(void) {}\n");
  CHECK(contains(good.flatten(), "#line 1 \"" + kKnown + "\""));
  CHECK_NOTHROW(runtime().build(good, {}, "test/embedded"));
  for (const char* directive :
       {"#include <clcook/nothing.clh>", "#include \"clcook/nothing.clh\""}) {
    const Error error = error_of([&] { Source("bad.cl", directive).flatten(); });
    CHECK(error.code == Errc::io);
    CHECK(contains(error.what(), "clcook/nothing.clh"));
    CHECK(contains(error.what(), "bad.cl"));
    for (const embedded::File& file : embedded::headers) {
      CHECK(contains(error.what(), std::string(file.name)));  // the known ones are listed
    }
  }
}

TEST_CASE("a header of the caller wins over an embedded one of the same name") {
  Source source("a.cl", "#include <" + kKnown + ">\n");
  source.header(kKnown, "mine\n");
  CHECK(contains(source.flatten(), "mine"));
  source.header(kKnown, "later\n");
  CHECK(contains(source.flatten(), "later"));
  CHECK_FALSE(contains(source.flatten(), "mine"));
}

TEST_CASE("includes that nobody knows are left to the compiler") {
  const std::string text = "#include <other/lib.h>\n#include \"beside.h\"\n";
  CHECK(Source("a.cl", text).flatten() == "#line 1 \"a.cl\"\n" + text);
}

TEST_CASE("only include directives are directives") {
  Source source("a.cl", "");
  const std::string keep[] = {"// #include <h.clh>",
                              "/* #include <h.clh> */",
                              "x #include <h.clh>",
                              "#define I #include <h.clh>",
                              "#include <h.clh",
                              "#include",
                              "#",
                              "#includes <h.clh>",
                              "const char* s = \"#include <h.clh>\";"};
  for (const std::string& line : keep) {
    CAPTURE(line);
    Source one("a.cl", line);
    one.header("h.clh", "INLINED\n");
    CHECK(one.flatten() == "#line 1 \"a.cl\"\n" + line + "\n");
  }
  for (const char* line : {"#include_next <h.clh>", "#import <h.clh>", "#embed \"h.clh\"",
                           "#include h.clh", "#include UNKNOWN", "%:include UNKNOWN"}) {
    CAPTURE(line);
    const auto flat = [](const std::string& text) {
      return Source("a.cl", text).header("h.clh", "INLINED\n").flatten();
    };
    const Error error = error_of([&] { flat(line); });
    CHECK(error.code == Errc::build_failed);
    CHECK(contains(error.what(), "a.cl:1: #"));
    // Where only the compiler knows whether it comes past, it has the last word.
    const std::string maybe = flat(text("#ifdef __MAYBE__\n", line, "\n#endif\nEND\n"));
    CHECK(contains(maybe, "\n#ifdef __MAYBE__\n#error a.cl:2: #"));
    CHECK(origin_of(maybe, "END").line == 4);
    const std::string never = text("#if 0\n", line, "\n#endif\n");
    CHECK(flat(never) == "#line 1 \"a.cl\"\n" + never);
  }
  const std::string take[] = {"#include <h.clh>",        " \t#\tinclude\t <h.clh>",
                              "#include<h.clh>",         "#include\"h.clh\"",
                              "#include <h.clh> // why", "#include <h.clh> /* why */",
                              "#include <h.clh>\r"};
  for (const std::string& line : take) {
    CAPTURE(line);
    Source one("a.cl", line);
    one.header("h.clh", "INLINED\n");
    CHECK(one.flatten() == "#line 1 \"a.cl\"\n#line 1 \"h.clh\"\nINLINED\n#line 2 \"a.cl\"\n");
  }
}

TEST_CASE("comments over several lines hide directives, and only comments do") {
  const auto inlined = [](const std::string& text) {
    Source source("a.cl", text);
    source.header("h.clh", "INLINED\n");
    return contains(source.flatten(), "INLINED");
  };
  CHECK_FALSE(inlined("/* one\n#include <h.clh>\n*/\n"));
  CHECK_FALSE(inlined("x /* one\n\n\n#include <h.clh>\n*/\n"));
  CHECK_FALSE(inlined("#define A 1 /* one\n#include <h.clh>\n*/\n"));
  CHECK(inlined("/* one\n*/\n#include <h.clh>\n"));
  CHECK(inlined("/* one */ /* two */\n#include <h.clh>\n"));
  CHECK(inlined("/**/\n#include <h.clh>\n"));
  CHECK_FALSE(inlined("/*/\n#include <h.clh>\n*/"));
  CHECK(inlined("// /*\n#include <h.clh>\n"));
  CHECK(inlined("s = \"/*\";\n#include <h.clh>\n"));
  CHECK(inlined("s = \"\\\"/*\";\n#include <h.clh>\n"));
  CHECK_FALSE(inlined("s = \"a\"; /*\n#include <h.clh>\n*/"));
  CHECK_FALSE(inlined("c = '\"'; /*\n#include <h.clh>\n*/"));  // a quote as a character
  CHECK(inlined("c = '\"'; // /*\n#include <h.clh>\n"));
  CHECK_FALSE(inlined("c = '\\''; /*\n#include <h.clh>\n*/"));
  CHECK(inlined("a / * b;\n#include <h.clh>\n"));
}

TEST_CASE("a comment that opens behind a directive stays one comment") {
  Source source("a.cl",
                "#include <h.clh> /* begins here\nint broken broken;\n*/\n"
                "__kernel void k(__global int* out) { out[0] = F; }\n");
  source.header("h.clh", "#define F 1\n");
  CHECK_NOTHROW(runtime().build(source, {}, "test/open_comment"));
}

TEST_CASE("a cycle is reported with its chain") {
  Source source("main.cl", "#include <a.clh>\n");
  source.header("a.clh", "#include <b.clh>\n").header("b.clh", "x\n#include \"a.clh\"\n");
  Error error = error_of([&] { source.flatten(); });
  CHECK(error.code == Errc::build_failed);
  CHECK(contains(error.what(), "main.cl -> a.clh -> b.clh -> a.clh"));
  Source self("s.cl", "#include <s.clh>\n");
  self.header("s.clh", "#include <s.clh>\n");
  error = error_of([&] { self.flatten(); });
  CHECK(contains(error.what(), "s.cl -> s.clh -> s.clh"));
}

TEST_CASE("two paths to one header are no cycle") {
  Source source("main.cl", "#include <a.clh>\n#include <b.clh>\n");
  source.header("a.clh", "#include <c.clh>\n").header("b.clh", "#include <c.clh>\n");
  source.header("c.clh", "C\n");
  CHECK(count_of(source.flatten(), "\nC\n") == 2);
}

TEST_CASE("compiler messages show the real file and line") {
  const TempFolder folder;
  write_bytes(folder / "deep.clh",
              "// one\n// two\nint deep(void) { return undeclared_in_deep; }\n");
  write_bytes(folder / "main.cl",
              "// one\n#include \"deep.clh\"\n// three\n"
              "__kernel void k(__global int* out) { out[0] = undeclared_in_main; }\n");
  const std::string log = build_failure(Source::load(folder / "main.cl"));
  CAPTURE(log);
  CHECK(contains(log, "deep.clh:3:"));
  CHECK(contains(log, "main.cl:4:"));
  CHECK(contains(log, "undeclared_in_deep"));
  CHECK(contains(log, "undeclared_in_main"));
}

TEST_CASE("lines stay right behind an include that the preprocessor skips") {
  Source source("main.cl",
                "#ifdef NEVER\n#include \"a.clh\"\n#else\n__kernel void k() { nonsense; }\n#endif\n"
                "more nonsense;\n");
  source.header("a.clh", "int a;\nint b;\nint c;\n");
  const std::string flat = source.flatten();
  CHECK(contains(flat, "#else\n#line 4 \"main.cl\"\n"));
  CHECK(contains(flat, "#endif\n#line 6 \"main.cl\"\n"));
  const Error error = error_of([&] { runtime().build(source, {}, "test"); });
  CHECK(contains(error.build_log, "main.cl:4"));
  CHECK(contains(error.build_log, "main.cl:6"));
  // Nothing to put right: no directive more.
  CHECK(Source("a.cl", "#if 1\nx\n#else\ny\n#endif\n").flatten() ==
        "#line 1 \"a.cl\"\n#if 1\nx\n#else\ny\n#endif\n");
}

TEST_CASE("CRLF files build, and their lines are right") {
  Source source("crlf.cl",
                "#include <h.clh>\r\n#define TWO \\\r\n 2\r\n"
                "__kernel void k(__global int* out) { out[0] = F + TWO; }\r\n");
  source.header("h.clh", "// one\r\n#define F 1\r\n");
  CHECK_NOTHROW(runtime().build(source, {}, "test/crlf"));
  Source broken("crlf.cl", "// one\r\n\r\n#include <h.clh>\r\nnonsense here;\r\n");
  broken.header("h.clh", "// one\r\n#define F 1\r\n");
  CHECK(contains(build_failure(broken), "crlf.cl:4:"));
}

TEST_CASE("a byte order mark at the start of a file is no code") {
  const TempFolder folder;
  write_bytes(folder / "h.clh", "\xEF\xBB\xBF#define F 1\n");
  write_bytes(
      folder / "k.cl",
      "\xEF\xBB\xBF#include \"h.clh\"\n__kernel void k(__global int* out) { out[0] = F; }\n");
  CHECK_NOTHROW(runtime().build(Source::load(folder / "k.cl"), {}, "test/bom"));
  // Of texts too, and nowhere else.
  Source source("k.cl", "\xEF\xBB\xBF#include <h.clh>\n\xEF\xBB\xBF\n");
  source.header("h.clh", "\xEF\xBB\xBF#define F 1\n");
  CHECK(source.flatten() ==
        "#line 1 \"k.cl\"\n#line 1 \"h.clh\"\n#define F 1\n#line 2 \"k.cl\"\n\xEF\xBB\xBF\n");
  for (const char* mark : {"\xFF\xFE", "\xFE\xFF"}) {
    source.header("h.clh", std::string(mark) + "x");
    const Error error = error_of([&] { source.flatten(); });
    CHECK(contains(error.what(), "h.clh"));
    CHECK(contains(error.what(), "UTF-16"));
  }
}

TEST_CASE("files with odd names can be loaded, included and reported") {
  const TempFolder folder;
  const std::string odd = "a b'c\\d#%$\xC3\xA9.clh";
  write_bytes(folder / odd, "int f(void) { return undeclared_in_odd; }\n");
  write_bytes(folder / "ma in.cl", "#include \"" + odd + "\"\n__kernel void k(void) {}\n");
  const Source source = Source::load(folder / "ma in.cl");
  CHECK(contains(source.flatten(), "undeclared_in_odd"));
  const std::string log = build_failure(source);
  CAPTURE(log);
  CHECK(contains(log, "a b'c"));
  CHECK(contains(log, ".clh:1:"));
  // A name with quotes and line ends cannot break the #line directive.
  const Source named("q\"u\nx.cl", "__kernel void k(void) {}\n");
  CHECK(contains(named.flatten(), "#line 1 \"q\\\"u x.cl\"\n"));
  CHECK_NOTHROW(runtime().build(named, {}, "test/quotes"));
}

TEST_CASE("quoted includes are looked up beside a loaded file, angled ones are not") {
  const TempFolder folder;
  write_bytes(folder / "beside.clh", "BESIDE\n");
  write_bytes(folder / "sub/below.clh", "BELOW\n");
  write_bytes(folder / "k.cl",
              "#include \"beside.clh\"\n#include \"sub/below.clh\"\n#include <beside.clh>\n");
  const std::string flat = Source::load(folder / "k.cl").flatten();
  CHECK(count_of(flat, "\nBESIDE\n") == 1);
  CHECK(count_of(flat, "\nBELOW\n") == 1);
  CHECK(contains(flat, "#include <beside.clh>"));
  // Without a folder in the path, beside means the current folder.
  const auto here = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  const std::string same = Source::load("k.cl").flatten();
  std::filesystem::current_path(here);
  CHECK(count_of(same, "\nBESIDE\n") == 1);
  // A text that was not loaded from a file has nothing beside it.
  CHECK(contains(Source("k.cl", "#include \"beside.clh\"\n").flatten(), "#include \"beside.clh\""));
}

TEST_CASE("a quoted include is beside the file that includes it") {
  const TempFolder folder;
  write_bytes(folder / "w2.clh", "WRONG\n");
  write_bytes(folder / "sub/w2.clh", "RIGHT\n#include \"deep/d.clh\"\n");
  write_bytes(folder / "sub/deep/d.clh", "DEEP\n#include \"../../other/o.clh\"\n");
  write_bytes(folder / "other/o.clh", "OTHER\n#include \"only_above.clh\"\n");
  write_bytes(folder / "only_above.clh", "WRONG\n");
  write_bytes(folder / "sub/w.clh", "#include \"w2.clh\"\n");
  write_bytes(folder / "k.cl", "#include \"sub/w.clh\"\nEND\n");
  const std::string flat = Source::load(folder / "k.cl").flatten();
  CHECK_FALSE(contains(flat, "WRONG"));
  CHECK(contains(flat, "#include \"only_above.clh\""));  // not beside: left to the compiler
  CHECK(origin_of(flat, "RIGHT").file == "sub/w2.clh");
  CHECK(origin_of(flat, "DEEP").file == "sub/deep/d.clh");
  CHECK(origin_of(flat, "OTHER").file == "sub/deep/../../other/o.clh");
  CHECK(origin_of(flat, "END").file == (folder / "k.cl").string());
  CHECK(origin_of(flat, "END").line == 2);
  // A link is beside what it is named beside, as in compilers.
  std::filesystem::create_directories(folder / "linked");
  std::filesystem::create_symlink(folder / "sub/w.clh", folder / "linked/w.clh");
  write_bytes(folder / "linked/w2.clh", "LINKED\n");
  write_bytes(folder / "k.cl", "#include \"linked/w.clh\"\n");
  CHECK(contains(Source::load(folder / "k.cl").flatten(), "LINKED"));
  // An absolute name.
  write_bytes(folder / "k.cl", "#include \"" + (folder / "sub/w.clh").string() + "\"\n");
  CHECK(contains(Source::load(folder / "k.cl").flatten(), "RIGHT"));
}

TEST_CASE("added headers may include what was added beside them") {
  Source source("k.cl", "#include \"my/sub/a.clh\"\n");
  source.header("my/sub/a.clh", "#include \"b.clh\"\n#include \"../c.clh\"\n#include \"d.clh\"\n");
  source.header("b.clh", "WRONG\n").header("my/sub/b.clh", "BESIDE\n");
  source.header("my/c.clh", "ABOVE\n").header("d.clh", "ROOT\n");
  const std::string flat = source.flatten();
  CHECK_FALSE(contains(flat, "WRONG"));
  CHECK_FALSE(contains(flat, "#include"));
  for (const char* part : {"BESIDE", "ABOVE", "ROOT"}) CHECK(contains(flat, part));
}

TEST_CASE("folders of headers are searched behind the file's own, in order") {
  const TempFolder folder;
  write_bytes(folder / "src/k.cl", "#include \"a.clh\"\n#include <a.clh>\n#include <b.clh>\n");
  write_bytes(folder / "src/a.clh", "OWN\n");
  write_bytes(folder / "one/a.clh", "ONE\n#include \"beside.clh\"\n");
  write_bytes(folder / "one/beside.clh", "BESIDE\n");
  write_bytes(folder / "two/a.clh", "WRONG\n");
  write_bytes(folder / "two/b.clh", "TWO\n");
  write_bytes(folder / "two/beside.clh", "WRONG\n");
  Source source = Source::load(folder / "src/k.cl");
  source.folder(folder / "one").folder(folder / "two");
  const std::string flat = source.flatten();
  CHECK_FALSE(contains(flat, "WRONG"));
  for (const char* part : {"OWN", "ONE", "BESIDE", "TWO"}) {
    CAPTURE(part);
    CHECK(count_of(flat, part) == 1);
  }
  const Error error = error_of([&] { source.folder(folder / "three"); });
  CHECK(error.code == Errc::io);
  CHECK(contains(error.what(), (folder / "three").string()));
}

TEST_CASE("#pragma once: a file is there once, under whatever name and condition") {
  const TempFolder folder;
  write_bytes(folder / "h.clh", "#pragma once\nint once(void) { return 1; }\n");
  std::filesystem::create_symlink(folder / "h.clh", folder / "link.clh");
  std::filesystem::create_hard_link(folder / "h.clh", folder / "hard.clh");
  std::filesystem::create_directories(folder / "sub");
  const std::string use = "__kernel void k(__global int* out) { out[0] = once(); }\n";
  write_bytes(folder / "k.cl",
              "#include \"h.clh\"\n#include \"link.clh\"\n#include \"hard.clh\"\n"
              "#include \"sub/../h.clh\"\n" +
                  use);
  const Source source = Source::load(folder / "k.cl");
  CHECK(count_of(source.flatten(), "int once") == 1);
  CHECK(origin_of(source.flatten(), "out[0]").line == 5);
  CHECK_NOTHROW(runtime().build(source, {}, "test/once"));
  // The first one may not be taken.
  for (const char* first : {"#if 0", "#ifdef __OPENCL_VERSION__"}) {
    CAPTURE(first);
    write_bytes(folder / "k.cl", std::string(first) +
                                     "\n#include \"h.clh\"\n#else\n#include \"link.clh\"\n#endif\n"
                                     "#include \"hard.clh\"\n" +
                                     use);
    CHECK_NOTHROW(runtime().build(Source::load(folder / "k.cl"), {}, "test/once"));
  }
  // The same words in two files are two headers.
  write_bytes(folder / "k.cl", "#include \"a/n.clh\"\n#include \"b/n.clh\"\n");
  for (const char* name : {"a", "b"}) {
    write_bytes(folder / name / "n.clh", "#pragma once\n#include \"m.clh\"\n");
    write_bytes(folder / name / "m.clh", std::string("FROM_") + name + "\n");
  }
  const std::string flat = Source::load(folder / "k.cl").flatten();
  CHECK(contains(flat, "FROM_a"));
  CHECK(contains(flat, "FROM_b"));
  CHECK(count_of(flat, "#ifndef CLCOOK_ONCE_") == 2);
}

TEST_CASE(
    "the operator _Pragma(\"once\") is #pragma once, and neither counts where it is skipped") {
  const auto times = [](const std::string& header) {
    Source source("k.cl", "#include <h.clh>\n#include <h.clh>\n");
    source.header("h.clh", header);
    return count_of(source.flatten(), "HERE");
  };
  CHECK(times("#pragma once\nHERE\n") == 1);
  CHECK(times("HERE\n#pragma once\n") == 1);
  CHECK(times("# pragma /* c */ once // d\nHERE") == 1);
  CHECK(times("#pragma\\\n once\nHERE") == 1);
  CHECK(times("_Pragma(\"once\")\nHERE\n") == 1);
  CHECK(times("_Pragma ( \"once\" ) HERE\n") == 1);
  CHECK(times("HERE\n") == 2);
  CHECK(times("// #pragma once\nHERE\n") == 2);
  CHECK(times("/*\n#pragma once\n*/ HERE\n") == 2);
  CHECK(times("#pragma twice once\nHERE\n") == 2);
  CHECK(times("#if 0\n#pragma once\n#endif\nHERE\n") == 2);
  CHECK(times("#define P _Pragma(\"once\")\nHERE\n") == 2);
  CHECK(times("a \"_Pragma(\\\"once\\\")\" HERE\n") == 2);
}

TEST_CASE("guarded headers may include each other") {
  const TempFolder folder;
  const auto write = [&](const std::string& one, const std::string& other, int kind) {
    const std::string body = "#include \"" + other + ".clh\"\ntypedef int type_" + one + ";\n";
    const std::string macro = "GUARD_" + one;
    write_bytes(folder / (one + ".clh"),
                kind == 0   ? "#ifndef " + macro + "\n#define " + macro + "\n" + body + "#endif\n"
                : kind == 1 ? "#if !defined(" + macro + ")\n#define " + macro + " 1\n" + body +
                                  "#endif // " + macro + "\n"
                : kind == 2
                    ? "#ifdef " + macro + "\n#else\n#define " + macro + "\n" + body + "#endif"
                : kind == 3 ? "#pragma once\n" + body
                            : "// c\n_Pragma(\"once\")\n" + body);
  };
  write_bytes(folder / "k.cl",
              "#include \"a.clh\"\n#include \"b.clh\"\n"
              "__kernel void k(__global type_a* out) { type_b one = 1; out[0] = one; }\n");
  for (int kind = 0; kind < 25; ++kind) {
    CAPTURE(kind);
    write("a", "b", kind % 5);
    write("b", "a", kind / 5);
    const Source source = Source::load(folder / "k.cl");
    CHECK_FALSE(contains(source.flatten(), "#include"));
    if (kind == 8) CHECK_NOTHROW(runtime().build(source, {}, "test/mutual"));
  }
}

TEST_CASE("a file may include itself as long as its conditions end it") {
  Source source("k.cl", "#undef N\n#include <self.clh>\n");
  source.header("self.clh",
                "#if !defined(N)\n#define N 0\n#elif N == 0\n#undef N\n#define N 1\n"
                "#elif N == 1\n#undef N\n#define N 2\n#endif\n"
                "LEVEL N\n#if N < 2\n#include <self.clh>\n#endif\n");
  CHECK(count_of(source.flatten(), "LEVEL N\n") == 3);
  // A -D could end this one; nothing here does.
  source.header("self.clh", "#ifdef GO_ON\n#include <self.clh>\n#endif\n");
  CHECK(contains(error_of([&] { source.flatten(); }).what(), "k.cl -> self.clh -> self.clh"));
}

TEST_CASE("groups that are skipped for sure may name headers that are not there") {
  for (const char* condition :
       {"#if 0", "#if 1 == 2", "#ifdef __NOT__\n#undef X\n#endif\n#define X 1\n#ifndef X",
        "#define V 120\n#if V >= 200", "#undef Y\n#ifdef Y", "#if 1\n#else", "#if 1\n#elif A"}) {
    CAPTURE(condition);
    const std::string text =
        std::string(condition) + "\n#include <clcook/nothing.clh>\n#include \"no.clh\"\n#endif\n";
    CHECK(Source("a.cl", text).flatten() == "#line 1 \"a.cl\"\n" + text);
  }
  // Where it is not known, the header is inlined if it is there.
  Source source("a.cl", "#if B > 1\n#include <h.clh>\n#include <clcook/nothing.clh>\n#endif\n");
  source.header("h.clh", "HERE\n");
  CHECK(contains(source.flatten(), "HERE"));
  CHECK(contains(source.flatten(), "#include <clcook/nothing.clh>"));
  // The guard of a header is no such condition.
  Source guarded("a.cl", "#include <h.clh>\n");
  guarded.header("h.clh", "#ifndef H\n#define H\n#include <clcook/nothing.clh>\n#endif\n");
  CHECK(error_of([&] { guarded.flatten(); }).code == Errc::io);
}

TEST_CASE("what is spliced, a comment or a trigraph is read as C reads it") {
  const auto inlined = [](const std::string& text) {
    Source source("a.cl", text);
    source.header("h.clh", "INLINED\n");
    return contains(source.flatten(), "INLINED");
  };
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    CAPTURE(end);
    CHECK_FALSE(inlined("// c \\" + end + "#include <h.clh>"));
    CHECK_FALSE(inlined("// c \\ \t" + end + "#include <h.clh>"));  // as compilers read it
    CHECK_FALSE(inlined("// c ?\?/" + end + "#include <h.clh>"));
    CHECK_FALSE(inlined("#define X \\" + end + "#include <h.clh>"));
    CHECK_FALSE(inlined("x \\" + end + "#include <h.clh>"));
    CHECK(inlined("#\\" + end + "include \\" + end + "<h.clh>"));
    CHECK(inlined("/\\" + end + "* c *\\" + end + "/ #include <h.clh>"));
    CHECK(inlined("x" + end + "#include <h.clh>"));
  }
  CHECK(inlined("/* c */ #include <h.clh>"));
  CHECK(inlined("/* c\n */ # /* d */ include /**/ \"h.clh\" /*\n*/"));
  CHECK(inlined("?\?=include <h.clh>"));
  CHECK(inlined("%:include <h.clh>"));
  CHECK(inlined("#define H <h.clh>\n#define I H\n#include I"));
  CHECK(inlined("#define H() <h.clh>\n#include H()"));
  const Error error = error_of([&] { inlined("#define H() <h.clh>\n#include H"); });
  CHECK(contains(error.what(), "a.cl:2: #include H: it comes to H, which is neither"));
  CHECK_FALSE(inlined("x /* c */ #include <h.clh>"));
  // A splice at the end of a header joins nothing.
  for (const char* end : {"\\", "\\\n", "\\ \n", "?\?/", "// c \\\n"}) {
    CAPTURE(end);
    Source source("a.cl", "#include <h.clh>\nNEXT\n");
    source.header("h.clh", std::string("x ") + end);
    const std::string flat = source.flatten();
    CHECK(count_of(flat, "\\\n#") == 0);
    CHECK(count_of(flat, "/\n#") == 0);
    CHECK(contains(flat, "\n#line 2 \"a.cl\"\nNEXT\n"));
  }
}

TEST_CASE("a #line of the text goes on behind an include") {
  Source source("a.cl",
                "#line 100 \"made \\\"from\\\".x\"\na\n#include <h.clh>\nb\n# 7\nc\n"
                "#include <h.clh>\nd\n");
  source.header("h.clh", "#line 55 \"h.x\"\nh\n");
  const std::vector<Origin> all = origins(source.flatten());
  std::size_t seen = 0;
  for (const Origin& one : all) {
    if (one.text == "b") seen += one.line == 102 && one.file == "made \\\"from\\\".x" ? 1U : 100U;
    if (one.text == "d") seen += one.line == 9 && one.file == "made \\\"from\\\".x" ? 1U : 100U;
  }
  CHECK(seen == 2);
}

namespace {

// The value that a program of the file writes.
int value_of(const Source& source, const std::string& options = {}) {
  const cl::Program program = runtime().build(source, {}, "test/value", options);
  Kernel kernel(runtime(), program, "k");
  const cl::Buffer out = create_buffer(runtime(), sizeof(cl_int));
  const cl::Event done = kernel(Launch(), {}, out);
  const cl_event wait = done();
  cl_int value = 0;
  check(clEnqueueReadBuffer(runtime().queue()(), out(), CL_TRUE, 0, sizeof value, &value, 1, &wait,
                            nullptr),
        "clEnqueueReadBuffer");
  return value;
}

const std::string kWrites = "__kernel void k(__global int* out) { out[0] = V; }\n";

// Makes a folder the current one.
struct InFolder {
  explicit InFolder(const std::filesystem::path& path) { std::filesystem::current_path(path); }
  ~InFolder() { std::filesystem::current_path(before); }
  InFolder(const InFolder&) = delete;
  InFolder& operator=(const InFolder&) = delete;
  std::filesystem::path before = std::filesystem::current_path();
};

}  // namespace

TEST_CASE("an include by macros is read beside the file, and each time anew") {
  const TempFolder folder;
  write_bytes(folder / "k.cl",
              "#define S_(x) #x\n#define S(x) S_(x)\n#include S(inc/v.clh)\n" + kWrites);
  write_bytes(folder / "cwd/inc/v.clh", "#define V 9\n");
  const InFolder here(folder / "cwd");
  const Source source = Source::load(folder / "k.cl");
  for (const int value : {3, 4}) {
    write_bytes(folder / "inc/v.clh", text("#define V ", value, "\n"));
    CHECK(value_of(source) == value);
  }
  write_bytes(folder / "inc/v.clh", "#define V (\n");
  CHECK(contains(build_failure(source), "k.cl:4:"));
  std::filesystem::remove(folder / "inc/v.clh");
  const Error error = error_of([&] { source.self_contained(); });
  CHECK(contains(error.what(), "k.cl:3: header 'inc/v.clh' file not found; looked in: beside"));
  CHECK(contains(error_of([&] { value_of(source); }).what(), "header 'inc/v.clh' file not found"));
  CHECK(contains(source.flatten(), "\n#include S(inc/v.clh)\n"));
  // In a folder of headers too, and <as this>.
  write_bytes(folder / "more/inc/v.clh", "#define V 5\n");
  CHECK(value_of(Source(source).folder(folder / "more")) == 5);
  CHECK(value_of(source, "-I " + (folder / "more").string()) == 5);
  write_bytes(folder / "k.cl", "#define IN(x) <inc/x.clh>\n#include IN(v)\n" + kWrites);
  CHECK(value_of(Source::load(folder / "k.cl").folder(folder / "more"), "-I/not/there") == 5);
}

TEST_CASE("definitions decide what includes name, and what does not depend on them is followed") {
  const auto flat = [](const std::string& text, const std::string& options) {
    Source source("k.cl", text);
    source.header("a.clh", "IN_A\n").header("b.clh", "IN_B\n");
    const std::string out = source.with_options(options).self_contained();
    return contains(out, "\nIN_A\n") + 2 * contains(out, "\nIN_B\n");
  };
  CHECK(flat("#include H", "-DH=\"a.clh\"") == 1);
  CHECK(flat("#include H", "-D H=\\\"b.clh\\\" -cl-mad-enable") == 2);
  CHECK(flat("#include H", "-DH=<a.clh> -UH -D H=<b.clh>") == 2);
  CHECK(flat("#include H(b)", "-DH(x)=<x.clh>") == 2);
  const std::string standard = "#ifndef H\n#define H \"a.clh\"\n#endif\n#include H\n";
  CHECK(flat("#define J(a, b) <a.b ## h>\n#include J(b, cl)\n", "") == 2);
  CHECK(flat(standard, "") == 1);
  CHECK(flat(standard, "-DH=\"b.clh\"") == 2);
  const std::string choice =
      "#if WHICH == 2\n#define H <b.clh>\n#else\n#define H <a.clh>\n#endif\n#include H\n";
  CHECK(flat(choice, "") == 1);
  CHECK(flat(choice, "-DWHICH=1") == 1);
  CHECK(flat(choice, "-DWHICH=2") == 2);
  CHECK(flat("#ifdef H\n#include H\n#endif\n", "") == 0);
  CHECK(flat("#ifdef __X__\n#define H <b.clh>\n#include H\n#endif\n", "") == 2);

  // What depends on the compiler, or on nobody knows what, is refused.
  const auto refused = [&](const std::string& text, const std::string& part) {
    Source source("k.cl", text);
    source.header("a.clh", "IN_A\n").header("b.clh", "IN_B\n").define_unknown("WHICH");
    const Error error = error_of([&] { source.self_contained(); });
    CAPTURE(text);
    CAPTURE(error.what());
    CHECK(error.code == Errc::build_failed);
    CHECK(contains(error.what(), part));
  };
  refused(choice, "k.cl:6: #include H: what the macro H stands for depends on the compiler");
  refused("#ifdef __X__\n#define H <b.clh>\n#else\n#define H <a.clh>\n#endif\n#include H\n",
          "k.cl:6: #include H");
  refused("#define S_(x) #x\n#define S(x) S_(x)\n#include S(WHICH.clh)\n", "the macro WHICH");
  refused("#define H <a.clh>\n#pragma pop_macro(\"H\")\n#include H\n", "the macro H");
  refused("#define H <a.clh>\n_Pragma(\"pop_macro(\\\"H\\\")\")\n#include H\n", "the macro H");
  refused("#define F(x) F\n#include F(1\n", "k.cl:2: #include F(1");
  refused("#define F(x, y) <x>\n#include F(a.clh)\n", "k.cl:2: #include F(a.clh)");
  refused("#define J(a, b) <a##b>\n#include J(a., clh)\n", "its macros cannot be replaced");
  refused("#define J(a, b) <a##b>\n#include J(a., 2)\n", "header 'a.2' file not found");
  refused("#include __FILE__\n", "the macro __FILE__");
  refused("#include <a.clh\n#include \"no.clh\"", "k.cl:2: header 'no.clh' file not found");
  std::string bomb = "#define A0 <a.clh>\n";
  for (int i = 1; i < 64; ++i) bomb += text("#define A", i, " A", i - 1, " A", i - 1, "\n");
  refused(bomb + "#include A63\n", "#include A63");
  // flatten() does not know of -D that nobody told it.
  CHECK(error_of([&] { Source("k.cl", choice).flatten(); }).code == Errc::build_failed);
  for (const char* wrong : {"", "=1", "4", "A B", "A-B=1", "A\n=1", "-A"}) {
    CAPTURE(wrong);
    const Error error = error_of([&] { Source("k.cl", "").define(wrong); });
    CHECK(error.code == Errc::invalid_argument);
    CHECK(contains(error.what(), wrong));
  }
}

TEST_CASE("__has_include is answered where the header is looked for") {
  const TempFolder folder;
  write_bytes(folder / "inc/there.clh", "");
  write_bytes(folder / "more/other.clh", "");
  write_bytes(folder / "cwd/absent.clh", "");
  write_bytes(folder / "inc/h.clh",
              "#if __has_include(\"there.clh\") && !__has_include(<there.clh>)\n#define V 3\n"
              "#else\n#define V 4\n#endif\n");
  const InFolder here(folder / "cwd");
  const auto value = [&](const std::string& condition, const std::string& options = {}) {
    CAPTURE(condition);
    write_bytes(folder / "k.cl",
                "#define HAS(x) __has_include(x)\n#define NAME \"inc/there.clh\"\n"
                "#if " +
                    condition + "\n#define V 1\n#else\n#define V 0\n#endif\n" + kWrites);
    return value_of(Source::load(folder / "k.cl"), options);
  };
  CHECK(value("__has_include(\"inc/there.clh\")") == 1);
  CHECK(value("__has_include(\"absent.clh\")") == 0);  // what is in the current folder
  CHECK(value("__has_include(<" + kKnown + ">)") == 1);
  CHECK(value("__has_include(\"" + kKnown + "\") && 1") == 1);
  CHECK(value("__has_include(<clcook/nothing.clh>)") == 0);
  CHECK(value("__has_include(<other.clh>)") == 0);
  CHECK(value("__has_include(<other.clh>)", "-I" + (folder / "more").string()) == 1);
  CHECK(value("defined(__has_include) && __has_include ( NAME ) \\\n && __OPENCL_VERSION__ > 1") ==
        1);
  CHECK(value("0\n#elif HAS(NAME) && !HAS(\"no//.clh\")") == 1);
  CHECK(value("HAS(\"inc/there.clh\") == 2 - HAS(\"inc/h.clh\")") == 1);
  write_bytes(folder / "k.cl", "#include \"inc/h.clh\"\n" + kWrites);
  CHECK(value_of(Source::load(folder / "k.cl")) == 3);
  for (const char* condition : {"__has_include(__FILE__)", "__has_include_next(<a>)",
                                "__has_embed(\"a\")", "__has_include(NOBODY)"}) {
    CAPTURE(condition);
    const std::string text = std::string("#if ") + condition + "\n#endif\n";
    const Error error = error_of([&] { Source("k.cl", text).flatten(); });
    CHECK(error.code == Errc::build_failed);
    CHECK(contains(error.what(), "k.cl:1: which headers #if"));
    CHECK(contains(Source("k.cl", "#ifdef __X__\n" + text + "#endif\n").flatten(),
                   "#if CLCOOK_CANNOT_FOLLOW("));
    CHECK(contains(Source("k.cl", "#if 0\n" + text + "#endif\n").flatten(), condition));
  }
}

TEST_CASE("what only the compiler can find is built anew each time, the rest is kept") {
  const TempFolder folder;
  const InFolder here(folder.path());
  const auto from_source = [] { return runtime().cache().stats().from_source; };
  write_bytes(folder / "beside.clh", "#define V 3\n");
  const Source left("k.cl", "#include \"beside.clh\"\n" + kWrites);
  CHECK(contains(left.flatten(), "#include \"beside.clh\""));
  CHECK(error_of([&] { left.self_contained(); }).code == Errc::build_failed);
  const std::uint64_t before = from_source();
  bool finds = true;  // whether this compiler looks in the current folder
  try {
    CHECK(value_of(left) == 3);
  } catch (const Error&) {
    finds = false;
  }
  if (finds) {
    write_bytes(folder / "beside.clh", "#define V 4\n");
    CHECK(from_source() == before + 1);
    value_of(left);
    CHECK(from_source() == before + 2);
  }
  const Source dated("k.cl",
                     "__constant char date[] = __DATE__;\n#define V date[0] != 0\n" + kWrites);
  const std::uint64_t undated = from_source();
  CHECK(value_of(dated) == 1);
  CHECK(value_of(dated) == 1);
  CHECK(from_source() == undated + 2);
  const Source timed("k.cl",
                     "__constant char date[] = __TIMESTAMP__;\n#define V date[0] != 0\n" + kWrites);
  CHECK(value_of(timed) == 1);
  CHECK(value_of(timed) == 1);
  CHECK(from_source() == undated + 4);
  // No macro of the compiler's.
  const Source named("k.cl",
                     "#define _TIME 1\n#define UPDATE__ 5\n#define V _TIME + UPDATE__\n" + kWrites);
  CHECK(value_of(named) == 6);
  CHECK(value_of(named) == 6);
  CHECK(from_source() == undated + 5);
  // An include for other compilers costs nothing.
  const Source shared("k.cl",
                      "#ifdef __cplusplus\n#include <cstdint>\n#endif\n#define V 7\n" + kWrites);
  CHECK(contains(shared.flatten(), "\n#include <cstdint>\n"));
  CHECK(contains(shared.self_contained(), "\n#error k.cl:2: header 'cstdint' file not found"));
  const std::uint64_t then = from_source();
  CHECK(value_of(shared) == 7);
  CHECK(value_of(shared) == 7);
  CHECK(from_source() == then + 1);
}

TEST_CASE("headers that do not end, or end in the middle, are refused by name") {
  const auto refused = [](const std::string& header, const std::string& part) {
    Source source("k.cl", "#include <h.clh>\n*/\n#endif\n");
    source.header("h.clh", header).header("i.clh", "#include <h.clh>\n");
    const Error error = error_of([&] { source.flatten(); });
    CAPTURE(error.what());
    CHECK(error.code == Errc::build_failed);
    CHECK(contains(error.what(), part));
    CHECK(contains(error.what(), "k.cl"));
  };
  refused("a\nb /* c\n", "h.clh:2: the header ends within a comment");
  refused("#if 1\n", "h.clh: the header ends within an #if");
  refused("x\n#endif\n", "h.clh:2: #endif without an #if");
  refused("#else\n#endif\n", "h.clh:1: #else without an #if");
  refused("#elif 1\n", "h.clh:1: #elif without an #if");
  refused("#include <h.clh>\n", "k.cl -> h.clh -> h.clh");
  refused("#ifdef A\n#include <i.clh>\n#endif\n", "k.cl -> h.clh -> i.clh -> h.clh");
  // Each header twice the one before: 2 to the 40th.
  Source bomb("bomb.cl", "#include <h40.clh>\n");
  bomb.header("h0.clh", std::string(100000, 'x') + "\n");
  for (int i = 1; i <= 40; ++i) {
    const std::string below = text("#include <h", i - 1, ".clh>\n");
    bomb.header(text("h", i, ".clh"), below + below);
  }
  CHECK(contains(error_of([&] { bomb.flatten(); }).what(), "16 MiB"));
  // As deep as compilers go, and one deeper.
  Source deep("deep.cl", "#include <h199.clh>\n");
  deep.header("h1.clh", "BOTTOM\n").header("h200.clh", "#include <h199.clh>\n");
  for (int i = 2; i <= 199; ++i)
    deep.header(text("h", i, ".clh"), text("#include <h", i - 1, ".clh>\n"));
  CHECK(contains(deep.flatten(), "BOTTOM"));
  Source deeper("deeper.cl", "#include <h200.clh>\n");
  for (int i = 2; i <= 200; ++i)
    deeper.header(text("h", i, ".clh"), text("#include <h", i - 1, ".clh>\n"));
  deeper.header("h1.clh", "BOTTOM\n");
  CHECK(contains(error_of([&] { deeper.flatten(); }).what(), "too deeply"));
}

TEST_CASE("headers that all include all earlier ones do not multiply") {
  Source source("k.cl", "#include <h40.clh>\n");
  for (int i = 0; i <= 40; ++i) {
    std::string text_of = text("#ifndef H", i, "\n#define H", i, "\n");
    for (int j = 0; j < i; ++j) text_of += text("#include <h", j, ".clh>\n");
    source.header(text("h", i, ".clh"), text_of + text("int f", i, ";\n#endif\n"));
  }
  CHECK(source.flatten().size() < 2000000);
}

TEST_CASE("a header of the caller wins over a file beside") {
  const TempFolder folder;
  write_bytes(folder / "h.clh", "FILE\n");
  write_bytes(folder / "k.cl", "#include \"h.clh\"\n");
  Source source = Source::load(folder / "k.cl");
  source.header("h.clh", "MINE\n");
  CHECK(contains(source.flatten(), "MINE"));
  CHECK_FALSE(contains(source.flatten(), "FILE"));
}

TEST_CASE("a file that is missing or a folder is an error that names the path") {
  const TempFolder folder;
  for (const std::filesystem::path& path :
       {folder / "missing.cl", folder.path(), folder / "missing/k.cl"}) {
    const Error error = error_of([&] { Source::load(path); });
    CHECK(error.code == Errc::io);
    CHECK(contains(error.what(), path.string()));
  }
  CHECK(contains(error_of([&] { Source::load(folder.path()); }).what(), "folder"));
  CHECK(error_of([] { Source::load(""); }).code == Errc::io);
  // A folder whose name an include gives is not a header.
  std::filesystem::create_directory(folder / "dir.clh");
  write_bytes(folder / "k.cl", "#include \"dir.clh\"\n");
  CHECK(contains(Source::load(folder / "k.cl").flatten(), "#include \"dir.clh\""));
}

TEST_CASE("CLCOOK_KERNEL_DIR: files on disk win over embedded ones") {
  const std::string_view chunks[] = {"embedded text\n", "second\n"};
  const embedded::File file{"some_kernel.cl", chunks, 2};
  const TempFolder folder;
  {
    const ScopedVariable unset("CLCOOK_KERNEL_DIR", std::nullopt);
    CHECK(Source(file).flatten() == "#line 1 \"some_kernel.cl\"\nembedded text\nsecond\n");
  }
  const ScopedVariable set("CLCOOK_KERNEL_DIR", folder.path().string());
  CHECK(contains(Source(file).flatten(), "embedded text"));  // nothing there: the embedded one
  write_bytes(folder / "some_kernel.cl", "from disk\n#include <" + kKnown + ">\n");
  CHECK(contains(Source(file).flatten(), "from disk"));
  CHECK_FALSE(contains(Source(file).flatten(), "embedded text"));
  CHECK_FALSE(contains(Source(file).flatten(), "header from disk"));
  write_bytes(folder / kKnown, "header from disk\n");
  CHECK(contains(Source(file).flatten(), "header from disk"));
  write_bytes(folder / "clcook/brand_new.clh", "brand new\n");  // one that is not embedded
  CHECK(contains(Source("x.cl", "#include <clcook/brand_new.clh>").flatten(), "brand new"));
  // Beside a header on disk there may be others.
  write_bytes(folder / "clcook/brand_new.clh", "#include \"beside.clh\"\n");
  write_bytes(folder / "clcook/beside.clh", "beside\n");
  CHECK(contains(Source("x.cl", "#include <clcook/brand_new.clh>").flatten(), "beside\n"));
  // A folder of that name does not win, and a text of the caller is not replaced.
  std::filesystem::remove(folder / "some_kernel.cl");
  std::filesystem::create_directory(folder / "some_kernel.cl");
  CHECK(contains(Source(file).flatten(), "embedded text"));
  CHECK(contains(Source("some_kernel.cl", "mine").flatten(), "mine"));
  const ScopedVariable empty("CLCOOK_KERNEL_DIR", "");
  CHECK(contains(Source(file).flatten(), "embedded text"));
}

TEST_CASE("an embedded file has one known text, unless something is added to it") {
  const ScopedVariable unset("CLCOOK_KERNEL_DIR", std::nullopt);
  const std::string_view chunks[] = {"first\n", "second\n"};
  const std::string_view others[] = {"first\n", "third\n"};
  const std::string* known = Source(embedded::File{"known.cl", chunks, 2}).known_text();
  REQUIRE(known != nullptr);
  CHECK(*known == "#line 1 \"known.cl\"\nfirst\nsecond\n");
  // By the text, not by the name or the place: a part of it, more than it and another are others.
  for (const auto& [rows, count] : {std::pair(others, 2), std::pair(chunks, 1)}) {
    const embedded::File file{"known.cl", rows, static_cast<std::size_t>(count)};
    const std::string text = *Source(file).known_text();
    CHECK(text == "#line 1 \"known.cl\"\n" + file.text());
    CHECK(Source(file).flatten() == text);
  }
  const embedded::File again{"known.cl", chunks, 2};
  CHECK(Source(again).known_text() == known);
  CHECK(Source(again).header("a.clh", "").known_text() == nullptr);
  CHECK(Source("known.cl", "first\nsecond\n").known_text() == nullptr);
  const TempFolder folder;
  CHECK(Source(again).folder(folder.path().string()).known_text() == nullptr);
  const ScopedVariable set("CLCOOK_KERNEL_DIR", folder.path().string());
  CHECK(Source(again).known_text() == nullptr);
}

TEST_CASE("flattened text is its own fixed point") {
  Source source("main.cl", "m1\n#include <b.clh>\nm3\n");
  source.header("b.clh", "b1\n");
  const std::string once = source.flatten();
  CHECK(Source("again.cl", once).flatten() == "#line 1 \"again.cl\"\n" + once);
  CHECK(origin_of(once, "m3").line == 3);
  CHECK(origin_of(once, "m3").file == "main.cl");
  CHECK(origin_of(once, "b1").file == "b.clh");
}

TEST_CASE("the text of an embedded kernel is the same whatever the first build of it defined") {
  // It includes a header unless the text before it has a function of its own.
  const Source source(embedded::regroup);
  const std::string own = source.with_options("-DCLCOOK_REGROUP_OWN_FUNCTION").flatten();
  CHECK(source.flatten() == own);
  CHECK(source.with_options("").self_contained() == own);
  CHECK(contains(own, "clcook_shade_material(int"));
}
