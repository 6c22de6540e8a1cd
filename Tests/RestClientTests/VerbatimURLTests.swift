import JSON
import TestSupport
import Testing

@testable import RestClient

/// URLs arrive as the request log shows them, wherever they come from.
@Suite(.timeLimit(.minutes(60))) struct VerbatimURLTests {
  /// A path and its spelling in the request line, for both the path and the query.
  static let spellings = [
    ("/in%20progress[1]?filter[a]=in%20progress", "/in%20progress[1]?filter[a]=in%20progress"),
    ("/a{b}|c?d={e}|[f]", "/a{b}|c?d={e}|[f]"),
    ("/100%/x?y=5%&z=%41", "/100%25/x?y=5%25&z=%41"), ("/caf%c3%a9?%7Ba%7d=%5b", "/caf%c3%a9?%7Ba%7d=%5b"),
    ("/a;b=c,d:e@f!$&'()*+?~-._/?:@", "/a;b=c,d:e@f!$&'()*+?~-._/?:@"), ("/a\"<>?\\^`", "/a%22%3C%3E?%5C%5E%60"),
  ]

  private func sent(_ bed: ConnectionBed, _ server: ScriptedServer, _ body: (RestConnection) async throws -> Void) async throws
    -> [String]
  {
    try await bed.with(server) { try await body($0) }
    // "2026-… request 1 api GET http://127.0.0.1:1/a 200 …"
    let logged = bed.written.text.split(separator: "\n").map {
      String($0.split(separator: " ")[5].dropFirst(server.url.utf8.count))
    }
    #expect(logged == server.requests.map(\.target))
    return server.requests.map(\.target)
  }

  @Test(arguments: spellings)
  func sendRequest_pathAndAbsoluteURL(path: String, target: String) async throws {
    let server = try ScriptedServer(handler: { _ in .json("{}") }), bed = ConnectionBed(level: .info)
    let targets = try await sent(bed, server) { connection in
      _ = try await connection.get(path)
      _ = try await connection.get(server.url + path)
    }
    #expect(targets == [target, target])
  }

  @Test(arguments: spellings)
  func redirect_location(location: String, target: String) async throws {
    let server = try ScriptedServer(.status(307, headers: [("Location", location)]), .json("{}"))
    let bed = ConnectionBed(level: .info)
    #expect(try await sent(bed, server) { _ = try await $0.get("/start") } == ["/start", target])
  }

  /// Blanks and letters are what servers forget to encode.
  @Test func redirect_locationWithBlanksAndLetters_isEncodedOnce() async throws {
    let server = try ScriptedServer(.status(307, headers: [("Location", "/in progress/é?a[]=in%20progress é")]), .json("{}"))
    let bed = ConnectionBed(level: .info)
    let targets = try await sent(bed, server) { _ = try await $0.get("/start") }
    #expect(targets == ["/start", "/in%20progress/%C3%A9?a[]=in%20progress%20%C3%A9"])
  }

  @Test func query_parametersAreEncodedOnce() async throws {
    let server = try ScriptedServer(handler: { _ in .json("{}") }), bed = ConnectionBed(level: .info)
    let targets = try await sent(bed, server) { connection in
      let query = [(name: "a[]", value: "50% {x}|y+z"), (name: "b", value: "%41")]
      _ = try await connection.send(RestRequest(.GET, "/x[1]?c=[d]", query: query))
    }
    #expect(targets == ["/x[1]?c=[d]&a%5B%5D=50%25%20%7Bx%7D%7Cy%2Bz&b=%2541"])
  }
}
