import Foundation
import Testing

/// Tests the output of `tureen rest try` with the sandbox's forge.
@Suite(.timeLimit(.minutes(60))) struct RestTryTests {
  private func start() async throws -> (place: Workplace, sandbox: Sandbox) {
    let place = try Workplace(), sandbox = try await Sandbox(place, options: ["--contacts", "1", "--accounts", "1"])
    let kept =
      try JSONSerialization.jsonObject(
        with: Data(contentsOf: URL(fileURLWithPath: place.home + "/sandbox/serving.json"))) as? [String: Any]
    let forge = try #require(kept?["forge"] as? [String: String])
    try place.write(forge["token"] ?? "", to: "token")
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: place.path + "/token")
    try place.write(
      #"{"forge": {"baseURL": "\#(forge["url"] ?? "")", "auth": {"type": "bearer", "token": {"file": "token"}}}}"#,
      to: "connections.json")
    return (place, sandbox)
  }

  private func end(_ sandbox: Sandbox) async throws {
    sandbox.child.send(SIGINT)
    _ = await sandbox.child.ended()
  }

  @Test func list_thatIsReadWrongly_isToldWithTheKeysThatFit() async throws {
    let (place, sandbox) = try await start()
    try place.write(#"{"type": "rest", "connection": "forge", "url": "/orgs/orchard/repos", "idField": "nr"}"#, to: "repos.json")
    let ended = try await place.run(Built.tureen, ["rest", "try", place.path + "/repos.json"])
    #expect(ended.status == 1, "\(ended)")
    for line in [
      "  items   30 in '$', of which 0 are stored\n", "  ids     'nr' is in 0 of 30 items\n", #"  "idField": "id""#,
      #"  "modificationDateField": "updated_at""#, #"  "paging": {"style":"link"}"#, "  quota   4999 of 5000 requests are left\n",
    ] {
      #expect(ended.output.contains(line), "\(line) in \(ended.output)")
    }
    #expect(!ended.output.contains("ghp_"))
    try await end(sandbox)
  }

  @Test func write_createsChangesAndTellsWhatStays() async throws {
    let (place, sandbox) = try await start()
    try place.write(
      """
      {"about": "issues", "target": {"type": "rest", "connection": "forge", "url": "/repos/{+repo}/issues",
        "vars": {"repo": "acme/mellow-anchor-1"}, "params": {"state": "all"}, "paging": {"style": "link"},
        "modificationDateField": "updated_at", "up": {
          "create": {"url": "/repos/{+repo}/issues", "fields": ["title", "body"]},
          "update": {"url": "/repos/{+repo}/issues/{number}", "fields": ["title", "state"]}}}}
      """, to: "issues.json")
    let ended = try await place.run(Built.tureen, ["rest", "try", place.path + "/issues.json", "--write"])
    #expect(ended.status == 0, "\(ended)")
    #expect(ended.output.contains("\n  create  taken: the new id is "))
    #expect(
      ended.output.hasSuffix("\n  update  taken\n  delete  the target has no 'up.delete': the record stays at the server\n"))
    let shown = try await place.run(Built.tureen, ["rest", "try", place.path + "/issues.json"])
    #expect(shown.status == 0 && !shown.output.contains("create"))
    try await end(sandbox)
  }

  @Test(arguments: [
    (#"{"type": "rest", "connection": "forg", "url": "/a"}"#, "connection 'forg' is not known; did you mean 'forge'?"),
    (#"{"target": {"type": "rest", "connection": "forge", "ur": "/a"}}"#, "'ur' is not known here; did you mean 'url'?"),
    (#"{"targt": {"type": "rest"}}"#, "did you mean 'target'?"), (#"{"type": "soql"}"#, #"the target's 'type' must be "rest""#),
    ("[]", "must contain an object"), ("{", "not valid JSON"),
  ])
  func wrongFiles_areExit78(text: String, message: String) async throws {
    let place = try Workplace()
    try place.write(#"{"forge": {"baseURL": "http://127.0.0.1:1"}}"#, to: "connections.json")
    let ended = try await place.run(Built.tureen, ["rest", "try", try place.write(text, to: "target.json")])
    #expect(ended.status == 78 && ended.errors.contains(message), "\(ended)")
  }

  @Test func serverThatIsGone_isExit1() async throws {
    let place = try Workplace()
    try place.write(#"{"forge": {"baseURL": "http://127.0.0.1:1", "maxWaitS": 0}}"#, to: "connections.json")
    let file = try place.write(#"{"type": "rest", "connection": "forge", "url": "/a"}"#, to: "target.json")
    let ended = try await place.run(Built.tureen, ["rest", "try", file])
    #expect(ended.status == 1 && ended.output.contains("GET http://127.0.0.1:1/a\n"), "\(ended)")
  }
}
