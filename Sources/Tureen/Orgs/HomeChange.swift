import JSON
import RestClient
import Support

/// A set of file changes in a home that ``HomeLock`` applies atomically. Paths are relative to the home.
struct HomeChange {
  enum Step: Equatable {
    /// Write a file.
    case write([UInt8], to: String)
    /// Rename a folder unless the target exists.
    case move(String, to: String)
    case remove(String)
  }

  private(set) var steps: [Step] = []

  mutating func write(_ json: JSONValue, to path: String) {
    steps.append(.write(json.serialized() + [UInt8(ascii: "\n")], to: path))
  }
  mutating func move(_ path: String, to target: String) { steps.append(.move(path, to: target)) }
  mutating func remove(_ path: String) { steps.append(.remove(path)) }

  var isEmpty: Bool { steps.isEmpty }
}

/// An exclusive lock for changes to the orgs of a home, across threads and processes. Taking it blocks; it is released when the
/// object is destroyed.
///
/// A change is staged in a separate folder and committed by renaming that folder. If a process is killed, the next holder of the
/// lock finishes the committed change and removes staged ones, so every change is applied completely or not at all.
final class HomeLock {
  private let home: String
  private let lock: FileSystem.Lock
  /// Called before each step. Tests throw from it to simulate a crash.
  private let fault: (String) throws -> Void

  /// The folder of a committed change until all its steps are done.
  private static func committed(_ home: String) -> String { "\(home)/orgs/.committed" }
  /// The beginning of the names of folders in `orgs` that hold what a change brings.
  static let staging = ".staging-"

  /// Returns true if a committed change is not finished: a process is applying it, or was killed.
  static func isUnfinished(_ home: String) -> Bool { FileSystem.exists(committed(home)) }

  /// - Throws: ``RestError`` `.signInBusy` if another process keeps the lock for too long; `FileError`.
  init(home: String, patienceMs: Int64 = Tuning.homeLockPatienceMs, fault: @escaping (String) throws -> Void = { _ in }) throws {
    try FileSystem.makeDirectory("\(home)/orgs")
    let path = "\(home)/orgs.lock"
    guard let lock = try FileSystem.lock(path, patienceMs: patienceMs) else {
      throw RestError(
        code: .signInBusy, message: "another process has been changing the orgs of this home for too long: it holds \(path)",
        outcome: .notSent)
    }
    self.home = home
    self.lock = lock
    self.fault = fault
    try finish()
  }

  deinit { lock.release() }

  /// Applies a change atomically.
  /// - Parameter before: A last check, right before the change is certain. Nothing has changed if it throws.
  /// - Throws: `FileError`. Nothing has changed then.
  func commit(_ change: HomeChange, before: () throws -> Void = {}) throws {
    guard !change.isEmpty else { return }
    let staging = "\(home)/orgs/\(Self.staging)\(UInt32.random(in: 0 ... .max))"
    do {
      try prepare(change, in: staging)
      try fault("commit")
      do {
        try before()
      } catch {
        try? FileSystem.removeTree(staging)
        throw error
      }
      try FileSystem.move(staging, to: Self.committed(home))
    } catch let error as FileError {
      try? FileSystem.removeTree(staging)
      throw error
    }
    try FileSystem.sync("\(home)/orgs")
    try finish()
  }

  private func prepare(_ change: HomeChange, in staging: String) throws {
    try FileSystem.makeDirectory(staging)
    let steps: [JSONValue] = try change.steps.enumerated().map { i, step in
      switch step {
      case .write(let contents, let path):
        try fault("stage \(path)")
        try FileSystem.write(contents, to: "\(staging)/\(i)")
        try FileSystem.sync("\(staging)/\(i)")
        return ["write": .string(path)]
      case .move(let path, let target): return ["move": .string(path), "to": .string(target)]
      case .remove(let path): return ["remove": .string(path)]
      }
    }
    try FileSystem.write(JSONValue.array(steps).serialized(), to: "\(staging)/steps.json")
    try FileSystem.sync("\(staging)/steps.json")
    try FileSystem.sync(staging)
  }

  /// Applies the steps of a committed change. Each step is idempotent, because it may have been applied before.
  private func finish() throws {
    let folder = Self.committed(home), list = "\(folder)/steps.json"
    if let text = FileSystem.read(list) {
      let steps = try JSONValue(parsing: text).arrayValue ?? []
      for (i, step) in steps.enumerated() {
        try fault("step \(i)")
        try take(step, prepared: "\(folder)/\(i)")
      }
      try fault("end")
      try FileSystem.removeTree(list)
    }
    try FileSystem.removeTree(folder)
    for name in try FileSystem.entries(of: "\(home)/orgs") where name.hasPrefix(Self.staging) {
      try FileSystem.removeTree("\(home)/orgs/\(name)")
    }
  }

  private func take(_ step: JSONValue, prepared: String) throws {
    if let path = step["write"]?.stringValue {
      guard FileSystem.exists(prepared) else { return }
      let target = "\(home)/\(path)"
      try FileSystem.makeDirectory(FileSystem.folder(of: target))
      try FileSystem.replace(target, with: prepared)
    } else if let path = step["move"]?.stringValue, let target = step["to"]?.stringValue {
      guard FileSystem.exists("\(home)/\(path)"), !FileSystem.exists("\(home)/\(target)") else { return }
      try FileSystem.makeDirectory(FileSystem.folder(of: "\(home)/\(target)"))
      try FileSystem.move("\(home)/\(path)", to: "\(home)/\(target)")
    } else if let path = step["remove"]?.stringValue {
      try FileSystem.removeTree("\(home)/\(path)")
    }
  }
}
