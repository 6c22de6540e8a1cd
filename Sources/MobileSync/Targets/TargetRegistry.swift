import JSON

/// The kinds of targets that a host supports: those of its services, and the engine's own custom
/// targets.
public struct TargetRegistry: Sendable {
  /// The first service does the parts that custom targets leave to the engine.
  private let services: [any SyncService]

  /// - Parameter services: At least one; the first determines the kind of a sync up target without
  ///   a type.
  package init(_ services: [any SyncService]) {
    precondition(!services.isEmpty, "a registry of targets needs a service")
    self.services = services
  }

  private static let custom = "custom"

  private var primary: any SyncService { services[0] }

  package var downKinds: [String] { services.flatMap(\.downKinds).map(\.name) + [Self.custom] }
  package var upKinds: [String] { services.flatMap(\.upKinds).map(\.name) + [Self.custom] }

  // MARK: Making targets

  package func down(_ json: JSONObject) throws(SyncError) -> any SyncDownTarget {
    guard let type = json["type"], !type.isNull else {
      throw SyncError(.invalidTarget, "sync down target: 'type' is missing")
    }
    let word = type.stringValue
    if word == Self.custom { return try CustomSyncDownTarget(json, defaults: primary.defaultFields) }
    // The Mobile SDKs define this type, but it syncs with nothing.
    if word == "cache" { throw SyncError(.invalidTarget, "Wrong target type: cache") }
    guard let kind = services.lazy.flatMap(\.downKinds).first(where: { $0.name == word }) else {
      throw unknown(type, "sync down", downKinds)
    }
    return try kind.make(json)
  }

  /// Returns the target for parents with their children; nil for every other kind.
  package func families(_ json: JSONObject) throws(SyncError) -> (any ParentChildrenUploadTarget)? {
    guard case .families(let target) = try made(json) else { return nil }
    return target
  }

  /// Returns a target for the records of one soup.
  package func up(_ json: JSONObject) throws(SyncError) -> any SyncUpTarget {
    guard case .records(let target) = try made(json) else {
      throw SyncError(.invalidTarget, "sync up target type '\(try upKind(json))' is not for a single soup")
    }
    return target
  }

  private func made(_ json: JSONObject) throws(SyncError) -> SyncUpKind.Made {
    let name = try upKind(json)
    guard let kind = services.lazy.flatMap(\.upKinds).first(where: { $0.name == name }) else {
      return .records(try CustomSyncUpTarget(json, service: primary))
    }
    return try kind.make(json)
  }

  /// Returns the service that a sync uses.
  package func service(of type: SyncType, _ target: JSONObject) -> any SyncService {
    let name = type == .syncDown ? target["type"]?.stringValue : try? upKind(target)
    return services.first { service in
      type == .syncDown ? service.downKinds.contains { $0.name == name } : service.upKinds.contains { $0.name == name }
    } ?? primary
  }

  /// Returns the kind of a sync up target: by its `type`, unless that is an ambiguous `rest`, else
  /// by the class names of the Mobile SDKs, else the default of the first service.
  package func upKind(_ json: JSONObject) throws(SyncError) -> String {
    let type = json["type"].flatMap { value -> JSONValue? in value.isNull ? Optional.none : value }
    let name = [json["androidImpl"], json["iOSImpl"]].lazy.compactMap { $0?.stringValue }.first { !$0.isEmpty }
    if let type {
      guard let word = type.stringValue, upKinds.contains(word) || word == "rest" else {
        throw unknown(type, "sync up", upKinds)
      }
      // The Mobile SDKs use this type for plain requests; only a JSON collection has a connection.
      let isCollection = word == "rest" && json["connection"]?.stringValue != nil && upKinds.contains(word)
      if isCollection || word != "rest" && word != Self.custom { return word }
    }
    guard let name else {
      let isCustom = type?.stringValue == Self.custom || json["luaImpl"]?.stringValue != nil
      guard !isCustom, let kind = primary.defaultUpKind else { return Self.custom }
      return kind
    }
    let short = name.split(separator: ".").last.map(String.init) ?? name
    let model = short.hasPrefix("SF") ? String(short.dropFirst(2)) : short
    return services.lazy.flatMap(\.upKinds).first { $0.modelClass == model }?.name ?? Self.custom
  }

  private func unknown(_ type: JSONValue, _ kind: String, _ known: [String]) -> SyncError {
    let hint = NearestName.hint(for: type.stringValue ?? "", among: known)
    return SyncError(.invalidTarget, "unknown \(kind) target type: \(type.shownKind)\(hint)").at(.key("type"))
  }

  // MARK: Checking keys

  /// Rejects keys that the target's kind does not know.
  ///
  /// Called for new definitions only, not for stored ones, so that syncs accepted by an earlier
  /// release continue to run.
  /// - Throws: ``SyncError`` `.invalidTarget`, naming the key and the nearest known one. Unknown
  ///   kinds are left to ``down(_:)`` and ``up(_:)``.
  package func checkKeys(_ type: SyncType, _ json: JSONObject) throws(SyncError) {
    switch type {
    case .syncDown:
      let kind = json["type"]?.stringValue ?? ""
      if kind == Self.custom { return try TargetKeys.customDown.check(json, label: "custom target") }
      try services.lazy.flatMap(\.downKinds).first { $0.name == kind }?.keys.check(json, label: "\(kind) target")
    case .syncUp:
      let kind = try upKind(json)
      if kind == Self.custom { return try TargetKeys.customUp.check(json, label: "sync up target") }
      try services.lazy.flatMap(\.upKinds).first { $0.name == kind }?.keys.check(json, label: "sync up target")
    }
  }
}
