# conan create packaging/conan: the library as a Conan 2 package, from this checkout.
#
# -o 'clcook/*:opencl=system' takes loader and headers of the machine instead of Conan's packages.
import os
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir

required_conan_version = ">=2.0"


class ClcookConan(ConanFile):
    name = "clcook"
    description = "A cookbook of OpenCL optimisation techniques you can link against"
    license = "MIT"
    topics = ("opencl", "gpu", "kernels")
    package_type = "static-library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"opencl": ["conan", "system"], "fPIC": [True, False]}
    default_options = {"opencl": "conan", "fPIC": True}

    @property
    def _root(self):
        return os.path.join(self.recipe_folder, "..", "..")

    def set_version(self):
        text = load(self, os.path.join(self._root, "CMakeLists.txt"))
        self.version = re.search(r"VERSION (\d+\.\d+\.\d+)\n", text).group(1)

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "cmake/*", "lib/*", "kernels/*",
                        "examples/*", "tests/*.cpp", "tests/planted/*.txt", "docs/*.md"):
            copy(self, pattern, src=self._root, dst=self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def requirements(self):
        if self.options.opencl == "conan":
            self.requires("opencl-icd-loader/[>=2023.02.06]", transitive_headers=True)
            self.requires("opencl-clhpp-headers/[>=2023.02.06]", transitive_headers=True)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for what in ("TESTS", "EXAMPLES", "TOOLS"):
            toolchain.cache_variables[f"CLCOOK_BUILD_{what}"] = False
        if self.options.opencl == "conan":
            # The build only asks whether they are there; consumers get them as requirements.
            headers = self.dependencies["opencl-headers"].cpp_info.includedirs[0]
            clhpp = self.dependencies["opencl-clhpp-headers"].cpp_info.includedirs[0]
            toolchain.cache_variables["OpenCL_INCLUDE_DIR"] = headers
            toolchain.cache_variables["OpenCL_LIBRARY"] = "OpenCL"
            toolchain.cache_variables["CLCOOK_CLHPP_DIR"] = clhpp
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()
        # The generators of Conan write these for each consumer.
        rmdir(self, os.path.join(self.package_folder, "lib", "cmake"))
        rmdir(self, os.path.join(self.package_folder, "lib", "pkgconfig"))

    def package_info(self):
        self.cpp_info.bindirs = []
        # As the package of cmake --install: clcook::clcook is the library, clcook::header_only its headers.
        headers = self.cpp_info.components["header_only"]
        headers.set_property("cmake_target_name", "clcook::header_only")
        headers.set_property("pkg_config_name", "clcook-header-only")
        headers.libdirs = []
        headers.resdirs = ["share"]
        if self.options.opencl == "system":
            headers.system_libs.append("OpenCL")
        else:
            headers.requires = ["opencl-icd-loader::opencl-icd-loader",
                                "opencl-clhpp-headers::opencl-clhpp-headers"]
        if self.settings.os in ("Linux", "FreeBSD"):
            headers.system_libs.append("pthread")
        library = self.cpp_info.components["library"]
        library.set_property("cmake_target_name", "clcook::clcook")
        library.set_property("pkg_config_name", "clcook")
        library.libs = ["clcook"]
        library.defines = ["CLCOOK_COMPILED"]
        library.requires = ["header_only"]
