import JSON

/// What can be called through the bridge, for people who ask: services, their actions, and what each takes.
public enum ActionCatalog {
  /// One action.
  public struct Entry: Sendable {
    /// The wire name, such as `pgQuerySoup`.
    public let name: String
    public let summary: String
    /// Arguments a call must have.
    public let required: [String]
    /// Arguments a call may have, those that say which store is meant left out.
    public let optional: [String]
  }

  /// The services' whole names, in alphabetical order.
  public static let services = Action.services + ["tureen.accounts", "tureen.asset", "tureen.keyvalue", "tureen.parse"]

  /// A service's last word, such as `smartstore`.
  public static func shortName(of service: String) -> String { service.split(separator: ".").last.map(String.init) ?? service }

  /// The wire names of a service's actions; empty for a service that the bridge does not know.
  public static func actions(of service: String) -> [String] {
    switch service {
    case "com.salesforce.smartstore": SmartStoreAction.allCases.map(\.rawValue)
    case "com.salesforce.mobilesync": MobileSyncAction.allCases.map(\.rawValue)
    case "com.salesforce.network": NetworkAction.allCases.map(\.rawValue)
    case "com.salesforce.oauth": OAuthAction.allCases.map(\.rawValue)
    case "com.salesforce.sfaccountmanager": AccountAction.allCases.map(\.rawValue)
    case "com.salesforce.sdkinfo": SDKInfoAction.allCases.map(\.rawValue)
    case "tureen.accounts": AccountsAction.allCases.map(\.rawValue)
    case "tureen.asset": AssetAction.allCases.map(\.rawValue)
    case "tureen.keyvalue": KeyValueAction.allCases.map(\.rawValue)
    case "tureen.parse": ParseAction.allCases.map(\.rawValue)
    default: []
    }
  }

  public static func entries(of service: String) -> [Entry] {
    actions(of: service).sorted().compactMap { name in
      guard let action = try? Action(service: service, action: name) else { return nil }
      let rules = action.rules, fields = rules.fields.filter { !["isGlobalStore", "storeName"].contains($0.name) }
      return Entry(
        name: name, summary: summaries["\(shortName(of: service))/\(name)"] ?? "",
        required: fields.filter(\.isRequired).map(\.name), optional: fields.filter { !$0.isRequired }.map(\.name))
    }
  }

  /// The wire name of an action given by the name of its Lua function: `pgQuerySoup` for `querySoup`.
  public static func wireName(of action: String, in service: String) -> String {
    let known = actions(of: service)
    if known.contains(action) { return action }
    let capitalised = action.prefix(1).uppercased() + action.dropFirst()
    return ["pg", "kv"].map { $0 + capitalised }.first { known.contains($0) } ?? action
  }
}
