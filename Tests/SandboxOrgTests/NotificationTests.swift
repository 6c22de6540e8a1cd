import Foundation
import JSON
import SandboxOrg
import Testing

private let root = "/services/data/v66.0/connect/notifications"

@Suite struct NotificationTests {
  @Test func notifications_areListedMarkedAndCounted() async throws {
    let clock = ManualSandboxClock()
    try await withOrg(clock: clock) { server, client in
      #expect(try await client.send("GET", root).json == ["notifications": []])
      let first = try server.notify(title: "One", body: "first")
      clock.advance(by: 60)
      let second = try server.notify(title: "Two", body: "second", type: "Visit_Planned")
      try server.notify(title: "Other", body: "not for Ada", username: "otto@sandbox.tureen.example")
      let list = try await client.send("GET", root).json["notifications"]?.arrayValue ?? []
      #expect(list.map { $0["messageTitle"] } == ["Two", "One"] && list.map { $0["read"] } == [false, false])
      let status = try await client.send("GET", "\(root)/status").json
      #expect(status["hasUnseen"] == true && status["unreadCount"] == 2 && status["unseenCount"] == 2)
      #expect(status["oldestUnread"] == list[1]["lastModified"] && status["lastActivity"] == list[0]["lastModified"])
      let types = try await client.send("GET", "\(root)/types").json["notificationTypes"]?.arrayValue ?? []
      #expect(types.map { $0["apiName"] } == ["Visit_Planned", "Sandbox_Notification"])
      let stamp = list[0]["lastModified"]?.stringValue ?? ""
      for (query, ids) in [("size=1", [second]), ("before=\(stamp)", [first]), ("after=\(stamp)", [])] {
        let page = try await client.send("GET", "\(root)?\(query)").json["notifications"]?.arrayValue ?? []
        #expect(page.compactMap { $0["id"]?.stringValue } == ids)
      }
      let one = try await client.json("PATCH", "\(root)/\(first)", #"{"read":"true","seen":true}"#)
      #expect(one.status == 200 && one.json["read"] == true && one.json["seen"] == true)
      let many = try await client.json("PATCH", root, "{\"notificationIds\":[\"\(first)\",\"\(second)\"],\"seen\":\"true\"}")
      #expect(many.json["notifications"]?.arrayValue?.map { $0["read"] } == [false, true])
      let early = try await client.json("PATCH", root, "{\"before\":\"\(stamp)\",\"read\":false}")
      #expect(early.json["notifications"]?.arrayValue?.map { $0["id"] } == [.string(first)])
      let end = try await client.send("GET", "\(root)/status").json
      #expect(end["hasUnseen"] == false && end["unreadCount"] == 2 && end["oldestUnseen"] == .null)
      let missing = try await client.json("POST", "\(root)/\(first)/actions/approve", "{}")
      #expect(missing.status == 404 && missing.message?.contains("'approve'") == true)
    }
  }

  @Test(arguments: [
    ("GET", "?size=0", "", 400), ("GET", "?size=51", "", 400), ("GET", "?before=soon", "", 400), ("GET", "/nothing", "", 404),
    ("PATCH", "", "{}", 400), ("PATCH", "", #"{"read":true}"#, 400), ("PATCH", "", #"{"read":3,"notificationIds":[]}"#, 400),
    ("PATCH", "", #"{"read":true,"notificationIds":[],"before":"2026-01-01T00:00:00.000Z"}"#, 400),
    ("PATCH", "/nothing", #"{"read":true}"#, 404),
  ])
  func request_invalid_isRefused(method: String, tail: String, body: String, status: Int) async throws {
    try await withOrg { _, client in
      let answer =
        body.isEmpty ? try await client.send(method, root + tail) : try await client.json(method, root + tail, body)
      #expect(answer.status == status && answer.errorCode != nil)
    }
  }
}
