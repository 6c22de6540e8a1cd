import JSON
import SmartStore

/// Look-ups by an indexed path from Swift.
///
/// usage: EngineBench lookups STORE ROWS COUNT. Prints `engine_lookups PER_SECOND`. The store is the one that store.lua filled.
enum Lookups {
  static func run(_ arguments: [String]) throws {
    guard arguments.count == 4, let rows = Int(arguments[2]), let count = Int(arguments[3]), rows > 0, count > 0 else {
      fatalError("usage: EngineBench lookups STORE ROWS COUNT")
    }
    let store = try Store(name: "bench", isGlobal: false, path: arguments[1], key: nil)
    defer { store.close() }
    let ids = (0..<count).map { id($0 * 7919 % rows + 1) }
    let taken = try ContinuousClock().measure {
      for id in ids {
        var spec = QuerySpec(kind: .exact)
        spec.indexPath = "Id"
        spec.matchKey = .string(id)
        spec.pageSize = 1
        let text = try store.query(spec, soup: "contacts")
        guard text.count > 2 else { fatalError("a row is missing") }
      }
    }
    let seconds = Double(taken.components.seconds) + Double(taken.components.attoseconds) / 1e18
    print("engine_lookups \(Int(Double(count) / seconds))")
  }

  /// As store.lua writes them.
  private static func id(_ number: Int) -> String {
    let digits = String(number)
    return "003" + String(repeating: "0", count: 15 - digits.count) + digits
  }
}
