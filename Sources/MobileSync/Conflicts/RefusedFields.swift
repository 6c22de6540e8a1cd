import RestClient
import Synchronization

/// Fields that the server does not know, by type: fields that scripts keep in entries for
/// themselves, and misspelt ones of field lists. One run remembers them, so that only its first
/// request for a type includes them. Any thread.
final class RefusedFields: Sendable {
  private struct State {
    var names: IdMap<IdSet> = [:]
    var warnings: [String] = []
  }

  private let state = Mutex(State())

  func known(_ fields: [String], of type: String) -> [String] {
    let refused = state.withLock { $0.names[type] ?? [] }
    return refused.isEmpty ? fields : fields.filter { !refused.contains($0) }
  }

  /// The names in field lists that the server does not know, as texts for users.
  var warnings: [String] { state.withLock { $0.warnings } }

  /// Records the fields that a request was refused for.
  /// - Parameters:
  ///   - error: The refusal. If it names some of the fields, the others may be known.
  ///   - fields: The optional fields of the request, each with its type.
  ///   - listed: Those of a field list.
  /// - Returns: Whether the request may be repeated without a field.
  func note(
    _ error: RestError, _ fields: [(name: String, type: String)], listed: [(name: String, type: String)]
  ) -> Bool {
    let text = error.errors.compactMap { $0["message"]?.stringValue }.joined(separator: " ")
    func isNamed(_ field: (name: String, type: String)) -> Bool { text.contains("'\(field.name)'") }
    let misspelt = listed.filter(isNamed), named = fields.filter(isNamed)
    let refused = misspelt + (named.isEmpty && misspelt.isEmpty ? fields : named)
    return state.withLock { state in
      var isNew = false
      for field in refused { isNew = state.names[field.type, default: []].insert(field.name).inserted || isNew }
      for field in misspelt {
        let warning = "a field list names '\(field.name)', which the server does not know for \(field.type)"
        if !state.warnings.contains(warning) { state.warnings.append(warning) }
      }
      return isNew
    }
  }
}
