import Foundation
import JSON
import SandboxOrg
import Testing

/// A service with its own fault: it forgets what it knew.
private struct ForgetfulService: ServerService {
  var faultKinds: [FaultKind] {
    let words = FaultParameter("words", .integer(1...9), 1, "how many are left")
    return [
      FaultKind("forget", .service, "Most of the answer is forgotten.", [words], applies: { $0.segments.first == "words" }) { _ in
        .service(isAnswered: true)
      },
      FaultKind("vanish", .status, "Nothing is there any more.") { _ in .answer(.text(410, "gone"), executed: false) },
    ]
  }

  func reply(to request: ServerRequest) async -> ServerReply {
    let words = ["all", "these", "words"]
    let left = request.faults.first { $0.kind == "forget" }?.integer("words") ?? words.count
    return .text(200, words.prefix(left).joined(separator: " "))
  }
}

/// Faults of mounted services, and faults on connections with TLS.
@Suite struct FaultServiceTests {
  @Test func mountedService_addsKindsOfItsOwn() async throws {
    var configuration = SandboxConfiguration()
    configuration.seed = .none
    configuration.mounts = [Mount(.prefix("/memory"), ForgetfulService())]
    let server = try await SandboxServer.start(configuration)
    #expect(server.faults.kinds.map(\.name).suffix(2) == ["forget", "vanish"])
    let client = WireClient(port: server.port)
    try server.faults.add(FaultRule(text: "forget words=2 nth=2 path=/memory/**", kinds: server.faults.kinds))
    try server.faults.add(Fault("vanish"), when: .nth(4))
    for _ in 0..<2 {
      server.faults.reset(seed: 3)
      var answers: [String] = []
      for path in ["/memory/words", "/memory/other", "/memory/words", "/memory/words"] {
        answers.append(try await client.send("GET", path).text)
      }
      #expect(answers == ["all these words", "all these words", "all these", "gone"])
    }
    #expect(throws: SandboxError.self) { try server.faults.add(Fault("forget", ["words": 10])) }
    await server.stop()
    // Another server does not know them.
    try await withOrg { other, _ in #expect(throws: SandboxError.self) { try other.faults.add(Fault("forget")) } }
  }

  @Test func tls_faults_areSeenByCurl() async throws {
    try await withFolder { folder in
      var configuration = SandboxConfiguration()
      configuration.seed = .none
      configuration.tls = .generated(folder: folder)
      let server = try await SandboxServer.start(configuration)
      let kinds: [Fault] = [
        .dropBeforeHandling(), .dropBeforeResponse(reset: true), .dropInsideResponse(bytes: 5),
        .truncateBody(bytes: 7, framing: .chunked),
        .dropInsideResponse(bytes: 9, reset: true), .dropAfterResponse(), .unavailable(retryAfter: .seconds(3)),
        .htmlPage(status: 503), .trickle(bytesPerSecond: 10_000_000), .latency(milliseconds: 1),
      ]
      for (index, fault) in kinds.enumerated() { try server.faults.add(fault, when: .nth(index + 1)) }
      var size = 0
      try await withOrg { _, client in size = try await client.send("GET", "/services/data").body.count }
      for _ in 0..<2 {
        server.faults.reset(seed: 5)
        let output = try await shell(
          #"""
          for n in 1 2 3 4 5 6 7 8 9 10 11; do
            : >"$OUT"
            curl -s -o "$OUT" -w '%{http_code} ' --cacert "$CA" "$URL/services/data"
            echo "$? $(wc -c <"$OUT")"
          done
          """#, ["CA": folder + "/ca.pem", "URL": server.url, "OUT": folder + "/out"])
        let lines = output.split(separator: "\n").map { $0.split(separator: " ").map { Int($0) ?? -1 } }
        try #require(lines.count == 11 && lines.allSatisfy { $0.count == 3 }, "\(output)")
        #expect(lines.map(\.first) == [0, 0, 200, 200, 200, 200, 503, 503, 200, 200, 200], "\(output)")
        // curl's exit status: 18 for a partial body, 52 for no answer, 56 and 35 for a reset.
        #expect(lines[0][1] == 52 && [35, 56].contains(lines[1][1]) && lines[2][1] == 18, "\(output)")
        #expect([18, 56].contains(lines[3][1]), "\(output)")
        #expect([18, 56].contains(lines[4][1]) && lines[5...].allSatisfy { $0[1] == 0 }, "\(output)")
        #expect(lines[2][2] == 5 && lines[3][2] == 7, "\(output)")
        #expect([5, 8, 10].allSatisfy { lines[$0][2] == size }, "\(output)")
      }
      await server.stop()
      #expect(server.requests().prefix(11).map(\.faults) == kinds.map { [$0.kind] } + [[]])
    }
  }
}
