import Foundation
import Glibc

/// Where the programs under test are: beside the test bundle, so that each build folder tests its own.
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

  /// A sanitizer's runtime has to be in a program from its start: a library built for one then loads in no foreign program.
  static let isSanitized = dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil

  /// The sanitizer's runtime as a library, for children that are not built for it; `scripts/dev/sanitize` says where it is.
  static let sanitizerRuntime = ProcessInfo.processInfo.environment["TUREEN_SANITIZER_RUNTIME"]

  static let loadsInStockLua = !isSanitized || sanitizerRuntime != nil
}

/// A folder for one test: a home, scripts, configuration files. Removed with the last reference.
final class Workplace: Sendable {
  let path: String

  init() throws {
    path = FileManager.default.temporaryDirectory.path + "/tureen-end-to-end-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  var home: String { path + "/home" }

  /// Writes a file and gives its path.
  @discardableResult
  func write(_ text: String, to name: String) throws -> String {
    let file = path + "/" + name
    try Data(text.utf8).write(to: URL(fileURLWithPath: file))
    return file
  }

  /// A folder with the library by the name Lua looks for; the `LUA_CPATH` that finds it.
  func luaPath() throws -> String {
    let folder = path + "/lib"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let link = folder + "/tureen.so"
    if !FileManager.default.fileExists(atPath: link) {
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: Built.library)
    }
    return folder + "/?.so"
  }

  /// The store files under the home.
  var stores: [String] {
    let names = FileManager.default.enumerator(atPath: home)?.compactMap { $0 as? String } ?? []
    return names.filter { $0.hasSuffix("store.sqlite") }.map { home + "/" + $0 }
  }
}
