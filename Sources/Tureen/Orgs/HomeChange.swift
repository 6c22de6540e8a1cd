import JSON
import RestClient
import Support

/// Files of a home that change together. A value: ``HomeLock`` makes them change. Paths are relative to the home.
struct HomeChange {
  enum Step: Equatable {
    /// A file with new contents.
    case write([UInt8], to: String)
    /// A folder gets another name, unless that one is taken.
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

/// The right to change the orgs of a home, held by one at a time, in this process or in another. Blocks; ends with the value.
///
/// A change is prepared in a folder of its own, and committed by renaming that folder. The next holder of the lock finishes what
/// a process that was killed had committed, and removes what it had only prepared: all of a change happens, or none of it.
final class HomeLock {
  private let home: String
  private let lock: FileSystem.Lock
  /// Tests end the process's work before any of its steps: it throws.
  private let fault: (String) throws -> Void

  /// Where a committed change waits until all of its steps are done.
  private static func committed(_ home: String) -> String { "\(home)/orgs/.committed" }
  private static let staging = ".staging-"

  /// Whether a process has committed a change and not finished it: it is at it, or was killed.
  static func isUnfinished(_ home: String) -> Bool { FileSystem.exists(committed(home)) }

  /// - Throws: ``RestError`` `.signInBusy` when another process keeps the lock for too long; `FileError`.
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

  /// Makes a change happen, wholly or not at all.
  /// - Throws: `FileError`; nothing has changed then.
  func commit(_ change: HomeChange) throws {
    guard !change.isEmpty else { return }
    let staging = "\(home)/orgs/\(Self.staging)\(UInt32.random(in: 0 ... .max))"
    do {
      try prepare(change, in: staging)
      try fault("commit")
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

  /// Does the steps of a committed change: each may have been done before.
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
      try FileSystem.move("\(home)/\(path)", to: "\(home)/\(target)")
    } else if let path = step["remove"]?.stringValue {
      try FileSystem.removeTree("\(home)/\(path)")
    }
  }
}
