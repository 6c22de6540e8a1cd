import RestClient
import Synchronization

/// Fields that the server does not know, by type: fields that scripts keep in entries for
/// themselves. One run remembers them, so that only its first request for a type includes them. Any
/// thread.
final class RefusedFields: Sendable {
  private let names = Mutex<IdMap<IdSet>>([:])

  func known(_ fields: [String], of type: String) -> [String] {
    let refused = names.withLock { $0[type] ?? [] }
    return fields.filter { !refused.contains($0) }
  }

  /// Records the fields that a request was refused for.
  /// - Parameters:
  ///   - error: The refusal. If it names some of the fields, the others may be known.
  ///   - fields: The optional fields of the request, each with its type.
  func note(_ error: RestError, _ fields: [(name: String, type: String)]) {
    let text = error.errors.compactMap { $0["message"]?.stringValue }.joined(separator: " ")
    let named = fields.filter { text.contains("'\($0.name)'") }
    names.withLock { names in
      for field in named.isEmpty ? fields : named { names[field.type, default: []].insert(field.name) }
    }
  }
}
