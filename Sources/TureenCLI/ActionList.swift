import ArgumentParser
import JSON
import LuaBridge

#if Sandbox
  import SandboxForge
  import SandboxOrg
  import SandboxParse
#endif

/// The text of `tureen exec --list`: services, their actions and the arguments of each.
struct ActionList {
  let service: String?

  private static let sandbox = "tureen.sandbox"

  #if Sandbox
    private static let services = ActionCatalog.services + [sandbox]
    private static let sandboxActions =
      SandboxServer.controlActions + ForgeService.controlActions + ParseService.controlActions
  #else
    private static let services = ActionCatalog.services
    private static let sandboxActions: [String] = []
  #endif

  /// The services' short names, such as `smartstore`.
  static let shortNames = services.map(ActionCatalog.shortName)

  /// Returns the names of the actions of a service, by its short or full name; empty for an unknown service.
  static func actions(of service: String) -> [String] {
    guard let full = services.first(where: { $0 == service || ActionCatalog.shortName(of: $0) == service }) else { return [] }
    return full == sandbox ? sandboxActions : ActionCatalog.actions(of: full)
  }

  /// - Throws: `ValidationError` for an unknown service.
  var text: String {
    get throws {
      guard let service else {
        return Self.services.map(section).joined(separator: "\n")
          + "\nOptional arguments are in brackets. Actions on a store also take isGlobalStore and storeName.\n"
      }
      guard Self.services.contains(service) else {
        let short = ActionCatalog.shortName(of: service)
        let hint = NearestName.hint(for: short, among: Self.shortNames)
        throw ValidationError("unknown service '\(short)'\(hint)")
      }
      return section(service)
    }
  }

  private func section(_ service: String) -> String {
    let heading = "\(ActionCatalog.shortName(of: service))  (\(service))\n"
    if service == Self.sandbox {
      return heading + "  \(Self.sandboxActions.joined(separator: "\n  "))\n      Described in bridge-spec/sandbox/README.md.\n"
    }
    return heading
      + ActionCatalog.entries(of: service).map { entry in
        let words = entry.required + entry.optional.map { "[\($0)]" }
        return "  \(entry.name)\(words.isEmpty ? "" : "  ")\(words.joined(separator: " "))\n      \(entry.summary)\n"
      }.joined()
  }
}
