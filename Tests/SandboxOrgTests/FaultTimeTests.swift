import Foundation
import JSON
import SandboxOrg
import Testing

/// Faults that take time, tested without waiting: the org's clock is moved by hand.
@Suite struct FaultTimeTests {
  @Test func latency_byTheOrgsClock_waitsUntilItIsMoved() async throws {
    try await withOrg { server, client in
      try server.faults.add(.latency(milliseconds: 5_000, clock: .org), when: .first(1))
      async let late = client.send("GET", "/services/data")
      await server.clock.hasSleepers()
      #expect(try await client.query("SELECT Id FROM Account").status == 200)
      server.clock.advance(by: 4)
      #expect(try await client.query("SELECT Id FROM Contact").status == 200)
      #expect(server.clock.sleeping == 1 && server.requests().map(\.sequence) == [2, 3])
      server.clock.advance(by: 1)
      #expect(try await late.status == 200)
      #expect(server.requests().map(\.sequence) == [2, 3, 1])
      #expect(server.requests().map(\.delay) == [0, 0, 5_000])
    }
  }

  @Test func latency_heldClock_waitsUntilItIsReleasedAndHasGoneSoFar() async throws {
    let base = ManualSandboxClock()
    try await withOrg(clock: base) { server, client in
      server.clock.hold()
      try server.faults.add(.latency(milliseconds: 5_000, clock: .org))
      async let late = client.send("GET", "/services/data")
      await server.clock.hasSleepers()
      base.advance(by: 60)
      #expect(server.clock.sleeping == 1 && server.clock.now() == 1_772_442_000)
      server.clock.release()
      await base.hasSleepers()
      base.advance(milliseconds: 5_000)
      #expect(try await late.status == 200)
      #expect(server.clock.now() == 1_772_442_005)
    }
  }

  @Test func latency_range_isDrawnFromTheSeed() async throws {
    try await withOrg { server, client in
      try server.faults.add(.latency(milliseconds: 0...9))
      func delays(seed: UInt64) async throws -> [Int] {
        server.faults.reset(seed: seed)
        server.clearRequests()
        for _ in 0..<8 { _ = try await client.send("GET", "/services/data") }
        return server.requests().map(\.delay)
      }
      let first = try await delays(seed: 3)
      #expect(try await delays(seed: 3) == first)
      #expect(try await delays(seed: 4) != first)
      #expect(Set(first).count > 2 && first.allSatisfy { (0...9).contains($0) })
    }
  }

  @Test func trickle_sendsAPieceWheneverItsTimeHasCome() async throws {
    try await withOrg { server, client in
      try server.faults.add(.trickle(bytesPerSecond: 20, pieceBytes: 20, clock: .org))
      let whole = Array(#"[{"message":"Session expired or invalid","errorCode":"INVALID_SESSION_ID"}]"#.utf8)
      for _ in 0..<2 {
        let wire = try FaultWire(port: server.port)
        wire.send("GET", "/services/data/v66.0/limits")
        let first = try await wire.head(andBytes: 20)
        #expect(first.status == 401 && first.announced == whole.count && first.body == Array(whole[..<20]))
        var received = first.body
        while received.count < whole.count {
          await server.clock.hasSleepers()
          #expect(wire.isSilent)
          server.clock.advance(by: 1)
          received += try await wire.more(min(20, whole.count - received.count))
        }
        await server.clock.hasSleepers()
        server.clock.advance(by: 1)
        #expect(received == whole)
        #expect(try await wire.rest().body.isEmpty)
      }
    }
  }

  @Test(arguments: [(-300, "Mon, 02 Mar 2026 08:55:00 GMT"), (86_400, "Tue, 03 Mar 2026 09:00:00 GMT")])
  func dateSkew_movesTheHeaderAlone(seconds: Int, date: String) async throws {
    try await withOrg { server, _ in
      try server.faults.add(.dateSkew(seconds: seconds))
      for _ in 0..<2 {
        let wire = try FaultWire(port: server.port)
        wire.send("GET", "/services/data")
        let answer = try await wire.rest()
        #expect(answer.status == 200 && answer.date == date && answer.announced == answer.body.count)
      }
    }
  }

  @Test func clock_heldMovedAndReleased_stampsRecords() async throws {
    try await withOrg { server, _ in
      func stamp() throws -> String? {
        let id = try server.create("Account", fields: ["Name": "A"])
        let row = try server.query("SELECT LastModifiedDate FROM Account WHERE Id = '\(id)'")
        return row["records"]?.arrayValue?.first?["LastModifiedDate"]?.stringValue
      }
      server.clock.hold()
      var stamps = [try stamp()]
      #expect(server.clock.isHeld)
      server.clock.advance(by: 61)
      stamps.append(try stamp())
      server.clock.set(1_772_528_400)
      stamps.append(try stamp())
      #expect(
        stamps == ["2026-03-02T09:00:00.000+0000", "2026-03-02T09:01:01.000+0000", "2026-03-03T09:00:00.000+0000"])
      server.clock.release()
      #expect(server.clock.now() == 1_772_528_400 && !server.clock.isHeld)
    }
  }
}
