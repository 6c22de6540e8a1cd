import Foundation
import JSON
import SandboxParse
import Testing

/// Replays whole requests of two SDKs from the files in `Fixtures`, byte by byte.
@Suite struct FixtureTests {
  @Test func javaScript_fixtures_giveTheirAnswers() async throws { try await replay("javascript.txt", atLeast: 25) }

  @Test func swift_fixtures_giveTheirAnswers() async throws { try await replay("swift.txt", atLeast: 15) }

  private func replay(_ file: String, atLeast count: Int) async throws {
    let fixtures = try Fixture.all(in: file)
    #expect(fixtures.count >= count)
    var configuration = ParseConfiguration()
    configuration.clock = ManualSandboxClock()
    configuration.keys.applicationId = "app1"
    configuration.keys.javascriptKey = "js1"
    configuration.keys.clientKey = "client1"
    configuration.keys.masterKey = "master1"
    configuration.isSeeded = false
    let server = try await ParseServer.start(configuration)
    let client = ParseClient(port: server.port, keys: server.keys)
    var names: [String: String] = [:]
    for fixture in fixtures {
      guard let answer = try? await client.exchange(fixture.bytes(names)) else {
        Issue.record("\(file), \(fixture.name): no answer")
        continue
      }
      let isExpected = answer.status == fixture.status && fixture.isAnswered(by: answer, &names)
      #expect(isExpected, "\(file), \(fixture.name): \(answer.status) \(answer.text)")
    }
    await server.stop()
  }
}

/// A request of a file with its expected answer.
private struct Fixture {
  let name: String
  let request: Substring, answer: String
  let status: Int

  static func all(in file: String) throws -> [Fixture] {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    let text = try String(contentsOf: folder.appendingPathComponent("Fixtures/\(file)"), encoding: .utf8)
    return try text.components(separatedBy: "\n=== ").dropFirst().map { block in
      let name = block.prefix { $0 != "\n" }
      let end = try #require(block.range(of: "\n--- "), "\(name) has no answer")
      let line = block[end.upperBound...].prefix { $0 != "\n" }
      return Fixture(
        name: String(name), request: block[name.endIndex..<end.lowerBound].dropFirst(), answer: String(line.dropFirst(4)),
        status: try #require(Int(line.prefix(3)), "\(name) has no status"))
    }
  }

  /// Returns the request with names replaced by remembered values.
  func bytes(_ names: [String: String]) -> [UInt8] {
    var text = String(request)
    for (name, value) in names { text = text.replacing(name, with: value) }
    let parts = (text + "\n").split(separator: "\n\n", maxSplits: 1)
    let head = parts[0].replacing("\n", with: "\r\n") + "\r\n\r\n"
    return Array((head + (parts.count > 1 ? String(parts[1].dropLast()) : "")).utf8)
  }

  func isAnswered(by given: ParseClient.Answer, _ names: inout [String: String]) -> Bool {
    guard let wanted = try? JSONValue(parsing: Array(answer.utf8)) else { return given.text == answer }
    return Self.matches(given.json, wanted, &names)
  }

  private static func matches(_ given: JSONValue, _ wanted: JSONValue, _ names: inout [String: String]) -> Bool {
    switch wanted {
    case "*": return given.stringValue?.isEmpty == false
    case "{}": return given.objectValue != nil
    case .string(let name) where name.hasPrefix("<"):
      guard let text = given.stringValue, text.utf8.count == name.utf8.count else { return false }
      return names.updateValue(text, forKey: name).map { $0 == text } ?? true
    case .array(let items):
      guard let list = given.arrayValue, list.count == items.count else { return false }
      for (one, item) in zip(list, items) where !matches(one, item, &names) { return false }
      return true
    case .object(let members):
      guard let object = given.objectValue, object.count == members.count else { return false }
      for (key, member) in members {
        guard let found = object[names[key] ?? key], matches(found, member, &names) else { return false }
      }
      return true
    default: return given == wanted
    }
  }
}
