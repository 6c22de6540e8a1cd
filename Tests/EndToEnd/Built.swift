import Foundation
import Glibc

/// The programs under test. They are next to the test bundle, so that each build folder tests its own.
enum Built {
  static let folder: URL = {
    let own = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
    let candidates = [URL(fileURLWithPath: own), URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()]
      .map { $0.deletingLastPathComponent() }
    let fallback = package.appendingPathComponent(".build/debug")
    return candidates.first { FileManager.default.isExecutableFile(atPath: $0.path + "/tureen") } ?? fallback
  }()

  static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  static var tureen: String { folder.path + "/tureen" }
  static var library: String { folder.path + "/libTureenShared.so" }
  static let lua = "/usr/bin/lua5.4"

  /// True in a build with a sanitizer. Its runtime must be loaded at program start, so other programs cannot load the library.
  static let isSanitized = dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil

  /// The path of the sanitizer's runtime, for child processes without it. Set by `scripts/dev/sanitize`.
  static let sanitizerRuntime = ProcessInfo.processInfo.environment["TUREEN_SANITIZER_RUNTIME"]

  /// The environment that loads the runtime into such a child. The runtime leaves the signals to the program and soon gives back
  /// what was freed: the programs of the tests look at both.
  static var sanitizerEnvironment: [String: String] {
    guard let sanitizerRuntime else { return [:] }
    let signals = ["segv", "sigbus", "sigfpe", "sigill", "abort"].map { "handle_\($0)=0" }
    let options = ["detect_leaks=0", "abort_on_error=1", "quarantine_size_mb=1", "thread_local_quarantine_size_kb=64"] + signals
    return ["LD_PRELOAD": sanitizerRuntime, "ASAN_OPTIONS": options.joined(separator: ":")]
  }

  static let loadsInForeignPrograms = !isSanitized || sanitizerRuntime != nil

  /// Whether a program that may load the library is not built by this package: stock Lua, and what a test compiled.
  static func isForeign(_ program: String) -> Bool {
    program == lua || program.hasPrefix(FileManager.default.temporaryDirectory.path + "/")
  }
}

/// A folder for one test with a home, scripts and configuration files. Removed with the last reference.
final class Workplace: Sendable {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.path + "/tureen-end-to-end-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    Workplace.protect(path)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  var home: String { path + "/home" }

  /// Writes a file and returns its path.
  @discardableResult
  func write(_ text: String, to name: String) throws -> String {
    let file = path + "/" + name
    try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    var below = path
    for part in name.split(separator: "/") {
      below += "/" + part
      Workplace.protect(below)
    }
    return file
  }

  /// Makes sure that others cannot write to it, as `tureen` demands, whatever the machine's umask is.
  private static func protect(_ path: String) {
    var info = stat()
    if stat(path, &info) == 0, info.st_mode & 0o022 != 0 { chmod(path, info.st_mode & 0o7755) }
  }

  /// Creates a folder with the library under the name that Lua looks for. Returns the `LUA_CPATH` for it.
  func luaPath() throws -> String {
    let folder = path + "/lib"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let link = folder + "/tureen.so"
    if !FileManager.default.fileExists(atPath: link) {
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: Built.library)
    }
    return folder + "/?.so"
  }

  /// The store files in the home.
  var stores: [String] {
    let names = FileManager.default.enumerator(atPath: home)?.compactMap { $0 as? String } ?? []
    return names.filter { $0.hasSuffix("store.sqlite") }.map { home + "/" + $0 }
  }
}
