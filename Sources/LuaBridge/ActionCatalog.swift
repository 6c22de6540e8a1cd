import JSON

/// Lists the bridge's services, their actions and the actions' arguments, for help texts.
public enum ActionCatalog {
  /// One action.
  public struct Entry: Sendable {
    /// The wire name, such as `pgQuerySoup`.
    public let name: String
    public let summary: String
    /// The required arguments.
    public let required: [String]
    /// The optional arguments, without those that select the store.
    public let optional: [String]
  }

  /// The services' full names, in alphabetical order.
  public static let services =
    Action.services + [
      "tureen.accounts", "tureen.asset", "tureen.host", "tureen.keyvalue", "tureen.parse",
    ]

  /// Returns the last part of a service's name, such as `smartstore`.
  public static func shortName(of service: String) -> String { service.split(separator: ".").last.map(String.init) ?? service }

  /// Returns the wire names of a service's actions; empty for an unknown service.
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
    case "tureen.host": HostAction.allCases.map(\.rawValue)
    case "tureen.keyvalue": KeyValueAction.allCases.map(\.rawValue)
    case "tureen.parse": ParseAction.allCases.map(\.rawValue)
    default: []
    }
  }

  /// Returns a service's actions, sorted by name.
  public static func entries(of service: String) -> [Entry] {
    actions(of: service).sorted().compactMap { name in
      guard let action = try? Action(service: service, action: name) else { return nil }
      let rules = action.rules, fields = rules.fields.filter { !["isGlobalStore", "storeName"].contains($0.name) }
      return Entry(
        name: name, summary: summaries["\(shortName(of: service))/\(name)"] ?? "",
        required: fields.filter(\.isRequired).map(\.name), optional: fields.filter { !$0.isRequired }.map(\.name))
    }
  }

  /// Returns the wire name of an action for the name of its Lua function: `pgQuerySoup` for `querySoup`.
  public static func wireName(of action: String, in service: String) -> String {
    let known = actions(of: service)
    if known.contains(action) { return action }
    let capitalised = action.prefix(1).uppercased() + action.dropFirst()
    return ["pg", "kv"].map { $0 + capitalised }.first { known.contains($0) } ?? action
  }
}
