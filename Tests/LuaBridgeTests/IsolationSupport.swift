import Foundation
import Glibc
import LuaBridge
import TestSupport
import Testing

/// What isolated scripts are tested with.
enum Isolation {
  /// The worker that was built beside the test bundle.
  static let worker: String = {
    let own = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
    return [own, "/proc/self/exe"].map {
      URL(fileURLWithPath: $0).resolvingSymlinksInPath().deletingLastPathComponent().path + "/tureen-worker"
    }.first { FileManager.default.isExecutableFile(atPath: $0) } ?? "tureen-worker"
  }()

  /// A sanitizer needs more of the system than a worker has.
  static let isSupported = dlsym(nil, "__asan_init") == nil && dlsym(nil, "__tsan_init") == nil

  static let package = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().path

  /// Compiles a program of `Programs` with sources of the worker. - Returns: Its path.
  static func compile(_ name: String, with sources: [String] = [], defining flags: [String] = []) throws -> String {
    let program = FileManager.default.temporaryDirectory.path + "/tureen-\(name)-\(UUID().uuidString)"
    let includes = ["TureenWorker", "CIsolation/include", "CLuaBridge/include"].map { "-I\(package)/Sources/\($0)" }
    // The annotations of pointers are clang's.
    let arguments =
      ["/usr/bin/env", "cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-D_Nonnull=", "-D_Nullable=", "-o", program] + flags
      + includes + ["\(package)/Tests/LuaBridgeTests/Programs/\(name).c"]
      + sources.map { "\(package)/Sources/TureenWorker/\($0)" }
    let ended = try ChildProcess.run(arguments)
    guard ended.status == 0 else { throw CompileError(output: ended.output) }
    return program
  }

  struct CompileError: Error { let output: String }
}

/// A script that has run in a worker, and what it left.
struct IsolatedResult {
  let outcome: IsolatedOutcome
  let output: String
  let errors: String
  let failure: ScriptState.Failure?

  /// Runs a text in a worker of its own.
  /// - Parameter watching: Gets the script before it runs, for other threads to act on.
  static func of(
    _ text: String, host: FakeHost = FakeHost(isRestricted: true), arguments: [String] = [],
    worker: String = Isolation.worker, _ change: (inout IsolatedScript.Settings) -> Void = { _ in },
    watching: (IsolatedScript) -> Void = { _ in }
  ) throws -> IsolatedResult {
    var settings = IsolatedScript.Settings()
    let output = try TemporaryFile(), errors = try TemporaryFile()
    settings.worker = worker
    settings.output = output.descriptor
    settings.errors = errors.descriptor
    change(&settings)
    let script = try IsolatedScript(host: host, settings: settings)
    watching(script)
    let outcome = script.run(text: Array(text.utf8), path: "test.lua", arguments: arguments)
    script.close()
    #expect(host.shutdowns == 1)
    return IsolatedResult(outcome: outcome, output: output.text, errors: errors.text, failure: script.failure)
  }

  var end: WorkerEnd? { if case .workerEnded(let end) = outcome { end } else { nil } }
  var limit: ScriptLimits.Kind? { if case .script(.limitReached(let kind, _)) = outcome { kind } else { nil } }
}

/// A file without a name.
private final class TemporaryFile {
  let descriptor: Int32

  init() throws {
    var path = Array((FileManager.default.temporaryDirectory.path + "/tureen-test-XXXXXX").utf8CString)
    descriptor = mkstemp(&path)
    guard descriptor >= 0 else { throw POSIXError(.init(rawValue: errno) ?? .EIO) }
    unlink(path)
  }

  deinit { close(descriptor) }

  var text: String {
    lseek(descriptor, 0, SEEK_SET)
    var bytes: [UInt8] = [], buffer = [UInt8](repeating: 0, count: 65536)
    while case let count = read(descriptor, &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
    return String(decoding: bytes, as: UTF8.self)
  }
}
