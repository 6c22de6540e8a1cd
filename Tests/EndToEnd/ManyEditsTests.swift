import Foundation
import JSON
import Synchronization
import TestSupport
import Testing

/// Ten tasks of two processes edit the records of an org, a JSON collection and a Parse server, each its own field, while both
/// processes sync. In the end every edit is on the server and in the store, beside its neighbours, and nobody has a conflict.
///
/// `TUREEN_EDITS` sets the number of edits of each task, `TUREEN_SEED` their order.
@Suite(.timeLimit(.minutes(60))) struct ManyEditsTests {
  private static let edits = RandomSeed.count("EDITS", usual: 30)
  private static let again = RandomSeed.again(Self.self, ["EDITS": edits])

  @Test func edits_ofTwoProcessesWhileBothSync_areAllOnTheServers() async throws {
    let collection = try EditedCollection(), place = try Workplace()
    let sandbox = try await Sandbox(place, options: ["--contacts", "0", "--accounts", "0"])
    let script = Built.package.path + "/Tests/EndToEnd/Programs/many_edits.lua"
    func child(_ what: String...) throws -> Child {
      try Child(Built.tureen, ["run", "--quiet", "--home", place.home, script, collection.server.url] + what, in: place.path)
    }
    let setup = try await child("setup").ended()
    #expect(
      setup.status == 0
        && setup.output == "contacts\tDONE\t12\tDONE\t12\nitems\tDONE\t12\tDONE\t12\nthings\tDONE\t12\tDONE\t12\n",
      "\(setup)")
    let seed = RandomSeed.value % 1_000_000
    let editors = try ["a", "b"].map { try child("edit", $0, "\(Self.edits)", "\(seed + ($0 == "a" ? 0 : 1))") }
    let ended = await [editors[0].ended(), editors[1].ended()]
    for end in ended { #expect(end.status == 0, "\(Self.again)\n\(end.complaints)") }
    let finish = try await child("finish").ended()
    #expect(finish.status == 0, "\(Self.again)\n\(finish.complaints)")
    check(finish.output, Self.written(ended.map(\.output)))
    sandbox.child.send(SIGINT)
    _ = await sandbox.child.ended()
  }

  /// Returns the last value of each field that was written, by `soup record field`.
  private static func written(_ outputs: [String]) -> [String: String] {
    var written: [String: String] = [:], lines = 0
    for line in outputs.flatMap({ $0.split(separator: "\n") }) {
      let parts = line.split(separator: "\t").map(String.init)
      guard parts.count == 5, parts[0] == "wrote" else { continue }
      written[parts[1...3].joined(separator: " ")] = parts[4]
      lines += 1
    }
    #expect(lines == 10 * edits)
    return written
  }

  private func check(_ output: String, _ written: [String: String]) {
    var fields = 0, wrong: [String] = []
    for line in output.split(separator: "\n") {
      let parts = line.split(separator: "\t").map(String.init)
      if parts.first == "end" {
        #expect(Array(parts[2...]) == ["DONE", "DONE", "0", "0"], "\(Self.again)\n\(line)")
        continue
      }
      fields += 1
      let expected = written[parts[1...3].joined(separator: " ")] ?? "0"
      if parts[4] != expected { wrong.append("\(line), not \(expected)") }
    }
    #expect(fields == 2 * 3 * 12 * 10 && wrong.isEmpty, "\(Self.again)\n\(wrong.prefix(20).joined(separator: "\n"))")
  }
}

/// A collection of JSON records with tags and dates.
private final class EditedCollection: Sendable {
  let server: ScriptedServer

  init() throws {
    let rows = Mutex<[JSONObject]>([])
    server = try ScriptedServer(handler: { request in rows.withLock { Self.answer(request, &$0) } })
  }

  private static func answer(_ request: RecordedRequest, _ rows: inout [JSONObject]) -> ScriptedAnswer {
    if request.path == "/items", request.method == "GET" { return .json(JSONValue.array(rows.map { .object($0) }).text) }
    let sent = (try? JSONValue(parsing: request.body))?.objectValue ?? [:]
    if request.path == "/items" {
      rows.append(stamped(sent, id: Int64(rows.count + 1), version: 1))
      return one(rows[rows.count - 1], status: 201)
    }
    guard let number = Int(request.path.dropFirst("/items/".count)), rows.indices.contains(number - 1) else {
      return .status(404)
    }
    guard request.method == "PATCH" else { return one(rows[number - 1]) }
    let version = rows[number - 1]["version"]?.integerValue ?? 0
    if let tag = request.header("If-Match"), tag != "\"\(version)\"" { return .json(#"{"message":"changed"}"#, status: 412) }
    var row = rows[number - 1]
    for (key, value) in sent { row[key] = value }
    rows[number - 1] = stamped(row, id: Int64(number), version: version + 1)
    return one(rows[number - 1])
  }

  private static func stamped(_ row: JSONObject, id: Int64, version: Int64) -> JSONObject {
    var row = row
    row["id"] = .integer(id)
    row["version"] = .integer(version)
    row["updated_at"] = .string(String(format: "2026-11-01T%02d:%02d:%02dZ", version / 3600, version / 60 % 60, version % 60))
    return row
  }

  private static func one(_ row: JSONObject, status: Int = 200) -> ScriptedAnswer {
    .json(JSONValue.object(row).text, status: status, headers: [("ETag", "\"\(row["version"]?.integerValue ?? 0)\"")])
  }
}
