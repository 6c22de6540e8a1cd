import LuaBridge
import Support
import Tureen

/// The meaning of a request's address. A plain value.
enum Route: Equatable {
  case about, overview, health, events
  case unsent(StoreReference)
  case conflicts(StoreReference)
  case conflict(StoreReference, soup: String, entry: Int64)
  case runs(StoreReference)
  case run(StoreReference, number: Int64)
  case requests(StoreReference)
  case entry(StoreReference, soup: String, entry: Int64)
  case explain(StoreReference, soup: String, entry: Int64)
  case query(StoreReference)
  case resolve(StoreReference, soup: String, entry: Int64)
  case discard(StoreReference)
  case runSync(StoreReference, id: Int64)
  case stopSync(StoreReference, id: Int64)

  static let prefix = "/api/v1/"

  /// Whether the route changes data.
  var writes: Bool {
    switch self {
    case .resolve, .discard, .runSync, .stopSync: true
    default: false
    }
  }

  var method: String {
    if case .query = self { return "POST" }
    return writes ? "POST" : "GET"
  }

  /// - Parameter path: The path of the request, still encoded.
  init?(_ path: Substring) {
    guard path.hasPrefix(Route.prefix) else { return nil }
    let parts = path.dropFirst(Route.prefix.count).split(separator: "/", omittingEmptySubsequences: false)
      .map { PercentEncoding.decode($0) }
    guard parts.allSatisfy({ $0?.isEmpty == false }) else { return nil }
    let words = parts.compactMap { $0 }
    switch words {
    case ["about"]: self = .about
    case ["overview"]: self = .overview
    case ["health"]: self = .health
    case ["events"]: self = .events
    default:
      guard words.count > 2, words[0] == "stores", let store = Route.store(words[1]),
        let found = Route.ofStore(store, Array(words.dropFirst(2)))
      else { return nil }
      self = found
    }
  }

  private static func ofStore(_ store: StoreReference, _ words: [String]) -> Route? {
    let number = words.count > 2 ? Int64(words[2]) : words.count > 1 ? Int64(words[1]) : nil
    switch (words[0], words.count) {
    case ("unsent", 1): return .unsent(store)
    case ("conflicts", 1): return .conflicts(store)
    case ("conflicts", 3): return number.map { .conflict(store, soup: words[1], entry: $0) }
    case ("conflicts", 4) where words[3] == "resolve": return number.map { .resolve(store, soup: words[1], entry: $0) }
    case ("runs", 1): return .runs(store)
    case ("runs", 2): return number.map { .run(store, number: $0) }
    case ("requests", 1): return .requests(store)
    case ("query", 1): return .query(store)
    case ("discard", 1): return .discard(store)
    case ("soups", 4) where words[2] == "entries": return Int64(words[3]).map { .entry(store, soup: words[1], entry: $0) }
    case ("soups", 5) where words[2] == "entries" && words[4] == "explain":
      return Int64(words[3]).map { .explain(store, soup: words[1], entry: $0) }
    case ("syncs", 3) where words[2] == "run": return Int64(words[1]).map { .runSync(store, id: $0) }
    case ("syncs", 3) where words[2] == "stop": return Int64(words[1]).map { .stopSync(store, id: $0) }
    default: return nil
    }
  }

  /// `u:defaultStore` is a store of the user, `g:defaultStore` a global one.
  private static func store(_ word: String) -> StoreReference? {
    guard word.count > 2, word.hasPrefix("u:") || word.hasPrefix("g:") else { return nil }
    return StoreReference(name: String(word.dropFirst(2)), isGlobal: word.hasPrefix("g:"))
  }
}

/// The parameters of an address.
struct Parameters {
  private let values: [String: String]

  init(_ query: Substring) {
    values = Dictionary(
      query.split(separator: "&").compactMap { part -> (String, String)? in
        let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard sides.count == 2, let name = PercentEncoding.decode(sides[0]), let value = PercentEncoding.decode(sides[1]) else {
          return nil
        }
        return (name, value)
      }, uniquingKeysWith: { first, _ in first })
  }

  func text(_ name: String) -> String? { values[name].flatMap { $0.isEmpty ? nil : $0 } }
  func number(_ name: String) -> Int64? { values[name].flatMap { Int64($0) } }

  /// The number of elements of a list, and how many are skipped before it.
  var limit: Int { Int(min(max(number("limit") ?? 200, 1), Int64(Limits.rows))) }
  var after: Int { Int(min(max(number("after") ?? 0, 0), 1 << 40)) }
}
