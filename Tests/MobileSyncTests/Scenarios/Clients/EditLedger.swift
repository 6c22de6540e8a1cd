import JSON
import Synchronization

/// What everybody wrote, and must be found again. Any thread: the server writes late.
final class EditLedger: Sendable {
  private struct Record {
    /// By field, the value written last.
    var values: [String: String] = [:]
    /// Somebody deleted it: then it may be gone, or there again.
    var wasDeleted = false
    /// Fields that the application itself wrote back to what they were.
    var excused: Set<String> = []
  }

  private let records = Mutex<[String: Record]>([:])

  func wrote(_ value: String, to field: String, of name: String) {
    records.withLock { records in
      records[name, default: Record()].values[field] = value
      records[name]?.excused.remove(field)
    }
  }

  func deleted(_ name: String) { records.withLock { $0[name, default: Record()].wasDeleted = true } }

  func wasDeleted(_ name: String) -> Bool { records.withLock { $0[name]?.wasDeleted ?? false } }

  /// What a stale copy undoes is the application's own doing.
  func excuse(_ name: String, fields: [String]) {
    records.withLock { $0[name, default: Record()].excused.formUnion(fields) }
  }

  /// What should be on the server, and is not.
  func missing(from server: [JSONObject]) -> [String] {
    let there = Dictionary(server.map { ($0.name, $0) }) { first, _ in first }
    return records.withLock { records in
      records.sorted { $0.key < $1.key }.flatMap { name, record -> [String] in
        guard !record.wasDeleted else { return [] }
        guard let found = there[name] else { return ["\(name) is lost"] }
        return record.values.sorted { $0.key < $1.key }.compactMap { field, value in
          let now = found[field]?.stringValue
          guard now != value, !record.excused.contains(field) else { return nil }
          return "\(name) has \(field) \(now ?? "nothing"), and \(value) was written last"
        }
      }
    }
  }
}
