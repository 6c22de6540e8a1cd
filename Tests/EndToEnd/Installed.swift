import Foundation
import Testing

/// The build, installed by `scripts/dev/install` once for all tests and removed when the process ends.
actor Installed {
  /// The installation prefix.
  nonisolated let path: String
  private let place: Workplace

  private static let installing = Task { try await Installed() }

  static func shared() async throws -> Installed { try await installing.value }

  private init() async throws {
    place = try Workplace()
    path = place.path + "/prefix"
    Installed.removeAtExit(place.path)
    try await Installed.install(place, ["--prefix", path])
  }

  /// Runs the script. - Throws: Its output if it fails.
  @discardableResult
  static func install(
    _ place: Workplace, _ options: [String], environment: [String: String] = [:]
  ) async throws -> Child.Ended {
    let ended = try await place.run(
      Built.package.path + "/scripts/dev/install", options + ["--built", Built.folder.path], environment: environment)
    guard ended.status == 0 else { throw Failure(description: ended.errors) }
    return ended
  }

  /// Compiles a program of `Tests/EndToEnd/Programs` against the installed library, with the flags that pkg-config gives.
  /// - Returns: Its path.
  static func compile(_ name: String, _ place: Workplace, flags: String = "") async throws -> String {
    let installed = try await shared()
    let program = place.path + "/" + name
    let source = Built.package.path + "/Tests/EndToEnd/Programs/\(name).c"
    // The runtime of a sanitizer, whose symbols the library needs, is loaded when the program starts.
    let linking = Built.isSanitized ? "-Wl,--allow-shlib-undefined" : ""
    let ended = try await place.run(
      "/bin/sh",
      [
        "-c",
        """
        cc -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Wpedantic -Werror -pthread -o '\(program)' '\(source)' \
        $(pkg-config --cflags --libs tureen \(flags)) \(linking) -Wl,-rpath,"$(pkg-config --variable=libdir tureen)"
        """,
      ], environment: ["PKG_CONFIG_PATH": installed.path + "/lib/pkgconfig"])
    #expect(ended.status == 0 && ended.errors == "", "\(ended.errors)")
    return program
  }

  struct Failure: Error, CustomStringConvertible { let description: String }

  private nonisolated(unsafe) static var folders: [String] = []  // written before the process ends, read at its end

  private static func removeAtExit(_ folder: String) {
    folders.append(folder)
    atexit { for folder in Installed.folders { try? FileManager.default.removeItem(atPath: folder) } }
  }
}
