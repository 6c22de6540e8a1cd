import Testing

@testable import Inspector

/// The stream of events, over real sockets.
@Suite(.ownThreads, .timeLimit(.minutes(60))) struct StreamTests {
  private func stream(_ home: InspectedHome, last: String? = nil) throws -> WireStream {
    try #require(WireStream(home.client, home.request("GET", "/api/v1/events", ["Last-Event-ID": last])))
  }

  /// The ids of the events in a text.
  private func ids(_ text: String?) -> [String] {
    (text ?? "").split(separator: "\n").filter { $0.hasPrefix("id: ") }.map { String($0.dropFirst(4)) }
  }

  @Test func row51_aWriteOfAnotherHost_isTold() async throws {
    let home = try InspectedHome(), stream = try stream(home)
    #expect(await stream.wait(for: "event: hello\n")?.contains("Content-Type: text/event-stream\r\n") == true)
    // The stores are known once the first look is over, which an unknown store's event shows.
    try InspectedHome.write(
      home.folder.path,
      [("pgRegisterSoup", ["storeName": "other", "soupName": "x", "indexes": [["path": "Id", "type": "string"]]])])
    #expect(await stream.wait(for: #""store":"u:other""#) != nil)
    try home.touch()
    #expect(await stream.wait(for: #""store":"u:defaultStore""#)?.contains("event: store\n") == true)
    stream.end()
    await home.stop()
  }

  @Test func row51_aCutStream_goesOnWithoutLoss() async throws {
    let home = try InspectedHome(), first = try stream(home)
    #expect(await first.wait(for: "event: hello\n") != nil)
    for i in 1...5 { home.inspector.send("sync", ["n": .integer(Int64(i))]) }
    let text = await first.wait(for: #""n":5}"#), seen = ids(text)
    #expect(seen.count == 5)
    first.end()
    let second = try stream(home, last: seen.dropFirst().first)
    let rest = await second.wait(for: #""n":5}"#)
    #expect(rest?.contains(#""n":3}"#) == true && rest?.contains(#""n":2}"#) == false && rest?.contains("resync") == false)
    second.end()
    let stranger = try stream(home, last: "other-3")
    #expect(await stranger.wait(for: "event: resync\n") != nil)
    stranger.end()
    await home.stop()
  }

  @Test func stream_afterMoreThanIsKept_isToldToReadAllAgain() async throws {
    let home = try InspectedHome(), first = try stream(home)
    #expect(await first.wait(for: "event: hello\n") != nil)
    first.end()
    for i in 1...(Limits.keptEvents + 50) { home.inspector.send("sync", ["n": .integer(Int64(i))]) }
    let probe = try stream(home)
    let hello = await probe.wait(for: "-\(Limits.keptEvents + 50)\"}") ?? ""
    let name = hello.components(after: "\"last\":\"").prefix { $0 != "-" }
    probe.end()
    let late = try stream(home, last: "\(name)-20")
    #expect(await late.wait(for: "event: resync\n") != nil, "\(hello)")
    late.end()
    let within = try stream(home, last: "\(name)-51")
    #expect(await within.wait(for: #""n":\#(Limits.keptEvents + 50)}"#)?.contains("resync") == false)
    within.end()
    await home.stop()
  }

  @Test func streams_beyondTheLimit_are503AndTheOthersGoOn() async throws {
    let home = try InspectedHome()
    var open: [WireStream] = []
    for _ in 0..<Limits.streams {
      let one = try stream(home)
      #expect(await one.wait(for: "event: hello\n") != nil)
      open.append(one)
    }
    let refused = await home.get("/api/v1/events")
    #expect(refused.status == 503 && refused.code == "tooManyPages")
    home.inspector.send("sync", ["n": 1])
    for one in open { #expect(await one.wait(for: #""n":1}"#) != nil) }
    open.removeFirst().end()
    // The server notices the end with its next look at the connection.
    var next = try stream(home)
    while await next.wait(for: "event: hello\n") == nil { next = try stream(home) }
    for one in open + [next] { one.end() }
    await home.stop()
  }
}

extension String {
  /// Returns the text after the first occurrence of `mark`; empty if there is none.
  fileprivate func components(after mark: String) -> Substring { firstRange(of: mark).map { self[$0.upperBound...] } ?? "" }
}
