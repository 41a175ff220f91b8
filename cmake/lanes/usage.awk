# awk -f usage.awk [PAGE] HEADER: the usage block of a header as a page for snippets.awk.
#
# A usage block is what is indented in the comment at the top of a header, up to the next line of
# text, where one of its lines ends with a semicolon. Names that it assumes are those that the first
# C++ snippet of the recipe's page assumes; `runtime` and `uploaded` are always there.
FILENAME ~ /\.md$/ {
  if (/^<!-- snippet:/ && !found) {
    in_setup = !/-->/
    setup = sprintf("#line %d \"%s\"\n", FNR + 1, FILENAME)
  } else if (in_setup && /^-->/) in_setup = 0
  else if (in_setup) setup = setup $0 "\n"
  else if (/^```cpp/) found = 1
  next
}
!/^\/\// { exit }
{
  text = $0
  sub(/^\/\/ ?/, "", text)
  line[FNR] = text
  last = FNR
  if (text ~ /^  / && !done) {
    if (!first) first = FNR
    end = FNR
    if (text ~ /;( *\/\/.*)?$/) code = 1
  } else if (first && text != "") {
    if (code) done = 1
    else first = end = 0
  }
}
END {
  if (!code || first < 3) {
    print FILENAME ": no usage block behind a line of text and an empty line" > "/dev/stderr"
    exit 1
  }
  include = FILENAME
  sub(/^lib\//, "", include)
  printf "<!-- snippet:\n#include <%s>\n%s-->\n```cpp\n#line %d \"%s\"\n", include, found ? setup : "", first, FILENAME
  for (i = first; i <= end; i++) print substr(line[i], 3)
  print "```"
}
