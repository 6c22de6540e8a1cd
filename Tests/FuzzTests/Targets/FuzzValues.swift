import JSON
import TestSupport

@testable import LuaBridge

/// Generates arguments for invalid calls: valid names with wrong values, or the other way round.
struct FuzzValues: Sendable {
  var random: SeededGenerator

  /// All actions, those of stores more often.
  static let actions: [(service: String, action: String, rules: ArgumentRules)] = {
    let store = SmartStoreAction.allCases.map { ("com.salesforce.smartstore", $0.rawValue, $0.rules) }
    let syncs = MobileSyncAction.allCases.map { ("com.salesforce.mobilesync", $0.rawValue, $0.rules) }
    let network = NetworkAction.allCases.map { ("com.salesforce.network", $0.rawValue, $0.rules) }
    let keys = KeyValueAction.allCases.map { ("tureen.keyvalue", $0.rawValue, $0.rules) }
    let assets = AssetAction.allCases.map { ("tureen.asset", $0.rawValue, $0.rules) }
    let parse = ParseAction.allCases.map { ("tureen.parse", $0.rawValue, $0.rules) }
    let info = SDKInfoAction.allCases.map { ("com.salesforce.sdkinfo", $0.rawValue, $0.rules) }
    let account = AccountAction.allCases.map { ("com.salesforce.sfaccountmanager", $0.rawValue, $0.rules) }
    let accounts = AccountsAction.allCases.map { ("tureen.accounts", $0.rawValue, $0.rules) }
    let host = HostAction.allCases.map { ("tureen.host", $0.rawValue, $0.rules) }
    let oauth = OAuthAction.allCases.map { ("com.salesforce.oauth", $0.rawValue, $0.rules) }
    return store + store + syncs + network + keys + assets + parse + info + account + accounts + host + oauth + [
      ("tureen.script", "answer", ArgumentRules(isOpen: true)), ("com.salesforce.nothing", "x", ArgumentRules(isOpen: true)),
    ]
  }()

  mutating func chance(_ n: Int) -> Bool { Int.random(in: 0..<n, using: &random) == 0 }

  mutating func pick<T>(_ list: [T]) -> T { list[Int.random(in: 0..<list.count, using: &random)] }

  // MARK: Values

  static let words = [
    "s", "Id", "a.b", "a..b", ".", "", "__local__", "_soup", "_soupEntryId", "soql", "sosl", "mru", "refresh", "layout",
    "metadata",
    "parent_children", "briefcase", "custom", "string", "integer", "floating", "full_text", "json1", "exact", "range", "like",
    "match",
    "smart", "ascending", "descending", "OVERWRITE", "LEAVE_IF_CHANGED", "SELECT Id FROM Contact", "SELECT {s:Id} FROM {s}",
    "SELECT {", "{s:_soup}", "\0", "\u{1b}[2J", "ä漢\u{1F600}", "\u{202e}", "'", "\"", "../../x", "%00%", "\r\nX: y", "-1",
    "1e999",
  ]

  mutating func text() -> String {
    switch Int.random(in: 0..<12, using: &random) {
    case 0: return String(repeating: pick(Self.words), count: Int.random(in: 0..<40, using: &random))
    case 1: return String(repeating: "a", count: pick([255, 256, 4096, 65_535, 65_536, 70_000]))
    case 2:
      let count = Int.random(in: 0..<20, using: &random)
      return String(String.UnicodeScalarView((0..<count).map { _ in scalar() }))
    default: return pick(Self.words)
    }
  }

  private mutating func scalar() -> Unicode.Scalar {
    let limit: UInt32 = pick([0x20, 0x80, 0x100, 0x3000, 0x10FFFF])
    return Unicode.Scalar(UInt32.random(in: 0...limit, using: &random)) ?? "x"
  }

  mutating func number() -> JSONValue {
    pick([
      0, 1, -1, 2, 100, .integer(.max), .integer(.min), .integer(1 << 31), .integer(-1 << 31), .integer(1 << 53), .number(0.5),
      .number(-0.0), .number(1e300), .number(-1e-300), .integer(Int64.random(in: -1000...1000, using: &random)),
    ])
  }

  mutating func value(depth: Int) -> JSONValue {
    switch Int.random(in: 0..<(depth > 0 ? 9 : 6), using: &random) {
    case 0: return .null
    case 1: return .bool(chance(2))
    case 2, 3: return number()
    case 4, 5: return .string(text())
    case 6, 7: return .object(object(depth: depth - 1))
    default: return .array((0..<Int.random(in: 0..<5, using: &random)).map { _ in value(depth: depth - 1) })
    }
  }

  mutating func object(depth: Int) -> JSONObject {
    var object = JSONObject()
    for _ in 0..<Int.random(in: 0..<6, using: &random) { object[pick(Self.names + Self.words)] = value(depth: depth) }
    return object
  }

  // MARK: Arguments of actions

  static let names = [
    "soupName", "indexes", "entries", "entryIds", "ids", "externalIdPath", "querySpec", "queryType", "indexPath", "path", "type",
    "matchKey",
    "likeKey", "beginKey", "endKey", "smartSql", "order", "orderPath", "pageSize", "selectPaths", "cursorId", "index",
    "reIndexData",
    "paths", "syncName", "syncId", "target", "options", "fieldlist", "mergeMode", "query", "sobjectType", "idFieldName", "key",
    "value",
    "storeName", "isGlobalStore", "lazy", "args", "resolver", "createFieldlist", "updateFieldlist", "userId", "orgId", "feature",
  ]

  /// Returns mostly valid arguments of the right types, so that calls pass the first checks.
  mutating func arguments(_ rules: ArgumentRules) -> JSONObject {
    var given = arguments()
    guard !chance(10) else { return given }
    let names = Set(rules.fields.map(\.name))
    for key in given.keys where !names.contains(key) { given[key] = nil }
    for field in rules.fields where given[field.name] == nil && (field.isRequired || chance(4)) {
      given[field.name] = shaped(field.shape)
    }
    return given
  }

  private mutating func shaped(_ shape: Shape) -> JSONValue {
    guard !chance(12) else { return value(depth: 2) }
    switch shape.kind {
    case .any: return value(depth: 1)
    case .fieldlist: return chance(2) ? .string("Id,LastName, " + text()) : ["Id", .string(text())]
    case .string: return .string(chance(3) ? text() : pick(["s", "Id", "n", "0"]))
    case .integer: return chance(3) ? number() : 1
    case .number: return chance(3) ? number() : 1.5
    case .boolean: return .bool(chance(2))
    case .object:
      var object = JSONObject()
      for field in shape.fields where field.isRequired || chance(3) { object[field.name] = shaped(field.shape) }
      return .object(object)
    case .array: return .array((0..<Int.random(in: 0..<4, using: &random)).map { _ in shaped(shape.element.first ?? .any) })
    }
  }

  /// Returns some known names with values of the right types, so that calls pass the first check.
  mutating func arguments() -> JSONObject {
    var given: JSONObject = [:]
    if !chance(6) { given["soupName"] = .string(chance(4) ? text() : "s") }
    if chance(2) { given["indexes"] = .array([indexSpec(), indexSpec()]) }
    if chance(2) { given["entries"] = .array((0..<Int.random(in: 0..<4, using: &random)).map { _ in .object(object(depth: 2)) }) }
    if chance(2) { given["querySpec"] = .object(querySpec()) }
    if chance(2) { given["entryIds"] = .array([number(), number()]) }
    if chance(2) { given["target"] = .object(target()) }
    if chance(2) {
      given["options"] = chance(3) ? value(depth: 2) : ["mergeMode": "OVERWRITE", "fieldlist": ["Id", "LastName"]]
    }
    if chance(2) { given["syncName"] = .string(chance(3) ? text() : "n") }
    if chance(3) { given["syncId"] = number() }
    if chance(3) { given["cursorId"] = .string(text()) }
    if chance(3) { given["index"] = number() }
    if chance(3) { given["key"] = .string(text()) }
    for _ in 0..<Int.random(in: 0..<3, using: &random) { given[pick(Self.names)] = value(depth: 2) }
    // Every unusual name opens another store: use some, but not thousands.
    given["storeName"] = chance(40) ? value(depth: 0) : nil
    given["isGlobalStore"] = chance(10) ? true : nil
    return given
  }

  private mutating func indexSpec() -> JSONValue {
    chance(5)
      ? value(depth: 1)
      : [
        "path": .string(pick(["Id", "a.b", "n", text()])),
        "type": .string(pick(["string", "integer", "floating", "full_text", "json1"])),
      ]
  }

  private mutating func querySpec() -> JSONObject {
    var spec = chance(3) ? object(depth: 2) : [:]
    spec["queryType"] = .string(pick(["exact", "range", "like", "match", "smart", text()]))
    spec["indexPath"] = chance(4) ? value(depth: 1) : "Id"
    spec["pageSize"] = chance(3) ? number() : 10
    if chance(2) {
      spec["smartSql"] = .string(pick(["SELECT {s:_soup} FROM {s}", "SELECT {s:Id} FROM {s} WHERE {s:Id} = ?", text()]))
    }
    if chance(2) { spec["order"] = .string(pick(["ascending", "descending", text()])) }
    if chance(2) { spec["matchKey"] = value(depth: 0) }
    if chance(3) { spec["beginKey"] = value(depth: 0) }
    if chance(3) { spec["selectPaths"] = value(depth: 1) }
    return spec
  }

  private mutating func target() -> JSONObject {
    var target = chance(3) ? object(depth: 2) : [:]
    target["type"] = .string(
      pick(["soql", "sosl", "mru", "refresh", "layout", "metadata", "parent_children", "briefcase", "rest", text()]))
    target["query"] = chance(3) ? value(depth: 1) : "SELECT Id, LastModifiedDate FROM Contact"
    if chance(2) { target["sobjectType"] = "Contact" }
    if chance(2) { target["soupName"] = "s" }
    if chance(2) { target["fieldlist"] = ["Id"] }
    return target
  }

  // MARK: URLs and headers

  mutating func path() -> String {
    let start = pick([
      "/services/data", "/", "", "http://127.0.0.1:1", "https://", "http://[::1", "http://a:b@c", "//", "?", "#", "\u{1b}",
      "http://@ORG@", "http://@FOREIGN@", "@@FOREIGN@", "/x?to=http://@FOREIGN@",
    ])
    switch Int.random(in: 0..<6, using: &random) {
    case 0: return start + text()
    case 1:
      return start + "?" + String(repeating: pick(["a", "%41", "&", "ä", "="]), count: pick([1, 100, 16_384, 49_000, 66_000]))
    case 2: return start + String(repeating: "/..", count: Int.random(in: 0..<2000, using: &random))
    case 3: return start + "%" + text()
    default:
      return "/services/data/v66.0/" + pick(["query?q=x", "sobjects", "x#y", "a b", "a\\b", "a|b", "a;b=c", "%zz", "a%00b"])
    }
  }

  static let headerNames = [
    "X-A", "Host", "Content-Length", "Transfer-Encoding", "Connection", "Expect", "Authorization", "Accept-Encoding", "Cookie",
    "TE",
    "Upgrade", "Content-Type", "Range", "If-None-Match", "Proxy-Connection", "Trailer",
  ]

  private mutating func headers() -> JSONObject {
    var headers = JSONObject()
    for _ in 0..<random.below(5) {
      headers[chance(4) ? text() : pick(Self.headerNames)] =
        chance(3) ? value(depth: 1) : .string(pick(["close", "chunked", "0", "-1", "gzip", "100-continue", text()]))
    }
    return headers
  }

  /// Returns the arguments of `sendRequest`.
  mutating func request() -> JSONObject {
    var arguments: JSONObject = ["path": .string(path())]
    if chance(3) { arguments["endPoint"] = .string(pick(["/services/data", "", "//", "http:", text()])) }
    arguments["method"] = .string(pick(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "get", text()]))
    arguments["headerParams"] = .object(headers())
    if chance(2) { arguments["queryParams"] = .object(object(depth: 2)) }
    if chance(4) { arguments["doesNotRequireAuthentication"] = true }
    if chance(4) { arguments["returnBinary"] = true }
    if chance(4) { arguments["returnResponse"] = true }
    if chance(3) { arguments["connection"] = .string(chance(10) ? text() : "c") }
    if chance(8) { arguments["cache"] = .string(pick(["reload", "bypass", "only", text()])) }
    if chance(8) { arguments["expects"] = .string(pick(["json", "nothing", "any", text()])) }
    return arguments
  }
}
