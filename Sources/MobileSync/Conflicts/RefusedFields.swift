import RestClient
import Synchronization

/// Fields that the server does not know, by type: names that a script keeps in entries for itself. One run remembers them, so
/// that only its first look at a type asks for them. Any thread.
final class RefusedFields: Sendable {
  private let names = Mutex<[String: Set<String>]>([:])

  func known(_ fields: [String], of type: String) -> [String] {
    let refused = names.withLock { $0[type] ?? [] }
    return fields.filter { !refused.contains($0) }
  }

  /// - Parameters:
  ///   - error: What a request for them was answered with. Where it names some of them, the others may be known.
  ///   - fields: Of those asked for, the ones that can be done without, each with its type.
  func note(_ error: RestError, _ fields: [(name: String, type: String)]) {
    let text = error.errors.compactMap { $0["message"]?.stringValue }.joined(separator: " ")
    let named = fields.filter { text.contains("'\($0.name)'") }
    names.withLock { names in
      for field in named.isEmpty ? fields : named { names[field.type, default: []].insert(field.name) }
    }
  }
}
