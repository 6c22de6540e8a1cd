import JSON
import Synchronization

/// Records what everybody wrote and must be found again. Any thread: the server writes late.
final class EditLedger: Sendable {
  private struct Record {
    /// The value written last, by field.
    var values: [String: String] = [:]
    /// Whether somebody deleted it: then it may be missing, or exist again.
    var wasDeleted = false
    /// Fields that the application itself reset.
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

  /// Excuses changes that a stale copy undoes, because the application did that itself.
  func excuse(_ name: String, fields: [String]) {
    records.withLock { $0[name, default: Record()].excused.formUnion(fields) }
  }

  /// Returns what should be on the server but is missing.
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
