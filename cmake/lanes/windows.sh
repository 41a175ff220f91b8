#!/bin/bash
# windows.sh SOURCE INCLUDE CMAKE WORK: every public header, README's five lines and the single header
# compile for Windows with mingw-w64, and programs link. INCLUDE is the folder of the generated headers.
# Nothing runs. The import library is made of the names in CL/cl.h.
set -eu
source=$1 generated=$2 cmake=$3 work=$4
compiler=x86_64-w64-mingw32-g++-posix
for tool in $compiler x86_64-w64-mingw32-dlltool; do
  command -v "$tool" >/dev/null ||
    { echo "SKIP: $tool is not installed (Debian package g++-mingw-w64-x86-64-posix)"; exit 77; }
done
rm -rf --one-file-system "$work"
mkdir -p "$work/include"
# Not /usr/include, whose other headers are those of this system.
ln -s /usr/include/CL "$work/include/CL"
cd "$work"
{
  echo "LIBRARY OpenCL.dll"
  echo "EXPORTS"
  grep -ohE '\bcl[A-Z][A-Za-z]+\(' include/CL/cl.h | tr -d '(' | sort -u
} >OpenCL.def
x86_64-w64-mingw32-dlltool -d OpenCL.def -l libOpenCL.a

# That each compiles alone is shown elsewhere.
for root in "$source/lib" "$generated"; do
  (cd "$root" && find clcook -name '*.hpp' -printf '#include <%p>\n')
done | sort -u >all.cpp
flags=(-std=c++17 -O0 -Wall -Wextra -Werror -isystem "$work/include")
$compiler "${flags[@]}" -fsyntax-only -I "$source/lib" -I "$generated" all.cpp
echo "$(wc -l <all.cpp) headers"

(cd "$source" && awk -f cmake/lanes/snippets.awk README.md) >five_lines.cpp
$compiler "${flags[@]}" -I "$source/lib" -I "$generated" five_lines.cpp -o five_lines.exe -L . -lOpenCL
"$cmake" "-DROOTS=$source/lib|$generated" -DVERSION=0 "-DLICENSE=$source/LICENSE" -DOUTPUT=clcook.hpp \
  -P "$source/cmake/single_header_script.cmake"
sed 's,<clcook/gaussian_blur.hpp>,"clcook.hpp",; /#include <clcook/d' five_lines.cpp >single.cpp
$compiler "${flags[@]}" single.cpp -o single.exe -L . -lOpenCL
echo "five_lines.exe and single.exe link"
