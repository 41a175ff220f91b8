// Sources: reading, flattening, and the file names and lines that a compiler then reports.
#include <clcook/core/source.hpp>
#include <clcook/embedded/headers.hpp>

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
                              "#include_next <h.clh>",
                              "#define I #include <h.clh>",
                              "#include h.clh",
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
  // In texts of the caller, too.
  Source given(folder / "k.cl", read_bytes(folder / "k.cl"));
  given.header("h.clh", read_bytes(folder / "h.clh"));
  CHECK(given.flatten() == Source::load(folder / "k.cl").flatten());
  CHECK_FALSE(contains(given.flatten(), "\xEF\xBB\xBF"));
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
  // A folder of that name does not win, and a text of the caller is not replaced.
  std::filesystem::remove(folder / "some_kernel.cl");
  std::filesystem::create_directory(folder / "some_kernel.cl");
  CHECK(contains(Source(file).flatten(), "embedded text"));
  CHECK(contains(Source("some_kernel.cl", "mine").flatten(), "mine"));
  const ScopedVariable empty("CLCOOK_KERNEL_DIR", "");
  CHECK(contains(Source(file).flatten(), "embedded text"));
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
