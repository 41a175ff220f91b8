# awk -v page=P -v edges=FILE -f layers.awk PAGE FILES INCLUDES: holds each line of INCLUDES
# (FILE:LINE:#include ...) against the tables of the page, writes who may include whom to `edges`.
function trim(s) { gsub(/^[ `]+|[ `]+$/, "", s); return s }
function fail(where, what) { print "FAILED: " where ": " what; failed = 1 }

# The room of a path: that with the longest pattern. A pattern ends with / (all below), or has a * for
# a name, or is a path.
function room_of(path,    i, p, star, head, rest, best, out) {
  best = -1
  for (i = 1; i <= patterns; i++) {
    p = pattern[i]
    star = index(p, "*")
    if (p ~ /\/$/) {
      if (index(path, p) != 1) continue
    } else if (star) {
      head = substr(p, 1, star - 1)
      rest = substr(p, star + 1)
      if (index(path, head) != 1 || substr(path, length(path) - length(rest) + 1) != rest) continue
      if (index(substr(path, star), "/")) continue
    } else if (path != p) continue
    if (length(p) > best) { best = length(p); out = room[i] }
  }
  return out
}

# What an #include means: a path of ours, or "" and `word` for what is not ours.
function resolve(name, quoted, from,    folder, i) {
  word = ""
  if (name ~ /^clcook\//) return (name ~ /\.clh$/ ? "kernels/" : "lib/") name
  if (quoted) {
    folder = from
    sub(/[^\/]*$/, "", folder)
    path = folder name
    while (sub(/[^\/]+\/\.\.\//, "", path)) {}
    if (path in exists) return path
  }
  for (i = 1; i <= roots; i++) if ((root[i] name) in exists) return root[i] name
  if (room_of(name) != "") return name
  if (name !~ /[.\/]/) word = "std"
  else if (name ~ /^(sys\/.*|unistd|fcntl|dirent|spawn|stdlib|string|emmintrin)(\.h)?$/) word = "system"
  else if (name ~ /^CL\//) word = "CL"
  else word = "libraries"
  return ""
}

# Whether a room may include one that is named below another, such as bench/isa.
function is_below(own, whom,    above) {
  above = whom
  return sub(/\/.*/, "", above) && (above == own || (own, above) in may)
}

BEGIN { roots = split("lib/ bench/ examples/ tests/ kernels/ ", root, " "); root[++roots] = "" }

# The tables of the page.
FNR == NR {
  if ($0 !~ /^\|/) { table = ""; next }
  split($0, cell, "|")
  for (i in cell) cell[i] = trim(cell[i])
  if (cell[2] == "room" && cell[3] == "files") { table = "rooms"; next }
  if (cell[2] ~ /^known exception: from$/) { table = "exceptions"; next }
  if (cell[2] ~ /^-+$/) next
  if (table == "rooms") {
    if (cell[2] in row) fail(page ":" FNR, "the room " cell[2] " is there twice")
    row[cell[2]] = FNR
    n = split(cell[3], part, ",")
    for (i = 1; i <= n; i++) { pattern[++patterns] = trim(part[i]); room[patterns] = cell[2] }
    n = split(cell[4], part, ",")
    for (i = 1; i <= n; i++) if (trim(part[i]) != "") may[cell[2], trim(part[i])] = FNR
    list[cell[2]] = cell[4]
  } else if (table == "exceptions") {
    exception[cell[2], cell[3]] = FNR
    unused[cell[2] " -> " cell[3]] = FNR
  }
  next
}
FILENAME ~ /\/files$/ {
  exists[$0]
  if ((one = room_of($0)) == "") fail($0, "belongs to no room of " page)
  else seen[one]
  next
}
{
  at = index($0, ":")
  from = substr($0, 1, at - 1)
  rest = substr($0, at + 1)
  at = index(rest, ":")
  line = substr(rest, 1, at - 1)
  match(rest, /[<"]/)
  quoted = substr(rest, RSTART, 1) == "\""
  name = substr(rest, RSTART + 1)
  if (!match(name, quoted ? "\"" : ">")) next  # text of a test
  name = substr(name, 1, RSTART - 1)
  if (name ~ /\.clh$/ && from !~ /\.clh?$/) next  # text of a kernel
  count++
  own = room_of(from)
  path = resolve(name, quoted, from)
  whom = path == "" ? word : room_of(path)
  if (whom == "") { fail(from ":" line, name ": belongs to no room of " page); next }
  seen[whom]
  if (whom == own || (own, whom) in may || is_below(own, whom)) next
  if ((own, whom) in exception) { delete unused[own " -> " whom]; next }
  fail(from ":" line, own " may not include " whom " (" name "), only " (list[own] == "" ? "itself" : list[own]))
}
END {
  printf "" >edges
  for (key in may) {
    split(key, part, SUBSEP)
    if (part[2] in row) { a = part[1]; b = part[2]; gsub(/ /, "_", a); gsub(/ /, "_", b); print a, b >edges }
    else if (part[2] !~ /^(std|system|CL|libraries)$/) fail(page ":" may[key], "there is no room " part[2])
  }
  for (one in row) {
    above = one
    if (sub(/\/.*/, "", above)) { gsub(/ /, "_", one); print above, one >edges }
  }
  for (one in row) if (!(one in seen)) fail(page ":" row[one], "no file lies in the room " one)
  for (one in unused) fail(page ":" unused[one], "the exception " one " does not occur any more: delete it")
  if (!count || !patterns) fail(page, "no table, or no includes")
  if (!failed) print count " includes keep to the table"
  exit failed
}
