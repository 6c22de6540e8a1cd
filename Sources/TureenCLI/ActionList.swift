import ArgumentParser
import JSON
import LuaBridge

/// What `tureen exec --list` prints: services, their actions, and what each takes.
struct ActionList {
  let service: String?

  /// - Throws: A validation error for a service that is not known.
  var text: String {
    get throws {
      guard let service else {
        return ActionCatalog.services.map { heading($0) + actions($0) }.joined(separator: "\n")
          + "\nOptional arguments stand in brackets. Actions of one store take isGlobalStore and storeName, too.\n"
      }
      guard ActionCatalog.services.contains(service) else {
        let shorts = ActionCatalog.services.map(ActionCatalog.shortName)
        let hint = NearestName.hint(for: ActionCatalog.shortName(of: service), among: shorts)
        throw ValidationError("unknown service '\(ActionCatalog.shortName(of: service))'\(hint)")
      }
      return heading(service) + actions(service)
    }
  }

  private func heading(_ service: String) -> String { "\(ActionCatalog.shortName(of: service))  (\(service))\n" }

  private func actions(_ service: String) -> String {
    ActionCatalog.entries(of: service).map { entry in
      let words = entry.required + entry.optional.map { "[\($0)]" }
      return "  \(entry.name)\(words.isEmpty ? "" : "  ")\(words.joined(separator: " "))\n      \(entry.summary)\n"
    }.joined()
  }
}
