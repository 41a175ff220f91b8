// Reads and writes quad meshes as Wavefront OBJ. Std only.
//
//   const clcook::io::QuadMesh mesh =
//       clcook::io::parse_obj("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n");
//   std::ostringstream file;
//   clcook::io::write_obj(file, mesh);
//
// Understood: `v x y z [w]` and `f` with four corners, each INDEX, INDEX/T, INDEX//N or INDEX/T/N;
// an index counts from 1, or backwards from the last vertex so far when it is negative. The reader
// skips everything else of the format: normals, texture coordinates, groups, materials, comments.
// It refuses what would change the surface, such as faces that are not quads. Lines end with LF or
// CRLF; a backslash at its end continues a line, unless it is a comment. A byte order mark of UTF-8
// may come first.
#pragma once

#include <array>
#include <charconv>
#include <clcook/io/format_error.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <istream>
#include <limits>
#include <ostream>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

namespace clcook::io {

struct QuadMesh {
  std::vector<std::array<float, 3>> vertices;
  std::vector<std::array<std::uint32_t, 4>> quads;  // indices into vertices, counter-clockwise
};

namespace detail {

// The next word of a line, and the rest of the line without it.
inline std::string_view obj_word(std::string_view& line) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  std::size_t begin = 0;
  while (begin < line.size() && blank(line[begin])) ++begin;
  std::size_t end = begin;
  while (end < line.size() && !blank(line[end])) ++end;
  const std::string_view word = line.substr(begin, end - begin);
  line.remove_prefix(end);
  return word;
}

// For messages: a word of a file may be anything.
inline std::string obj_quoted(std::string_view word) {
  std::string out = "'";
  for (const char c : word.substr(0, 40)) out += c >= ' ' && c <= '~' ? c : '?';
  return out + (word.size() > 40 ? "...'" : "'");
}

// A statement of a file: its first line without the comment, and the lines that continue it behind
// a backslash. `joined` holds the text if there are several.
inline std::string_view obj_statement(std::string_view& text, std::size_t& lines,
                                      std::string& joined) {
  joined.clear();
  while (true) {
    ++lines;
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const std::size_t comment = line.find('#');
    line = line.substr(0, comment);
    const std::size_t last = line.find_last_not_of(" \t\r");
    const bool goes_on =
        comment == std::string_view::npos && last != std::string_view::npos && line[last] == '\\';
    if (goes_on) line = line.substr(0, last);
    if (joined.empty() && !goes_on) return line;
    joined.append(line).append(" ");
    if (!goes_on || text.empty()) return joined;
  }
}

[[noreturn]] inline void obj_fail(std::size_t line, const std::string& message) {
  throw FormatError("OBJ", "line " + std::to_string(line) + ": " + message);
}

inline float obj_number(std::string_view word, std::size_t line, const char* what) {
  std::string_view digits = word;
  if (!digits.empty() && digits[0] == '+') digits.remove_prefix(1);
  float value = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool whole = result.ptr == digits.data() + digits.size() && !digits.empty() &&
                     (digits[0] != '-' || word[0] != '+');
  if (whole && result.ec == std::errc::result_out_of_range) {
    // Too small to be told from 0, or too large.
    double wide = 0;
    const auto again = std::from_chars(digits.data(), digits.data() + digits.size(), wide);
    if (again.ec == std::errc() && std::abs(wide) < 1) return static_cast<float>(wide);
    obj_fail(line, std::string(what) + " " + obj_quoted(word) + " does not fit a float");
  }
  // By the letters of nan and inf: under -ffast-math the value would not show them.
  const bool finite = digits.find_first_of("nN") == std::string_view::npos;
  if (!whole || result.ec != std::errc() || !finite) {
    obj_fail(line, std::string(what) + " " + obj_quoted(word) + " is no finite number");
  }
  return value;
}

inline std::uint32_t obj_index(std::string_view word, std::size_t vertices, std::size_t line) {
  const std::string_view digits = word.substr(0, word.find('/'));
  std::int64_t value = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (result.ec == std::errc::result_out_of_range) {
    obj_fail(line, "the vertex index " + obj_quoted(word) + " overflows");
  }
  if (result.ec != std::errc() || result.ptr != digits.data() + digits.size()) {
    obj_fail(line, "the face corner " + obj_quoted(word) + " does not begin with a vertex index");
  }
  const auto count = static_cast<std::int64_t>(vertices);
  if (value == 0) obj_fail(line, "the vertex index is 0; indices count from 1");
  if (value > count || value < -count) {
    obj_fail(line, "the vertex index " + std::to_string(value) + " dangles: there are " +
                       std::to_string(vertices) + " vertices so far");
  }
  return static_cast<std::uint32_t>(value > 0 ? value - 1 : count + value);
}

}  // namespace detail

// Reads a mesh from the text of a file. Throws FormatError that names line (the first, of several),
// value and rule: for faces that are not quads or use a vertex twice; indices that are 0, dangle or
// overflow; words that are not numbers; numbers that are not finite or do not fit a float; curves
// and surfaces; a file without vertices or without faces. A face may use only vertices that come
// before it.
inline QuadMesh parse_obj(std::string_view text) {
  QuadMesh mesh;
  if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);
  std::string joined;
  std::size_t lines = 0;
  while (!text.empty()) {
    const std::size_t number = lines + 1;
    std::string_view line = detail::obj_statement(text, lines, joined);
    const std::string_view keyword = detail::obj_word(line);
    if (keyword == "v") {
      std::array<float, 3> vertex{};
      const char* const names[3] = {"x", "y", "z"};
      for (std::size_t i = 0; i < 3; ++i) {
        const std::string_view word = detail::obj_word(line);
        if (word.empty()) {
          detail::obj_fail(number, "the vertex has " + std::to_string(i) + " coordinates, needs 3");
        }
        vertex[i] = detail::obj_number(word, number, names[i]);
      }
      if (mesh.vertices.size() == std::numeric_limits<std::uint32_t>::max()) {
        detail::obj_fail(number, "more than 2^32 - 1 vertices");
      }
      mesh.vertices.push_back(vertex);
    } else if (keyword == "f") {
      std::array<std::uint32_t, 4> quad{};
      std::size_t corners = 0;
      for (std::string_view word = detail::obj_word(line); !word.empty();
           word = detail::obj_word(line)) {
        const std::uint32_t index = detail::obj_index(word, mesh.vertices.size(), number);
        if (corners < 4) quad[corners] = index;
        ++corners;
      }
      if (corners != 4) {
        detail::obj_fail(
            number, "the face has " + std::to_string(corners) + " corners; only quads are taken");
      }
      for (std::size_t a = 0; a < 4; ++a) {
        for (std::size_t b = a + 1; b < 4; ++b) {
          if (quad[a] == quad[b]) {
            detail::obj_fail(number, "the face uses vertex " +
                                         std::to_string(std::uint64_t{quad[a]} + 1) + " twice");
          }
        }
      }
      mesh.quads.push_back(quad);
    } else if (keyword == "curv" || keyword == "curv2" || keyword == "surf" || keyword == "l") {
      detail::obj_fail(number, "the element " + detail::obj_quoted(keyword) +
                                   " is not understood; only quads are taken");
    }
  }
  if (mesh.vertices.empty()) throw FormatError("OBJ", "the file has no vertex");
  if (mesh.quads.empty()) throw FormatError("OBJ", "the file has no face");
  return mesh;
}

// The same from a stream. Throws FormatError as well when the stream cannot be read.
inline QuadMesh read_obj(std::istream& in) {
  std::string text;
  char piece[1 << 16];
  while (in.read(piece, sizeof piece) || in.gcount() > 0) {
    text.append(piece, static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad() || !in.eof()) throw FormatError("OBJ", "the stream cannot be read");
  return parse_obj(text);
}

// Writes a mesh; parse_obj() gives the same one back. The stream's locale, width and flags change
// nothing. Throws FormatError when the stream fails.
inline void write_obj(std::ostream& out, const QuadMesh& mesh) {
  const auto line = [&](char keyword, const auto& numbers) {
    char text[256];  // four numbers of at most 20 characters
    char* end = text;
    *end++ = keyword;
    for (const auto number : numbers) {
      *end++ = ' ';
      end = std::to_chars(end, text + sizeof text, number).ptr;
    }
    *end++ = '\n';
    out.write(text, end - text);
  };
  for (const auto& vertex : mesh.vertices) line('v', vertex);
  for (const auto& quad : mesh.quads) {
    std::array<std::uint64_t, 4> from_one{};
    for (std::size_t i = 0; i < 4; ++i) from_one[i] = std::uint64_t{quad[i]} + 1;
    line('f', from_one);
  }
  if (!out.flush()) throw FormatError("OBJ", "the stream took not all of the mesh");
}

}  // namespace clcook::io
