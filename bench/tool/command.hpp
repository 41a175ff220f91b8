// What the subcommands of `clcook` share.
#pragma once

#include <CLI/CLI.hpp>
#include <clcook/core/params.hpp>
#include <clcook/core/runtime.hpp>
#include <clcook/io/whole_file.hpp>
#include <clcook/registry/recipe.hpp>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "results.hpp"

namespace clcook::tool {

// A subcommand. The file of each makes one, as `const Command add_list(1, ...)`: there is no list.
class Command {
 public:
  // `add` adds it. Its callback sets the exit code: 0 success, 1 a check failed, 2 an error.
  using Add = void (*)(CLI::App& app, int& exit_code);

  // `place` is its place in the help text.
  Command(int place, Add add);
};

// All of them, in the order of the help text.
void add_commands(CLI::App& app, int& exit_code);

// The clcook command: what main() does. Returns the exit code.
int run_command(int argc, const char* const* argv);

// All recipes, built once, and the descriptions that were added.
const std::vector<Recipe>& recipes();

// Where recipes come from beside the cookbook: descriptions, files whose names have this extension.
struct RecipeSource {
  std::string extension;
  // Throws Error.
  std::function<Recipe(const std::string& file)> read;
  // Throws Error(invalid_argument) where a recipe of such a file does not fit its kernels.
  std::function<void(const Runtime& runtime, const std::string& recipe)> inspect;
};
// There is one, that of `clcook try`.
void set_recipe_source(RecipeSource source);

// Whether a name is that of a description, FILE.toml.
bool is_description(const std::string& name);
// Whether a recipe is that of a description.
bool is_described(const std::string& recipe);
// Reads a description, adds its recipe to recipes() and returns that recipe's name. A file that was
// read before is not read again. Invalidates what was taken from recipes(). Throws Error as
// reading it does, and where the name is taken.
std::string add_description(const std::string& file);
// Puts the recipe's name in the place of each description. Returns whether there was any.
bool add_descriptions(std::vector<std::string>& names);
// The same, and runs `command`, in a child process where there was any: see in_child().
int with_descriptions(std::vector<std::string>& names, const std::function<int()>& command);
int with_descriptions(std::string& name, const std::function<int()>& command);
// Throws Error(invalid_argument) where a description among these does not fit its kernels. Enqueues
// nothing.
void inspect_descriptions(const std::vector<std::string>& names, const Runtime& runtime);

// Everything that a result must carry to be compared later: names and versions of device, driver
// and platform.
Json to_json(const DeviceInfo& info);
// {"format", "kind", "commit", "date", "command", "device"}: the head of a result file, with the command
// line that made it.
Json result_head(const std::string& kind, const DeviceInfo& info);

// A result as JSON text with one line per element of its lists, so that files stay small and
// differences readable.
std::string dump_result(const Json& result);

using io::write_file;

// Prints to standard output, or writes a file when `path` is not empty.
void deliver(const std::string& path, const std::string& content);

}  // namespace clcook::tool
