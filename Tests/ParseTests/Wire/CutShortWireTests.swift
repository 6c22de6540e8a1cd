import JSON
import SandboxParse
import TestSupport
import Testing

@testable import MobileSync
@testable import Parse
@testable import RestClient

/// Tests network failures during an upload of several requests: results already received are kept.
struct CutShortWireTests {
  /// Nothing identifies the creates except their responses.
  private static let lists: JSONObject = ["createFieldlist": ["n"], "updateFieldlist": ["n"], "transaction": true]

  @Test func transactionSentOneByOne_thatIsCutOff_keepsTheAnswersBefore() async throws {
    try await ParseBench.with { bench async throws in
      for n in 0..<4 { try bench.make(["objectId": .string("local_\(n)"), "n": .integer(Int64(n))]) }
      try bench.server.faults.add(Fault("internalError"), path: "/parse/batch", times: 1)
      try bench.server.faults.add(
        .dropBeforeHandling(), when: .nth(3), path: "/parse/classes/Book", method: "POST")
      let state = try await bench.up("Book", Self.lists)
      #expect(state.status == .failed && state.counts.succeeded == 2 && state.counts.inDoubt == 1)
      #expect(try await bench.objects("Book").count == 2)
      #expect(try bench.entries().count { $0["__local__"] == false } == 2)
      bench.server.faults.clear()
      // The create after the gap is sent; the one in the gap is doubtful.
      try await bench.again("up")
      #expect(try await bench.objects("Book").compactMap { $0["n"]?.integerValue }.sorted() == [0, 1, 3])
    }
  }

  @Test func batchesThatWereHalved_thatAreCutOff_keepTheAnswersBefore() async throws {
    try await ParseBench.with { bench async throws in
      for n in 0..<8 { try bench.make(["objectId": .string("local_\(n)"), "n": .integer(Int64(n))]) }
      try bench.server.faults.add(
        .answer(status: 413, body: #"{"error":"request entity too large"}"#), path: "/parse/batch", times: 1)
      try bench.server.faults.add(.dropBeforeHandling(), when: .nth(3), path: "/parse/batch")
      let state = try await bench.up("Book", ["createFieldlist": ["n"], "updateFieldlist": ["n"]])
      #expect(state.status == .failed && state.counts.succeeded == 4 && state.counts.inDoubt == 4)
    }
  }

  @Test func links_cutOffBehindTheFirstBatch_areDoneWithAsFarAsTheyWent() async throws {
    try await ParseBench.with(links: ["links"]) { bench async throws in
      let author = try await bench.create("Author", ["name": "a"])
      let books = try await bench.create("Book", count: 60) { ["n": .integer(Int64($0))] }
      try await bench.down()
      for book in books { try bench.make(LinkRow("Book", book, "authors", author).json, "links") }
      // A link may be sent twice: the connection retries transient errors.
      try bench.server.faults.add(.htmlPage(status: 404), when: .nth(2), path: "/parse/batch")
      let target: JSONObject = [
        "createFieldlist": ["n"], "updateFieldlist": ["n"],
        "relations": [["field": "authors", "className": "Author", "linkSoup": "links"]],
      ]
      _ = try? await bench.up("Book", target)
      #expect(try bench.entries("links").count { $0["__local__"] == true } == 10)
    }
  }

  @Test func save_cutOffBehindTheFirstBatch_saysWhatWasSaved() async throws {
    try await ParseBench.with { bench async throws in
      let client = try ParseClient(bench.connections.connection(named: "default"))
      try bench.server.faults.add(.dropBeforeHandling(), when: .nth(2), path: "/parse/batch")
      let results = await client.save((0..<120).map { ParseObject("Book", ["n": .integer($0)]) })
      let saved = results.prefix { if case .success = $0 { true } else { false } }
      #expect(saved.count == 50)
      let unknown = results.map { result in if case .failure(let error) = result { error.isUnknown } else { false } }
      #expect(unknown.count { $0 } == 50, "of the last 20 it is certain that they were not sent")
      #expect(try await bench.objects("Book").count == 50)
    }
  }
}
