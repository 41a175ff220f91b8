# doxygen.awk: a header with its comments in the form that Doxygen reads. Ours are plain // before a declaration or
# behind it, and what is indented in them is code or a table.
NR == 1 { print "/// @file" }
/^(}|#e)|\/\/ -----|NOLINT/ { print; next }
/^ *\/\/   / && !list {
  if (!code) print "///"  # Markdown needs an empty line before it
  sub(/\/\//, "///    ")
  code = 1
  print
  next
}
!/^ *\/\/$/ { code = 0 }
/^ *\/\/( |$)/ {
  if (!/^ *\/\/   /) list = /^ *\/\/ ([-*]|[0-9]+\.) /
  if (!/`/) gsub(/[<#\\@]/, "\\\\&")  # nothing but words
  match($0, /^ */)
  sub(/\/\//, RLENGTH > 16 ? "///<" : "///")  # deep: goes on behind a declaration
  print
  next
}
match($0, / \/\/ /) { $0 = substr($0, 1, RSTART) "///< " substr($0, RSTART + 4) }
{ list = 0; print }
