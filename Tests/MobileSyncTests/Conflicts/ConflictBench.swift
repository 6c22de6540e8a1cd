import JSON
import SmartStore
import Synchronization

@testable import MobileSync

/// Conflicts on a ``SyncBench``.
extension SyncBench {
  static let merge: JSONObject = ["fieldlist": ["Name", "Description"], "mergeMode": "MERGE"]

  static func merge(resolver: String) -> JSONObject {
    var options = merge
    options["resolver"] = .string(resolver)
    return options
  }

  /// Creates an account with a description, in store and org.
  func syncedAccount(_ name: String = "A") async throws -> (id: String, entryId: Int64) {
    let id = try addAccount(name, "base")
    _ = try await down(name: name)
    org.clearRequests()
    return (id, try entry(withId: id)?["_soupEntryId"]?.integerValue ?? 0)
  }

  func entry(withId id: String) throws -> JSONObject? { try entries().first { $0["Id"] == .string(id) } }

  /// Changes an entry, whatever its current id is.
  func edit(_ id: String, _ changes: JSONObject) throws {
    guard var entry = try entry(withId: id) else { throw BenchError.noSuchEntry(id) }
    for (key, value) in changes { entry[key] = value }
    entry["__local__"] = true
    if changes["__locally_deleted__"] == nil { entry["__locally_updated__"] = true }
    try save(entry)
  }

  func conflicts() throws -> [SyncConflict] { try manager.conflicts(inSoup: "accounts") }

  /// Returns `Name/Description` of an entry, with `*` after it if it is dirty; nil if there is
  /// none.
  func shown(_ id: String) throws -> String? {
    try entry(withId: id).map { entry in
      func text(_ key: String) -> String { entry[key]?.stringValue ?? "-" }
      return "\(text("Name"))/\(text("Description"))" + (entry["__local__"] == true ? "*" : "")
    }
  }

  func shownOnServer(_ id: String) throws -> String? {
    try onServer(id).map { "\($0["Name"]?.stringValue ?? "-")/\($0["Description"]?.stringValue ?? "-")" }
  }
}

/// Records the conflicts that listeners get.
final class ConflictRecorder: Sendable {
  private let told = Mutex<[SyncConflict]>([])

  var listener: SyncManager.ConflictListener {
    { conflicts in self.told.withLock { $0 += conflicts } }
  }

  var all: [SyncConflict] { told.withLock { $0 } }
}

/// Returns true only once.
final class Once: Sendable {
  private let isTaken = Mutex(false)

  func take() -> Bool {
    isTaken.withLock { isTaken in
      defer { isTaken = true }
      return !isTaken
    }
  }
}
