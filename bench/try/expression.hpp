// Whole numbers as a description writes them: "(width + 15) / 16 * GROUP".
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace clcook::tool::described {

// The values of sizes and tune axes.
using Names = std::map<std::string, std::int64_t>;

// The value of an expression of whole numbers, names, + - * / % ( ) and the functions min(a, b),
// max(a, b), ceil_div(a, b), round_up(a, b). A division rounds towards zero. Throws
// Error(invalid_argument) that says what is wrong with the expression, an unknown name, a division
// by zero and a value beyond 64 bits included.
std::int64_t evaluate(const std::string& expression, const Names& names);

// The text with each {expression} replaced by its value; "{{" and "}}" are braces, and ${NAME}
// stays. Throws as evaluate().
std::string fill_in(const std::string& text, const Names& names);

}  // namespace clcook::tool::described
