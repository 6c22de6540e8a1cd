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

  /// The first request has what the sync's has, the request of later runs is sent, too, and the next page was read before the keys
  /// that lead there are advised.
  @Test func list_isAskedForAsTheSyncDoes() async throws {
    let (place, sandbox) = try await start()
    func target(_ more: String) -> String {
      """
      {"type": "rest", "connection": "forge", "url": "/orgs/orchard/repos", "modificationDateField": "updated_at",
        "params": {"sort": "updated"}, \(more)}
      """
    }
    try place.write(
      target(#""paging": {"style": "page", "pageParam": "page", "sizeParam": "per_page", "pageSize": 7}"#), to: "sized.json")
    let sized = try await place.run(Built.tureen, ["rest", "try", place.path + "/sized.json"])
    #expect(sized.output.contains("sort=updated") && sized.output.contains("per_page=7"), "\(sized)")
    #expect(sized.output.contains("  items   7 in '$'\n"), "\(sized)")
    try place.write(
      target(#""incremental": {"mode": "param", "params": {"since": "{since}"}, "format": "iso8601"}"#), to: "later.json")
    let later = try await place.run(Built.tureen, ["rest", "try", place.path + "/later.json"])
    #expect(later.output.contains("later runs: GET ") && later.output.contains("since=20"), "\(later)")
    #expect(
      later.output.contains("that page was read: 30 items") && later.output.contains(#"  "paging": {"style":"link"}"#), "\(later)"
    )
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
    let refused = try await place.run(Built.tureen, ["rest", "try", place.path + "/issues.json", "--write"])
    #expect(refused.status == 1 && refused.output.contains("Nothing is written: the target has no 'up.delete'"), "\(refused)")
    #expect(!refused.output.contains("create"))
    let ended = try await place.run(Built.tureen, ["rest", "try", place.path + "/issues.json", "--write", "--keep"])
    #expect(ended.status == 0, "\(ended)")
    #expect(ended.output.contains("\n  sent    {\"title\":\"Tureen trial "), "\(ended)")
    let id = try #require(
      ended.output.split(separator: "\n").first { $0.hasPrefix("  create  taken: the new id is ") }?.split(separator: " ").last)
    #expect(
      ended.output.hasSuffix(
        "\n  update  taken\n  delete  the target has no 'up.delete': the record \(id) stays at the server\n"), "\(ended)")
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
