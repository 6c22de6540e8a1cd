import Foundation
import TestSupport

/// An org with 2,000 contacts in pages of 200 that can hold back all pages from a certain one on.
/// Contact i was modified i seconds after the start of 2026. Supports the conditions `LastModifiedDate > ...` and `>= ...`.
final class PagedOrg: Sendable {
  static let total = 2000, pageSize = 200

  private let gate: Gate
  let server: ScriptedServer

  /// - Parameter holdsFrom: The first page to hold back; 0 is the first of a query.
  init(holdsFrom: Int = .max) throws {
    let gate = Gate(holdsFrom: holdsFrom)
    self.gate = gate
    server = try ScriptedServer { PagedOrg.answer($0, gate) }
  }

  deinit { gate.open() }

  /// Releases all pages.
  func open() { gate.open() }

  /// The variables with which `tureen run` signs in to this org.
  var environment: [String: String] {
    [
      "TUREEN_ORG": server.url, "TUREEN_CLIENT_ID": "client", "TUREEN_CLIENT_SECRET": "secret",
      "TUREEN_USERNAME": "someone@example.com", "TUREEN_PASSWORD": "password",
    ]
  }

  static func token(_ request: RecordedRequest) -> ScriptedAnswer? {
    guard request.path == "/services/oauth2/token" else { return nil }
    let url = "http://" + (request.header("Host") ?? "127.0.0.1")
    return .json(
      #"{"access_token":"00D!token","instance_url":"\#(url)","id":"\#(url)/id/00D000000000001AAA/005000000000001AAA"}"#)
  }

  private static func answer(_ request: RecordedRequest, _ gate: Gate) -> ScriptedAnswer {
    if let token = token(request) { return token }
    guard let query = request.path.components(separatedBy: "/query").last, request.path.contains("/query") else {
      return .restError(404, "NOT_FOUND", "no such resource")
    }
    // A locator is <first record of the query>-<offset>.
    let parts = query.split(separator: "-").compactMap { Int($0.drop { $0 == "/" }) }
    let first = parts.count == 2 ? parts[0] : since(request.query)
    let offset = parts.count == 2 ? parts[1] : 0
    gate.pass(page: offset / pageSize)
    return page(first: first, offset: offset)
  }

  /// Returns the first record that a query selects.
  private static func since(_ query: String) -> Int {
    let text = query.removingPercentEncoding?.replacingOccurrences(of: "+", with: " ") ?? query
    guard let filter = text.range(of: #"LastModifiedDate >=? [0-9T:.\-]+"#, options: .regularExpression) else { return 0 }
    let words = text[filter].split(separator: " ")
    guard let date = ISO8601DateFormatter().date(from: words[2].prefix(19) + "Z") else { return 0 }
    let second = Int(date.timeIntervalSince(start))
    let isExact = !words[2].contains(".") || words[2].contains(".000")
    return max(0, words[1] == ">=" && isExact ? second : second + 1)
  }

  private static let start = Date(timeIntervalSince1970: 1_767_225_600)

  private static func page(first: Int, offset: Int) -> ScriptedAnswer {
    let formatter = ISO8601DateFormatter()
    let from = first + offset, to = min(from + pageSize, total)
    let records = (from..<max(from, to)).map { i -> String in
      let date = formatter.string(from: start.addingTimeInterval(Double(i))).dropLast() + ".000+0000"
      let id = String(format: "003%015d", i)
      return #"{"attributes":{"type":"Contact"},"Id":"\#(id)","LastName":"Number \#(i)","LastModifiedDate":"\#(date)"}"#
    }
    let next = to < total ? #""nextRecordsUrl":"/services/data/v66.0/query/\#(first)-\#(offset + pageSize)","# : ""
    return .json(
      #"{"totalSize":\#(max(0, total - first)),"done":\#(to >= total),\#(next)"records":[\#(records.joined(separator: ","))]}"#)
  }
}

/// Blocks threads until it is opened.
private final class Gate: @unchecked Sendable {
  private let condition = NSCondition()
  private let holdsFrom: Int
  private var isOpen = false

  init(holdsFrom: Int) { self.holdsFrom = holdsFrom }

  func pass(page: Int) {
    condition.withLock { while page >= holdsFrom && !isOpen { condition.wait() } }
  }

  func open() {
    condition.withLock {
      isOpen = true
      condition.broadcast()
    }
  }
}
