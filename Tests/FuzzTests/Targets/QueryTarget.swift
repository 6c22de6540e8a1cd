import JSON
import Salesforce
import SandboxOrg
import TestSupport

/// A query language of the sandbox org: SOQL or SOSL. Any statement is answered, or refused as the service refuses it; none
/// changes the org.
struct QueryTarget: FuzzTarget {
  enum Language: String, Sendable { case soql, sosl }

  let language: Language
  var name: String { language.rawValue }
  var usualRounds: Int { language == .soql ? 600 : 900 }
  var dictionary: [String] { (language == .soql ? QueryWords.soql : QueryWords.sosl).map { " \($0) " } }
  let sessionRounds = 20_000

  func generated(_ random: inout SeededGenerator) -> [UInt8]? {
    if random.chance(5) {
      return Array(random.list(1...14, " ") { $0.pick(language == .soql ? QueryWords.soql : QueryWords.sosl) }.utf8)
    }
    return Array((language == .soql ? SOQLGrammar.statement(&random) : SOSLGrammar.statement(&random)).utf8)
  }

  func open() async throws -> any FuzzSession {
    var configuration = SandboxConfiguration()
    configuration.seed = .custom(accounts: 3, contacts: 20)
    configuration.clock = ManualSandboxClock()
    let server = try await SandboxServer.start(configuration)
    return try Session(server, language)
  }

  private final class Session: FuzzSession {
    private let server: SandboxServer
    private let language: Language
    private let before: [String]

    init(_ server: SandboxServer, _ language: Language) throws {
      self.server = server
      self.language = language
      before = try Self.contents(server)
    }

    private static func contents(_ server: SandboxServer) throws -> [String] {
      // FOR VIEW changes when a record was last viewed, and nothing else.
      try ["Account", "Contact", "User", "Task"].map {
        try server.query("SELECT Id, LastModifiedDate, SystemModstamp FROM \($0) ORDER BY Id", includeDeleted: true).text
      }
    }

    func run(_ input: [UInt8]) throws -> FuzzOutcome {
      let statement = String(decoding: input, as: UTF8.self)
      do {
        return .accepted(try language == .soql ? query(statement) : search(statement))
      } catch let error as SandboxError {
        try FuzzFailure.unless(error.status == 400, "status \(error.status): \(error)")
        try FuzzFailure.unless(Self.codes.contains(error.code), "the code \(error.code): \(error.message)")
        try FuzzFailure.unless(!error.message.isEmpty, "\(error.code) without a message")
        // The lines before the last one quote the statement.
        return .refused("\(error.code) \(error.message.split(separator: "\n").last ?? "")")
      }
    }

    /// The codes with which the service refuses statements.
    private static let codes: Set = [
      "MALFORMED_QUERY", "INVALID_FIELD", "INVALID_TYPE", "INVALID_QUERY_FILTER_OPERATOR", "NUMBER_OUTSIDE_VALID_RANGE",
      "MALFORMED_SEARCH",
      "MALFORMED_ID", "INVALID_TYPE_FOR_OPERATION", "EXCEEDED_ID_LIMIT",
    ]

    func finish() throws {
      try FuzzFailure.unless(try Self.contents(server) == before, "a statement changed records")
    }

    func close() async { await server.stop() }

    // MARK: SOQL

    private func query(_ statement: String) throws -> String {
      let answer = try server.query(statement), records = answer["records"]?.arrayValue ?? []
      let total = answer["totalSize"]?.integerValue
      try FuzzFailure.unless(
        answer["done"] == true && total != nil, "an answer without 'done' or 'totalSize': \(answer.text.prefix(300))")
      try FuzzFailure.unless(
        records.isEmpty || records.count == Int(total ?? -1), "\(records.count) records, and a total of \(total ?? -1)")
      try FuzzFailure.unless(records.allSatisfy { $0["attributes"]?["type"] != nil }, "a record without a type")
      try compareEdited(statement, answer)
      return "\(FuzzSignal.magnitude(records.count)) \(FuzzSignal.shape(records.first ?? .null))"
    }

    /// The client changes queries before it sends them; the org must accept the changed ones, and give as many records.
    private func compareEdited(_ statement: String, _ answer: JSONValue) throws {
      let query = SOQLQuery(statement)
      // The client drops a LIMIT of 0, and knows only queries with lists of fields.
      guard query.hasSelect, query.hasFrom, !query.isAggregate, !query.isLimited else { return }
      try compare(query.text, answer, "rewritten")
      if !query.isSelecting("Id") { try compare(query.addingSelect("Id").text, answer, "with another field") }
      guard query.type != nil else { return }
      try compare(query.addingWhere("Id != null").text, answer, "with another condition")
      try compare(query.replacingOrderBy("Id").text, answer, "with another order")
    }

    private func compare(_ changed: String, _ answer: JSONValue, _ what: String) throws {
      let again: JSONValue
      do { again = try server.query(changed) } catch {
        throw FuzzFailure(message: "\(what), the query is refused: \(error): \(changed)")
      }
      try FuzzFailure.unless(
        again["totalSize"] == answer["totalSize"],
        "\(what), the query gives \(again["totalSize"]?.text ?? "") records, not \(answer["totalSize"]?.text ?? ""): \(changed)")
    }

    // MARK: SOSL

    private func search(_ statement: String) throws -> String {
      let answer = try server.search(statement)
      guard let records = answer["searchRecords"]?.arrayValue else {
        throw FuzzFailure(message: "an answer without 'searchRecords'")
      }
      try FuzzFailure.unless(
        records.allSatisfy { $0["attributes"]?["type"] != nil }, "a record without a type: \(answer.text.prefix(300))")
      try FuzzFailure.unless(records.count <= 2_000, "\(records.count) records")
      let types = Set(records.compactMap { $0["attributes"]?["type"]?.stringValue })
      return "\(FuzzSignal.magnitude(records.count)) \(types.sorted()) \(FuzzSignal.shape(records.first ?? .null))"
    }
  }
}
