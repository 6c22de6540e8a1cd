import Foundation
import JSON
import SandboxOrg
import Testing

/// Runs all kinds against the same requests: each takes effect on some, and identically with the
/// same seed.
@Suite struct FaultRepeatTests {
  /// What a client observed for one request.
  private struct Seen: Equatable {
    let status: Int, bytes: Int
    let ending: FaultWire.Ending
    let faults: [String]
  }

  /// Sends pages, writes, a collection and a session refresh, three times, to a new org.
  private func course(_ kind: FaultKind, seed: UInt64) async throws -> [Seen] {
    let data = "/services/data/v66.0"
    let records = ["X", "Y", "Z"].map { "{\"attributes\":{\"type\":\"Account\"},\"Name\":\"\($0)\"}" }.joined(separator: ",")
    var course: [Seen] = []
    try await withOrg(seed: .custom(accounts: 1, contacts: 12), pageSize: 5) { server, client in
      server.faults.reset(seed: seed)
      try server.faults.add(kind.sample, when: .probability(0.5))
      var next = "\(data)/query/none-5"
      func ask(
        _ method: String, _ target: String, type: String = "application/json", body: String? = nil
      ) async throws -> FaultWire.Answer {
        let wire = try FaultWire(port: server.port)
        wire.send(method, target, token: client.token, keepsOpen: false, type: type, body: body)
        let answer = try await wire.rest()
        let logged = server.requests().last
        course.append(Seen(status: answer.status, bytes: answer.body.count, ending: answer.ending, faults: logged?.faults ?? []))
        return answer
      }
      for _ in 0..<3 {
        let page = try await ask("GET", "\(data)/query?q=SELECT+Id,Name+FROM+Contact")
        if let found = (try? JSONValue(parsing: page.body))?["nextRecordsUrl"]?.stringValue { next = found }
        _ = try await ask("GET", next)
        _ = try await ask("POST", "\(data)/sobjects/Account", body: #"{"Name":"A"}"#)
        _ = try await ask("POST", "\(data)/composite/sobjects", body: "{\"records\":[\(records)]}")
        let form =
          "grant_type=refresh_token&client_id=\(server.clientId)&refresh_token="
          + WireClient.encoded(server.credentials().refreshToken)
        _ = try await ask("POST", "/services/oauth2/token", type: "application/x-www-form-urlencoded", body: form)
      }
      let fired = server.faults.active[0].fired
      #expect(fired > 0 && fired == course.filter { $0.faults == [kind.name] }.count)
      #expect(course.contains { $0.faults.isEmpty && $0.status == 200 })
    }
    return course
  }

  /// `hang` never ends by itself and has its own test.
  @Test(arguments: FaultKind.all.map(\.name).filter { $0 != "hang" })
  func kind_twiceWithTheSameSeed_isSeenTheSame(name: String) async throws {
    let kind = try #require(FaultKind.all.first { $0.name == name })
    let first = try await course(kind, seed: 2)
    let second = try await course(kind, seed: 2)
    #expect(first == second)
  }
}
