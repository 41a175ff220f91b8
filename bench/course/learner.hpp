// The file of a learner before anything of it runs.
#pragma once

#include <string>

#include "course/exercise.hpp"

namespace clcook::tool::course {

// Without blanks around it.
std::string trimmed(const std::string& text);

// Why the grader does not take the text, with the line: it includes what is no header of the
// cookbook, defines a name of the grader's, asks which compiler reads it, or prints. Empty: it does
// take it.
std::string refusal(const Exercise& exercise, const std::string& text);

// The lines "// clcook: local = 64 1" and "// clcook: outputs = 1 1" of a text. Throws
// Error(invalid_argument) with the line for anything that is not one to three numbers from 1 on, as
// many as the exercise has dimensions, with at most 1024 work-items.
Geometry geometry_in(const Exercise& exercise, const std::string& file, const std::string& text);

// The exercise that a text says it is of, in its first line; null: it does not say.
const Exercise* exercise_in(const std::string& text);

}  // namespace clcook::tool::course
