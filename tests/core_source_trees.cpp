// Random trees of headers: the flattened text against clang's preprocessor on the files themselves.
#include <clcook/core/source.hpp>

#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "support/testing.hpp"

using namespace clcook;
using namespace clcook::testing;

namespace {

namespace fs = std::filesystem;

std::string clang_program() {
  for (const char* path : {"/usr/bin/clang-19", "/usr/bin/clang-15", "/usr/bin/clang"}) {
    if (fs::exists(path)) return path;
  }
  return "";
}

// One tree: a kernel file and headers in folders, whose names repeat. All of them preprocess.
// `said`: the source is told what -D defines, so that includes may depend on it.
class Tree {
 public:
  Tree(unsigned seed, const fs::path& folder, bool said)
      : random_(seed), prefix_(text("T", seed, "_")), said_(said) {
    const std::size_t headers = 1 + below(6);
    for (std::size_t i = 0; i < headers; ++i) {
      // The same few names in several folders.
      const std::string name =
          text(pick({"", "sub/", "sub/deep/", "other/"}), pick({"a", "b", "w"}), ".clh");
      if (guards_.emplace(name, below(5)).second) names_.push_back(name);
    }
    write("k.cl", folder, names_.size());
    for (std::size_t i = 0; i < names_.size(); ++i) write(names_[i], folder, i);
  }

  // The values of -D.
  std::string definitions(Source& source) {
    std::string out;
    for (int i = 0; i < 4; ++i) {
      out += text("#undef M", i, "\n");
      if (below(2) == 0) continue;
      const std::size_t value = below(3);
      out += text("#define M", i, " ", value, "\n");
      if (said_) source.define(text("M", i, "=", value));
    }
    return out;
  }

 private:
  std::size_t below(std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_);
  }
  std::string pick(const std::vector<std::string>& from) { return from[below(from.size())]; }

  void write(const std::string& name, const fs::path& folder, std::size_t number) {
    end_ = below(4) == 0 ? "\r\n" : "\n";
    std::string body;
    const std::size_t parts = number == names_.size() ? 4 + below(6) : 1 + below(6);
    if (number == names_.size()) body += include(name, number) + include(name, number);
    for (std::size_t i = 0; i < parts; ++i) body += part(name, number, 0);
    const std::string guard = prefix_ + "GUARD_" + text(number);
    if (number < names_.size()) {
      const std::string before = below(3) == 0   ? token()
                                 : below(3) == 0 ? "/* #include \"x\"" + end_ + "*/" + end_
                                                 : "";
      if (guards_[name] == 0)
        body = before +
               pick({"#pragma once", "#pragma /* c */ once", "#  pragma on\\" + end_ + "ce",
                     "_Pragma(\"once\")", "_Pragma( \"once\" ) " + prefix_ + "P __LINE__"}) +
               end_ + body;
      if (guards_[name] == 1)
        body = "#ifndef " + guard + end_ + "#define " + guard + end_ + body + "#endif" + end_;
      if (guards_[name] == 2)
        body = before + "#if !defined(" + guard + ") // x" + end_ + "#define " + guard + " 1" +
               end_ + body + "#endif" + end_;
      if (guards_[name] == 3)
        body = "#ifdef " + guard + end_ + before + "#else" + end_ + "#define " + guard + end_ +
               body + "#endif /* " + guard + " */" + end_;
    }
    if (below(3) == 0) body.resize(body.size() - end_.size());  // no line end
    if (below(5) == 0) body += "\\" + end_;
    if (below(6) == 0) body = "\xEF\xBB\xBF" + body;
    write_bytes(folder / name, body);
  }

  std::string token() { return text(prefix_, counter_++, " __LINE__ M", below(4), end_); }

  std::string part(const std::string& from, std::size_t number, int depth) {
    const std::string& e = end_;
    // A #line in a group that may be skipped cannot be followed.
    if (depth == 0 && below(12) == 0)
      return "#line " + text(1 + below(90)) + pick({"", " \"said.cl\""}) + e + token();
    switch (below(depth < 3 ? 13 : 10)) {
      case 0:
      case 1:
        return include(from, number);
      case 3:
        return "// #include \"missing.clh\" \\" + e + "#include \"missing.clh\"" + e + token();
      case 4:
        return "/* #if 0" + e + "#include \"missing.clh\" */ " + token();
      case 5:
        return "\"/*\" '\"' \"\\\"//\" " + token() +
               pick({"'\\'' /* ' */", "1 / 2 //", "a ?\?/" + e + "b", "c \\ " + e + "d"}) + e;
      case 6:
        return "#define M" + text(below(4)) + " " +
               pick({"0", "1", "(M0 + 1)", "2 // c", "\\" + e + "1", "M1"}) + e;
      case 7:
        return "#undef M" + text(below(4)) + e;
      case 8:
        return "#define X" + text(below(3)) + "(a) \\" + e + "  a /* " + e +
               "#include \"missing.clh\"" + e + "*/ #a" + e + token();
      case 9:
        return token();
      case 10:
        return "#if 0" + e + "#include \"missing.clh\"" + e + "#include <clcook/missing.clh>" + e +
               "#else" + e + parts(from, number, depth) + "#endif" + e;
      case 11: {
        std::string out =
            pick({"#if ", "%:if ", "# /* c */ if "}) + condition() + e + parts(from, number, depth);
        for (std::size_t i = below(3); i > 0; --i)
          out += "#elif " + condition() + e + parts(from, number, depth);
        if (below(2) == 0) out += "#else // c" + e + parts(from, number, depth);
        return out + "#endif" + e;
      }
      default:
        return pick({"#ifdef M", "#ifndef M"}) + text(below(4)) + e + parts(from, number, depth) +
               (below(2) == 0 ? "#else" + e + parts(from, number, depth) : "") + "#endif" + e;
    }
  }

  std::string parts(const std::string& from, std::size_t number, int depth) {
    std::string out;
    for (std::size_t i = below(3); i > 0; --i) out += part(from, number, depth + 1);
    return out;
  }

  std::string condition() {
    const std::string m = "M" + text(below(4));
    const std::string n = "M" + text(below(4));
    return pick({"0", "1", m, "!" + m, "defined(" + m + ")", "!defined " + m, m + " == 1",
                 "defined " + m + " && " + n + " > 0", m + " || !defined(" + n + ")",
                 "(" + m + " + 2 * " + n + ") % 3 == 1", m + " ? " + n + " : 1", "-1 > 0u",
                 "(1 << 3 | 1) == 9 && '\\\\' != 'a'", "~0 < " + m, m + " \\" + end_ + " >= " + n,
                 "0x10u - 16 /* c */ || " + m, m + " && 0", "1 || " + m});
  }

  // A header that comes later, or any that has a guard: no endless cycle.
  std::string include(const std::string& from, std::size_t number) {
    std::vector<std::string> to;
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (i < number || (guards_[names_[i]] < 4 && guards_[names_[i]] > 0)) to.push_back(names_[i]);
    }
    if (to.empty()) return token();
    const std::string target = pick(to);
    std::string path =
        ("/" / fs::path(target)).lexically_relative(("/" / fs::path(from)).parent_path()).string();
    if (below(4) == 0) path = "./" + path;
    const std::string quoted = "\"" + path + "\"";
    const std::string& e = end_;
    const std::string x = prefix_ + "NAME" + text(number);
    switch (below(16)) {
      case 5:
      case 6:
      case 7:
      case 8:
        return computed(path, x);
      case 9:
        return "#if __has_include(" + quoted + ") && !__has_include(\"missing//.clh\") // c" + e +
               "#include " + quoted + e + "#else" + e + token() + "#endif" + e;
      case 10:
        return "#undef " + x + e + "#define " + x + "(x) __has_include(x)" + e + "#if 0" + e +
               "#elif !" + x + "(" + quoted + ") || defined __has_include" + e + token() + "#else" +
               e + "#error" + e + "#endif" + e;
      case 0:
        return "/* c */ #include /**/ " + quoted + " // c" + e;
      case 1:
        return "# inc\\" + e + "lude " + quoted + e;
      case 2:
        return "?\?=include" + quoted + " /* c" + e + "c */" + e;
      case 3:
        return "/* one" + e + "two */ %: \\" + e + " include " + quoted + e;
      case 4:
        return "#undef " + x + e + "#define " + x + " " + quoted + e + "#include " + x + e;
      default:
        return "#include " + quoted + e;
    }
  }

  // The same by macros.
  std::string computed(const std::string& path, const std::string& x) {
    const std::string& e = end_;
    const std::string quoted = "\"" + path + "\"";
    const auto define = [&](const std::string& name, const std::string& rest) {
      return "#undef " + x + name + e + "#define " + x + name + rest + e;
    };
    const std::size_t slash = path.rfind('/');
    const std::string file = path.substr(slash == std::string::npos ? 0 : slash + 1);
    const std::string above = path.substr(0, path.size() - file.size());
    const std::string in_quotes = define("S_", "(x) #x") + define("S", "( x )  " + x + "S_(x) ");
    switch (below(said_ ? 10 : 8)) {
      case 0:
        return in_quotes + "#include " + x + "S(" + path + ")" + e;
      case 1:
        return in_quotes +
               define("D", " " + (slash == std::string::npos ? "." : path.substr(0, slash))) +
               define("F", "(q, ...) " + x + "S(q/" + file + ")") + "%: include " + x + "F (" + x +
               "D, (1, 2), 3) // c" + e;
      case 2:
        return define("N", "() " + quoted) + "#include " + x + "N ( )" + e;
      case 3:
        return define("I", "(x) x") + define("J", "(a, b) a##b") + define("JI", "(y) y") +
               "#include " + x + "J(" + x + ", JI)(" + x + "I(" + x + "I(" + quoted + ")))" + e;
      case 4:
        return define("", " " + x) + define("V", "(a, b, ...) b") + "#include " + x + "V(" + x +
               ", " + quoted + ")" + e;
      case 5:
        return define("E", "") + "#include " + x + "E /* c */ " + quoted + " " + x + "E" + e;
      case 6:
        return "#if " + condition() + e + define("C", " " + quoted) + "#else" + e +
               define("C", " " + quoted) + "#endif" + e + "#include " + x + "C" + e;
      case 7:
        return in_quotes + define("P", "(x) " + x + "S(x" + file.substr(1) + ")") + "#include " +
               (above.empty() ? x + "P(" + file.substr(0, 1) + ")" : quoted) + e;
      case 8:
        return "#undef " + x + "C" + e + "#if " + condition() + e + "#define " + x + "C " + quoted +
               e + "#endif" + e + "#ifndef " + x + "C" + e + "#define " + x + "C \"./" + path +
               "\"" + e + "#endif" + e + "#include " + x + "C" + e;
      default:
        return "#ifndef " + x + "DEFAULT" + e + "#define " + x + "DEFAULT " + quoted + e +
               "#endif" + e + "#include " + x + "DEFAULT" + e + "#undef " + x + "DEFAULT" + e;
    }
  }

  std::mt19937 random_;
  std::string prefix_;
  bool said_;
  std::vector<std::string> names_;
  std::map<std::string, std::size_t> guards_;  // which kind; 4: none
  std::string end_;
  int counter_ = 0;
};

// The tokens of each tree, as clang preprocesses the file that includes one after the other.
std::vector<std::string> preprocessed(const std::string& clang, const fs::path& file) {
  const Ran ran =
      run_program({clang, "-E", "-P", "-x", "cl", "-cl-no-stdinc", "-w", file.string()});
  CHECK(ran.code == 0);
  CHECK(ran.err == "");
  std::istringstream in(ran.out);
  std::vector<std::string> out(1);
  for (std::string word; in >> word;) {
    if (word == "NEXT_TREE") out.emplace_back();
    out.back() += word + " ";
  }
  return out;
}

}  // namespace

TEST_CASE("a flattened tree of headers is what clang's preprocessor makes of the files") {
  const std::string clang = clang_program();
  if (clang.empty()) {
    MESSAGE("SKIPPED: clang is not installed");
    return;
  }
  unsigned trees = 150;
  if (const char* wanted = std::getenv("CLCOOK_TEST_RUNS"))
    trees = static_cast<unsigned>(std::stoul(wanted));
  const TempFolder folder;
  std::string files;
  std::string flat;
  for (unsigned seed = 1; seed <= trees; ++seed) {
    CAPTURE(seed);
    const fs::path at = folder / text("tree", seed);
    const bool said = seed % 2 == 0;
    Tree tree(seed, at, said);
    Source source = Source::load((at / "k.cl").string());
    const std::string head = tree.definitions(source) + "NEXT_TREE\n#include ";
    files += head + text("\"tree", seed, "/k.cl\"\n");
    flat += head + text("\"flat/", seed, ".cl\"\n");
    std::string one;
    CHECK_NOTHROW(one = said ? source.self_contained() : source.flatten());
    write_bytes(folder / text("flat/", seed, ".cl"), one);
  }
  write_bytes(folder / "files.cl", files);
  write_bytes(folder / "flat.cl", flat);
  const std::vector<std::string> wanted = preprocessed(clang, folder / "files.cl");
  const std::vector<std::string> got = preprocessed(clang, folder / "flat.cl");
  REQUIRE(wanted.size() == trees + 1);
  REQUIRE(got.size() == trees + 1);
  std::size_t tokens = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    CAPTURE(i);
    CHECK(got[i] == wanted[i]);
    tokens += wanted[i].size();
  }
  CHECK(tokens > 100 * trees);  // the trees say something
}
