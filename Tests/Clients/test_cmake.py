"""The CMake package and the header that scripts/dev/library installs: found, moved, refused by version, and used in C and C++."""

import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from sandbox import ROOT

PROGRAM = """#include <stdio.h>
#include <string.h>
#include <tureen.h>

int main(int count, char **arguments) {
  char options[1024], *error = NULL;
  tureen *t;
  if (count != 2 || strcmp(tureen_version(), TUREEN_VERSION) != 0) return 2;
  snprintf(options, sizeof options, "{\\"home\\": \\"%s\\"}", arguments[1]);
  if (tureen_open(options, &t, &error) != TUREEN_OK) return 3;
  printf("%d calls\\n", (int)tureen_pending(t));
  tureen_free(t);
  return 0;
}
"""

PROJECT = """cmake_minimum_required(VERSION 3.16)
project(kiosk C CXX)
set(CMAKE_C_STANDARD 11)
set(CMAKE_CXX_STANDARD 17)
find_package(tureen 0.2 REQUIRED)
find_package(tureen 0.2 REQUIRED)
foreach(language c cpp)
  add_executable(kiosk_${language} kiosk.${language})
  target_compile_options(kiosk_${language} PRIVATE -Wall -Wextra -Werror)
  target_link_libraries(kiosk_${language} PRIVATE tureen::tureen)
endforeach()
"""

# Prints for each version that is asked for whether it was found.
VERSIONS = """cmake_minimum_required(VERSION 3.19)
project(versions NONE)
foreach(asked "" %s)
  string(REPLACE " " ";" arguments "${asked}")
  unset(tureen_DIR CACHE)
  find_package(tureen ${arguments} QUIET)
  message(STATUS "<${asked}> ${tureen_FOUND}")
endforeach()
"""


def run(command, folder, **options):
    return subprocess.run(
        command, cwd=folder, timeout=900, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options)


def temporary(test):
    folder = tempfile.TemporaryDirectory(prefix="tureen-cmake-")
    test.addCleanup(folder.cleanup)
    return Path(folder.name)


# After project(): only what looks for packages is to ignore the system, where another version may be installed.
ALONE = """set(CMAKE_FIND_USE_CMAKE_SYSTEM_PATH NO)
set(CMAKE_FIND_USE_SYSTEM_ENVIRONMENT_PATH NO)
set(CMAKE_FIND_USE_PACKAGE_REGISTRY NO)
"""


def configure(folder, prefix):
    """Makes the build folder of a project, which finds packages in the prefix alone."""
    shutil.rmtree(folder / "build", ignore_errors=True)
    (folder / "alone.cmake").write_text(ALONE)
    return run([
        "cmake", "-Werror=dev", "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_PROJECT_INCLUDE={folder / 'alone.cmake'}"], folder)


def setUpModule():
    global installed
    place = tempfile.TemporaryDirectory(prefix="tureen-cmake-")
    unittest.addModuleCleanup(place.cleanup)
    installed = Path(place.name, "prefix")
    done = run(["scripts/dev/library", "--configuration", "debug", "--built", ".build/debug", "--prefix", installed], ROOT)
    if done.returncode != 0:
        raise AssertionError(done.stdout)


class PackageTests(unittest.TestCase):
    def setUp(self):
        self.folder = temporary(self)
        for name in ("kiosk.c", "kiosk.cpp"):
            (self.folder / name).write_text(PROGRAM)
        (self.folder / "CMakeLists.txt").write_text(PROJECT)

    def check_builds_and_runs(self, prefix):
        done = configure(self.folder, prefix)
        self.assertEqual(done.returncode, 0, done.stdout)
        done = run(["cmake", "--build", "build"], self.folder)
        self.assertEqual(done.returncode, 0, done.stdout)
        for language in ("c", "cpp"):
            program = self.folder / f"build/kiosk_{language}"
            done = run([program, self.folder / "home"], self.folder, env={})
            self.assertEqual((done.returncode, done.stdout), (0, "0 calls\n"))
            # By its name, so that the program runs where the library is installed elsewhere.
            self.assertIn("[libtureen.so.0]", run(["readelf", "-d", program], self.folder).stdout)

    def moved(self):
        """A copy of the prefix at another place."""
        copy = self.folder / "moved to/usr"
        shutil.copytree(installed, copy, symlinks=True, copy_function=lambda source, target: Path(target).hardlink_to(source))
        return copy

    def test_installed_prefix_builds_c_and_cpp(self):
        self.check_builds_and_runs(installed)

    def test_moved_prefix_builds(self):
        self.check_builds_and_runs(self.moved())

    def test_prefix_found_through_a_link_to_its_lib_builds(self):
        root = self.moved().parent
        (root / "lib").symlink_to("usr/lib")
        self.check_builds_and_runs(root)

    def test_missing_file_is_named(self):
        for name in ("lib/libtureen.so", "include/tureen.h"):
            copy = self.moved()
            (copy / name).unlink()
            done = configure(self.folder, copy)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(f"{copy / name} does not exist; install Tureen again", " ".join(done.stdout.split()))
            shutil.rmtree(copy)

    def test_nothing_is_found_elsewhere(self):
        self.assertNotEqual(configure(self.folder, self.folder).returncode, 0)

    def test_example_of_the_guide_builds(self):
        page = (ROOT / "bridge-spec/guide/embedding.md").read_text()
        for name, language in (("CMakeLists.txt", "cmake"), ("kiosk.c", "c")):
            (self.folder / name).write_text(re.search(rf"^```{language}\n(.*?)^```$", page, re.S | re.M)[1])
        self.assertEqual(configure(self.folder, installed).returncode, 0)
        done = run(["cmake", "--build", "build"], self.folder)
        self.assertEqual(done.returncode, 0, done.stdout)


class VersionTests(unittest.TestCase):
    def library(self, version, *link_options):
        """A prefix with a library of that version, and the package for it."""
        prefix = temporary(self) / "prefix"
        (prefix / "lib").mkdir(parents=True)
        (prefix / "include").mkdir()
        header = (ROOT / "Sources/CTureenModule/include/tureen.h").read_text()
        header = re.sub(r'(TUREEN_VERSION) ".*"', rf'\1 "{version}"', header)
        (prefix / "include/tureen.h").write_text(header)
        (prefix / "library.c").write_text(
            '#include "include/tureen.h"\nconst char *tureen_version(void) { return TUREEN_VERSION; }\n')
        done = run(["gcc", "-shared", "-fPIC", "library.c", "-o", "lib/libtureen.so", *link_options], prefix)
        self.assertEqual(done.returncode, 0, done.stdout)
        done = run([ROOT / "scripts/dev/library-files/cmake-package", prefix], prefix)
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        return prefix

    def check(self, version, **asked):
        prefix, folder = self.library(version), temporary(self)
        versions = {text: True for text in asked["found"]} | {text: False for text in asked["refused"]}
        (folder / "CMakeLists.txt").write_text(VERSIONS % " ".join(f'"{text}"' for text in versions))
        done = configure(folder, prefix)
        self.assertEqual(done.returncode, 0, done.stdout)
        found = {text: value in ("1", "TRUE") for text, value in re.findall(r"^-- <(.*)> (.*)$", done.stdout, re.M)}
        self.assertEqual(found, {"": True, **versions})

    def test_zero_major_takes_the_same_minor(self):
        self.check(
            "0.3.1", found=["0.3", "0.3.0", "0.3.1", "0.3.1 EXACT", "0.3...0.4", "0.1...<1", "0.3.1...0.3.1"],
            refused=["0.2", "0.2.9", "0.3.2", "0.4", "1", "0", "0.3.0 EXACT", "0.1...<0.3.1", "0.4...1"])

    def test_other_majors_take_older_minors(self):
        self.check(
            "2.3.1", found=["2", "2.0", "2.3", "2.3.1", "2.3.1 EXACT", "2.1...3", "1...<3"],
            refused=["1", "1.9", "0.3.1", "2.3.2", "2.4", "3", "2.3 EXACT", "3...4", "1...2"])

    def test_soname_becomes_the_target_s(self):
        prefix, folder = self.library("0.2.7", "-Wl,-soname,libtureen.so.0"), temporary(self)
        (prefix / "lib/libtureen.so.0").symlink_to("libtureen.so")
        (folder / "kiosk.c").write_text(
            "#include <stdio.h>\n#include <tureen.h>\nint main(void) { return puts(tureen_version()) < 0; }\n")
        (folder / "CMakeLists.txt").write_text(PROJECT.replace("foreach(language c cpp)", "foreach(language c)"))
        self.assertEqual(configure(folder, prefix).returncode, 0)
        self.assertEqual(run(["cmake", "--build", "build"], folder).returncode, 0)
        self.assertIn("[libtureen.so.0]", run(["readelf", "-d", "build/kiosk_c"], folder).stdout)
        self.assertEqual(run([folder / "build/kiosk_c"], folder).stdout, "0.2.7\n")


class HeaderTests(unittest.TestCase):
    """tureen.h without anything before it."""

    def check(self, compiler, standard, language):
        flags = ["-pedantic", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-include", installed / "include/tureen.h"]
        done = run([compiler, f"-std={standard}", *flags, "-x", language, "/dev/null"], ROOT)
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    def test_header_alone_is_c(self):
        for standard in ("c11", "c17"):
            self.check("gcc", standard, "c")

    def test_header_alone_is_cpp(self):
        for standard in ("c++11", "c++17", "c++20"):
            self.check("g++", standard, "c++")


class UsageTests(unittest.TestCase):
    def test_library_script_refuses_a_folder_without_a_library(self):
        folder = temporary(self)
        done = run(["scripts/dev/library", "--built", folder, "--prefix", folder / "prefix"], ROOT)
        self.assertEqual((done.returncode, done.stdout), (1, f"library: there is no {folder}/libTureenShared.so\n"))
        self.assertFalse((folder / "prefix").exists())

    def test_cmake_package_without_a_prefix_says_its_usage(self):
        done = run(["scripts/dev/library-files/cmake-package"], ROOT)
        self.assertEqual(done.returncode, 64)
        self.assertIn("usage: scripts/dev/library-files/cmake-package PREFIX", done.stdout)


if __name__ == "__main__":
    unittest.main()
