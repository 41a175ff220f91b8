#!/bin/bash
# package.sh CMAKE KIND SOURCE BUILD WORK: installs or packs clcook in one way, into an empty folder,
# and compiles and runs README's five lines against that. Nothing of the machine is changed.
#   minimal        cmake --install with nothing but the loader and CLHPP, headers alone; find_package
#   pkg_config     the same with another CMAKE_INSTALL_INCLUDEDIR and the prefix moved; pkg-config too
#   deb            the .deb, installed by dpkg with a database of its own, and removed again
#   tool           the clcook command: cmake --install of BUILD, and its .deb
#   single_header  the single header and its SHA-256; two builds give the same bytes
#   conan          conan create, with Conan's own test of the package
#   typed          the commands of docs/install.md as they stand, below an empty root; what needs the
#                  network or the machine's packages is named and left out
#   cxx14          every header says that it needs C++17, and nothing else
set -eu
cmake=$1 kind=$2 source=$3 build=$4 work=$5
rm -rf --one-file-system "$work"
mkdir -p "$work"
cd "$work"
fail() {
  echo "FAILED: $*"
  exit 1
}
need() {
  command -v "$1" >/dev/null || { echo "SKIP: $1 is not installed ($2)"; exit 77; }
}
version=$(sed -n 's/^ *VERSION \([0-9.]*\)$/\1/p' "$source/CMakeLists.txt")
# vcpkg reads nothing but its own file, and readers the newest entry of the changes.
port=$(sed -n 's/^ *"version": "\(.*\)",$/\1/p' "$source/packaging/vcpkg/clcook/vcpkg.json")
[ "$port" = "$version" ] || fail "packaging/vcpkg/clcook/vcpkg.json has version '$port', CMakeLists.txt $version"
changes=$(sed -n 's/^## \([^ ,]*\).*/\1/p' "$source/CHANGELOG.md" | head -n 1)
[ "$changes" = "$version" ] || fail "the newest entry of CHANGELOG.md is '$changes', CMakeLists.txt has $version"
(cd "$source" && awk -f cmake/lanes/snippets.awk README.md) >five_lines.cpp
flags=(-std=c++17 -O0 -Wall -Wextra -Werror)

# configure BUILD OPTION...: a library only, on a machine that has the loader and CLHPP.
configure() {
  local folder=$1 package absent=()
  shift
  for package in fmt nlohmann_json CLI11 doctest ZLIB PNG benchmark; do
    absent+=("-DCMAKE_DISABLE_FIND_PACKAGE_$package=TRUE")
  done
  "$cmake" -S "$source" -B "$folder" -G Ninja -DCLCOOK_BUILD_TESTS=OFF -DCLCOOK_BUILD_TOOLS=OFF \
    -DCLCOOK_BUILD_EXAMPLES=OFF -DCMAKE_UNITY_BUILD=ON -DCMAKE_CXX_FLAGS_RELEASE=-O0 "${absent[@]}" "$@" >"$folder.log" || { cat "$folder.log"; exit 1; }
}
# use_find_package PREFIX [BUILD_TYPE]: the project of docs/install.md, which knows the prefix and nothing else.
use_find_package() {
  mkdir -p project
  awk '/^```$/ { shown = 0 } shown; /^```cmake$/ { shown = 1 }' "$source/docs/install.md" >project/CMakeLists.txt
  cp five_lines.cpp project/main.cpp
  "$cmake" -S project -B project/build -G Ninja "-DCMAKE_PREFIX_PATH=$1" "-DCMAKE_BUILD_TYPE=${2:-None}" \
    -DCMAKE_FIND_USE_PACKAGE_REGISTRY=OFF "-DCMAKE_CXX_FLAGS=-O0 -Wall -Wextra -Werror" >project.log ||
    { cat project.log; exit 1; }
  grep -q "$1" project/build/CMakeCache.txt || fail "another clcook than that of $1 was found"
  "$cmake" --build project/build
  project/build/hello
}
# use_pkg_config FOLDER: the folder of clcook.pc and clcook-header-only.pc.
use_pkg_config() {
  local given package
  need pkg-config "pkgconf"
  export PKG_CONFIG_PATH=$1
  for package in clcook clcook-header-only; do
    [ "$(pkg-config --modversion $package)" = "$version" ] || fail "$package.pc is not of version $version"
    read -r -a given <<<"$(pkg-config --cflags --libs $package)"
    echo "+ pkg-config $package: ${given[*]}"
    g++ "${flags[@]}" five_lines.cpp "${given[@]}" -o with_pkg_config
    ./with_pkg_config
    [ -f "$(pkg-config --variable=kerneldir $package)/clcook/halo.clh" ] || fail "kerneldir has no kernels"
  done
}
# nothing_points_back FOLDER: nothing that is installed names where it was built.
nothing_points_back() {
  if grep -rlF -e "$source" -e "$build" -e "$work/build" "$1"; then
    fail "installed files name the source or build folder"
  fi
}
# typed FOLDER COMMAND: as somebody types it there.
typed() {
  case $2 in
    apt-get\ * | conan\ * | pip\ * | vcpkg\ *) echo "SKIP: $2 (the network, or the machine's packages)" ;;
    *)
      echo "+ $2"
      (cd "$1" && eval "$2") >typed.log 2>&1 || { tail -n 30 typed.log; fail "docs/install.md: $2"; }
      ;;
  esac
}
# dpkg_in ROOT ARGUMENT...: dpkg with a database of its own below ROOT.
dpkg_in() {
  local root=$1 as_root=()
  shift
  mkdir -p "$root/var/lib/dpkg/info" "$root/var/lib/dpkg/updates"
  touch "$root/var/lib/dpkg/status" "$root/var/lib/dpkg/available"
  [ "$(id -u)" -eq 0 ] || { need fakeroot fakeroot; as_root=(fakeroot); }
  "${as_root[@]}" dpkg --root="$root" --force-depends --force-script-chrootless --log=/dev/null "$@"
}

case $kind in
  minimal)
    configure build -DCLCOOK_BUILD_COMPILED=OFF
    if "$cmake" --install build --prefix "$work/unbuilt" >unbuilt.log 2>&1; then
      fail "installing before building passes and leaves headers out"
    fi
    "$cmake" --build build
    "$cmake" --install build --prefix "$work/prefix" >install.log
    [ -z "$(find prefix -name '*.a')" ] || fail "CLCOOK_BUILD_COMPILED=OFF installs a library"
    nothing_points_back prefix
    use_find_package "$work/prefix"
    ;;
  pkg_config)
    configure build -DCMAKE_INSTALL_INCLUDEDIR=include/clcook-of-mine
    "$cmake" --build build
    "$cmake" --install build --prefix "$work/first" >install.log
    [ "$(ls first/include)" = clcook-of-mine ] || fail "headers lie outside of CMAKE_INSTALL_INCLUDEDIR"
    mv first moved
    use_find_package "$work/moved"
    use_pkg_config "$work/moved/lib/pkgconfig"
    ;;
  deb)
    need dpkg "no Debian"
    configure build
    "$cmake" --build build
    (cd build && "${cmake%cmake}cpack" -G DEB -B "$work/packages" >"$work/cpack.log") ||
      { cat cpack.log; exit 1; }
    arch=$(dpkg --print-architecture)
    package=packages/libclcook-dev_${version}_$arch.deb
    dpkg-deb -f "$package" Depends | grep -q 'opencl-clhpp-headers' || fail "the .deb needs no CLHPP"
    dpkg_in "$work/root" -i "$package"
    use_pkg_config "$(dirname "$(find "$work/root/usr" -name clcook.pc)")"
    dpkg_in "$work/root" -r libclcook-dev
    [ ! -e root/usr ] || fail "dpkg -r leaves files: $(find root/usr)"
    ;;
  tool)
    "$cmake" --install "$build" --strip --component tool --prefix "$work/prefix" >install.log
    nothing_points_back prefix
    need dpkg-shlibdeps dpkg-dev
    (cd "$build" && "${cmake%cmake}cpack" -G DEB -B "$work/packages" -D CPACK_COMPONENTS_ALL=tool \
      >"$work/cpack.log") || { cat cpack.log; exit 1; }
    dpkg-deb -f packages/*.deb Depends | grep -q 'libc6' || fail "the .deb of clcook lacks libc6"
    dpkg_in "$work/root" -i packages/*.deb
    for clcook in prefix/bin/clcook root/usr/bin/clcook; do
      "$clcook" list halo_tile >list.txt
      grep -q '^halo_tile' list.txt
      "$clcook" flatten "$source/kernels/halo_tile.cl" >flat.cl
      grep -q 'clcook_' flat.cl
    done
    ;;
  single_header)
    for one in build another/build; do
      mkdir -p "$one"
      configure "$one"
      "$cmake" --build "$one" --target single_header
    done
    cmp build/single_header/clcook.hpp another/build/single_header/clcook.hpp ||
      fail "two builds give different single headers"
    cp build/single_header/clcook.hpp* .
    sha256sum -c clcook.hpp.sha256
    sed -i 's,<clcook/gaussian_blur.hpp>,"clcook.hpp",; /#include <clcook/d' five_lines.cpp
    g++ "${flags[@]}" five_lines.cpp -lOpenCL -pthread -o five_lines
    ./five_lines
    ;;
  conan)
    if ! command -v conan >/dev/null; then
      python=$build/conan-python  # kept: a few seconds the next time
      [ -x "$python/bin/conan" ] ||
        { python3 -m venv "$python" && "$python/bin/pip" install -q 'conan>=2,<3'; } >pip.log 2>&1 ||
        { tail -n 3 pip.log; echo "SKIP: Conan cannot be had from PyPI (see above)"; exit 77; }
      PATH=$python/bin:$PATH
    fi
    export CONAN_HOME=$work/home
    # In a copy: Conan builds its test beside the recipe.
    mkdir tree
    (cd "$source" && tar -cf - --exclude=./.git --exclude='./build*' --exclude=./out .) | tar -xf - -C tree
    conan profile detect >profile.log 2>&1 || { cat profile.log; exit 1; }
    conan create tree/packaging/conan --no-remote -o 'clcook/*:opencl=system' -s compiler.cppstd=17 -s build_type=Debug \
      --build=missing >conan.log 2>&1 || { cat conan.log; exit 1; }
    grep -q 'blurred on' conan.log || { cat conan.log; fail "conan did not run the test of the package"; }
    conan install --no-remote --requires="clcook/$version" -o 'clcook/*:opencl=system' -s compiler.cppstd=17 -s build_type=Debug \
      -g CMakeDeps --output-folder=deps >install.log 2>&1 || { cat install.log; exit 1; }
    use_find_package "$work/deps" Debug
    ;;
  typed)
    need pkg-config pkgconf
    need dpkg "no Debian"
    mkdir tree project root
    (cd "$source" && tar -cf - --exclude=./.git --exclude='./build*' --exclude=./out .) | tar -xf - -C tree
    page=$source/docs/install.md
    # /usr/local is below that root. Without optimisation: this shows that it builds.
    export DESTDIR=$work/root CMAKE_BUILD_TYPE=None CXXFLAGS=-O0 CMAKE_BUILD_PARALLEL_LEVEL=2
    export CMAKE_PREFIX_PATH=$work/root/usr/local PKG_CONFIG_PATH=$work/root/usr/local/lib/pkgconfig
    # The first block of commands is typed in the tree, the second one in the project of the page.
    awk '/^```$/ { shown = 0 } shown; /^```cmake$/ { shown = 1 }' "$page" >project/CMakeLists.txt
    cp five_lines.cpp project/main.cpp
    awk '/^```/ { inside = !inside; block += inside && /^```$/; plain = /^```$/; next }
      inside && plain { print block " " $0 }' "$page" >commands.txt
    [ "$(cut -d ' ' -f 1 commands.txt | sort -u | tr '\n' ' ')" = "1 2 " ] ||
      fail "docs/install.md has other than two blocks of commands"
    while read -r block command; do
      folder=tree
      [ "$block" = 1 ] || folder=project
      typed $folder "$command" </dev/null
    done <commands.txt
    grep -q ': ' typed.log || fail "the program of docs/install.md says nothing"
    # Then those of the table of ways. cpack is typed in the build folder.
    awk -F '`' '/^\| way / { table = 1 } /^$/ { table = 0 }
      table { for (i = 2; i <= NF; i += 2) if ($i ~ /^(g\+\+|cmake|cpack|conan|vcpkg|pip|apt-get) /) print $i }' \
      "$page" >ways.txt
    while read -r command; do
      case $command in
        g++*) folder=project ;;
        cpack*) folder=tree/build ;;
        *) folder=tree ;;
      esac
      typed $folder "$command" </dev/null
    done <ways.txt
    project/a.out >/dev/null
    for made in project/a.out tree/build/libclcook-dev_*.deb tree/build/single_header/clcook.hpp.sha256; do
      [ -f "$made" ] || fail "the commands of docs/install.md made no $made"
    done
    ;;
  cxx14)
    for root in "$source/lib" "$build/generated"; do
      (cd "$root" && find clcook -maxdepth 1 -name '*.hpp' ! -name version.hpp)
    done | sort -u >headers.txt
    find "$source/lib/clcook/io" -name '*.hpp' -printf 'clcook/io/%f\n' >>headers.txt
    while read -r header; do
      echo "#include <$header>" | g++ -x c++ -std=c++14 -fsyntax-only -fmax-errors=1 -I "$source/lib" \
        -I "$build/generated" - 2>errors.txt && fail "<$header> compiles as C++14"
      grep -m 1 ': error:' errors.txt | grep -q 'C++17' || { cat errors.txt; fail "<$header> as C++14"; }
    done <headers.txt
    echo "$(wc -l <headers.txt) headers ask for C++17"
    ;;
  *) fail "unknown kind $kind" ;;
esac
# vcpkg itself and conda are not run here.
grep -q "version: \"$version\"" "$source/packaging/conda/recipe.yaml" || fail "packaging/conda is not of version $version"
grep -q "\"version\": \"$version\"" "$source/packaging/vcpkg/clcook/vcpkg.json" ||
  fail "packaging/vcpkg is not of version $version"
rm -rf --one-file-system "$work"
