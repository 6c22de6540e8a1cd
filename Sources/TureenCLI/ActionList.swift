import ArgumentParser
import JSON
import LuaBridge

#if Sandbox
  import SandboxForge
  import SandboxOrg
  import SandboxParse
#endif

/// What `tureen exec --list` prints: services, their actions, and what each takes.
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

  /// - Throws: A validation error for a service that is not known.
  var text: String {
    get throws {
      guard let service else {
        return Self.services.map(section).joined(separator: "\n")
          + "\nOptional arguments stand in brackets. Actions of one store take isGlobalStore and storeName, too.\n"
      }
      guard Self.services.contains(service) else {
        let short = ActionCatalog.shortName(of: service)
        let hint = NearestName.hint(for: short, among: Self.services.map(ActionCatalog.shortName))
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
