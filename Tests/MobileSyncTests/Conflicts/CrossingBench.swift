import JSON
import Synchronization
import Testing

@testable import MobileSync

/// One record that two processes on one store have brought down.
final class CrossingBench: Sendable {
  let world: ClientWorld
  let id: String
  let background = Mutex<Task<Void, any Error>?>(nil)

  init(_ mode: ClientScript.Mode, _ upload: UploadKind) async throws {
    world = try ClientWorld(.oneStore)
    var script = ClientScript(layout: .oneStore, hazards: [], seed: 1)
    (script.mode, script.upload, script.clocks) = (mode, upload, [0, 0])
    try world.begin(script)
    id = try world.org.create(["Name": "A"])
    for n in 0..<2 { try await sync(n, .down) }
    world.org.clock.advance(by: 5)
  }

  @discardableResult
  func sync(_ client: Int, _ word: ClientStep.Word) async throws -> SyncState {
    let end = try await world.clients[client].manager.reSync(named: world.clients[client].name(word))
    #expect(end.status == .done && end.counts.failed == 0 && end.counts.conflicting == 0)
    return end
  }

  /// The first process syncs down; `body` runs between the answer and its storing.
  func down(whenAnswered body: @escaping @Sendable () async throws -> Void) async throws {
    try await during(1, of: 0, body) { try await self.sync(0, .down) }
  }

  /// The second process sends an edit.
  /// - Parameters:
  ///   - request: Which of its requests is the update, counted from 1.
  ///   - body: Runs after the server has it and before the process knows.
  func editAndSend(
    _ fields: JSONObject, at request: Int = 1, _ body: @escaping @Sendable () async throws -> Void = {}
  ) async throws {
    try edit(fields)
    try await during(request, of: 1, body) { try await self.sync(1, .up) }
  }

  private func during(
    _ request: Int, of client: Int, _ body: @escaping @Sendable () async throws -> Void,
    _ run: () async throws -> SyncState
  ) async throws {
    let network = world.clients[client].network
    var plan = DirectClient.Plan()
    plan.after[request] = [
      {
        do { try await body() } catch { Issue.record(error) }
      }
    ]
    network.follow(plan)
    _ = try await run()
    network.follow(DirectClient.Plan())
  }

  func edit(_ fields: JSONObject) throws {
    var entry = try #require(try self.entry())
    for (key, value) in fields { entry[key] = value }
    entry["__local__"] = true
    entry["__locally_updated__"] = true
    try world.clients[1].save(entry)
  }

  func entry() throws -> JSONObject? { try world.clients[0].entries().first }

  /// Returns the fields of the record on the server, or `-`.
  func onServer() throws -> String {
    let record = try #require(try world.org.records(["Name"] + ScenarioClient.allFields).first)
    return ScenarioClient.allFields.map { record[$0]?.stringValue ?? "-" }.joined(separator: ", ")
  }
}
