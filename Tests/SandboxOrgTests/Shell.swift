import Foundation
import TestSupport

/// Runs a script with `/bin/sh` and returns both of its output streams.
func shell(_ script: String, _ environment: [String: String] = [:]) async throws -> String {
  let variables = ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"].merging(environment) { $1 }
  // The server's queues need the pool's threads.
  return try await onOwnThreads { try ChildProcess.run(["/bin/sh", "-c", script], environment: variables).output }
}

/// Runs `body` with a temporary folder.
func withFolder<T>(_ body: (String) async throws -> T) async throws -> T {
  let folder = FileManager.default.temporaryDirectory.appendingPathComponent("sandbox-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: folder) }
  return try await body(folder.path)
}
