// What a learner has done: a small file of theirs.
#pragma once

#include <map>
#include <string>

namespace clcook::tool::course {

// The stars of one exercise: names of proofs that held together, "right clean shape".
struct Done {
  std::string stars;
  bool solved = false;
};

class Progress {
 public:
  // Reads the file. One that is damaged counts as empty; damaged() says so, and the next save() puts
  // it aside as FILE.damaged.
  explicit Progress(std::string path);

  // $XDG_DATA_HOME/clcook/course.json, else $HOME/.local/share/clcook/course.json; empty where neither
  // variable is set.
  static std::string standard_path();

  const Done* find(const std::string& exercise) const;
  bool damaged() const { return damaged_; }

  // Keeps the better of what was there and this, and writes the file whole. Throws Error(io).
  void keep(const std::string& exercise, const Done& done);

 private:
  std::string path_;
  std::map<std::string, Done> done_;
  bool damaged_ = false;
};

}  // namespace clcook::tool::course
