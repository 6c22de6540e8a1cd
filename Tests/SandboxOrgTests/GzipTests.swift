import Foundation
import JSON
import Testing

@testable import SandboxOrg

private let data = "/services/data/v66.0"

@Suite struct GzipTests {
  // MARK: Bodies

  @Test(arguments: [0, 1, 1_000, 65_536, 300_000])
  func gzip_anySize_comesBackTheSame(size: Int) throws {
    let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* $0 / 7) }
    let packed = try #require(Gzip.encoded(bytes))
    #expect(try Gzip.decoded(packed, limit: size) == bytes)
    if size > 0 {
      #expect(throws: Gzip.Problem.tooLarge) { try Gzip.decoded(packed, limit: size - 1) }
      #expect(throws: Gzip.Problem.broken) { try Gzip.decoded(Array(packed.dropLast()), limit: size) }
    }
    #expect(try Gzip.decoded(packed + packed, limit: 2 * size) == bytes + bytes)
    #expect(throws: Gzip.Problem.broken) { try Gzip.decoded(packed + [1, 2, 3], limit: 2 * size + 9) }
  }

  /// Whatever byte is changed, decoding ends without a crash.
  @Test func gzip_damagedData_isRefusedOrReadsTheSame() throws {
    let bytes = Array("some text, some text, some more text".utf8)
    let packed = try #require(Gzip.encoded(bytes))
    var refused = 0
    for index in packed.indices {
      var damaged = packed
      damaged[index] ^= 0x55
      // The header has fields that are not checked.
      if let result = try? Gzip.decoded(damaged, limit: 1_000) { #expect(result == bytes) } else { refused += 1 }
    }
    #expect(refused > packed.count / 2)
  }

  // MARK: Requests

  @Test(arguments: ["gzip", "GZIP", "x-gzip"])
  func request_compressed_isRead(coding: String) async throws {
    try await withOrg { server, client in
      let body = try #require(Gzip.encoded(Array(#"{"Name":"Packed"}"#.utf8)))
      let headers = [("Content-Type", "application/json"), ("Content-Encoding", coding)]
      let answer = try await client.send("POST", "\(data)/sobjects/Account", headers: headers, body: body)
      #expect(answer.status == 201)
      #expect(try server.query("SELECT Name FROM Account")["records"]?.arrayValue?.first?["Name"] == "Packed")
    }
  }

  @Test func request_brokenOrHugeOrUnknownCoding_isRefusedAndTheServerGoesOn() async throws {
    try await withOrg { server, client in
      func send(_ coding: String, _ body: [UInt8]) async throws -> WireClient.Answer {
        let headers = [("Content-Type", "application/json"), ("Content-Encoding", coding)]
        return try await client.send("POST", "\(data)/sobjects/Account", headers: headers, body: body)
      }
      let plain = Array(#"{"Name":"A"}"#.utf8)
      let packed = try #require(Gzip.encoded(plain))
      let bomb = try #require(Gzip.encoded([UInt8](repeating: 0x20, count: ServerTuning.requestBodyBytes + 1)))
      for (coding, body, status, code) in [
        ("gzip", plain, 400, "BAD_REQUEST"), ("gzip", Array(packed.dropLast(4)), 400, "BAD_REQUEST"),
        ("gzip", [], 400, "BAD_REQUEST"), ("gzip", bomb, 413, "REQUEST_ENTITY_TOO_LARGE"),
        ("br", plain, 415, "UNSUPPORTED_MEDIA_TYPE"), ("identity", plain, 201, nil),
      ] as [(String, [UInt8], Int, String?)] {
        let answer = try await send(coding, body)
        #expect(answer.status == status && answer.errorCode == code)
      }
      #expect(try server.query("SELECT COUNT() FROM Account")["totalSize"] == 1)
    }
  }

  // MARK: Answers

  @Test(
    arguments: [
      ("gzip", true), ("deflate, gzip;q=0.5", true), ("*", true), ("gzip;q=0", false), ("identity", false), ("", false),
      ("*;q=0, gzip", true), ("gzip;q=0, *", false), ("br", false),
    ])
  func answer_asAccepted_isCompressed(accept: String, isCompressed: Bool) async throws {
    try await withOrg(seed: .custom(accounts: 1, contacts: 200)) { _, client in
      let plain = try await client.query("SELECT Id, Name, Email FROM Contact")
      let answer = try await client.query("SELECT Id, Name, Email FROM Contact", headers: [("Accept-Encoding", accept)])
      #expect(answer.headers["content-encoding"] == (isCompressed ? "gzip" : nil))
      #expect(answer.headers["vary"] == "Accept-Encoding")
      #expect(try isCompressed ? Gzip.decoded(answer.body, limit: 10_000_000) == plain.body : answer.body == plain.body)
      #expect(!isCompressed || answer.body.count < plain.body.count / 3)
    }
  }

  @Test func answer_tiny_isNotCompressed() async throws {
    try await withOrg { _, client in
      let answer = try await client.query("SELECT Id FROM Account", headers: [("Accept-Encoding", "gzip")])
      #expect(answer.status == 200 && answer.headers["content-encoding"] == nil)
    }
  }
}
