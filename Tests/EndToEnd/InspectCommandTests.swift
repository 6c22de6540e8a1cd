import Foundation
import JSON
import Testing

/// `tureen inspect` as a command: what it prints, how it ends, and what it serves by itself.
@Suite(.timeLimit(.minutes(60))) struct InspectCommandTests {
  /// Starts the command and returns its address.
  private func start(_ place: Workplace, _ options: String...) async throws -> (child: Child, url: String) {
    let child = try Child(Built.tureen, ["inspect", "--home", place.home] + options, in: place.path)
    #expect(await child.prints("\n"))
    return (child, String(child.printed.prefix { $0 != "\n" }))
  }

  private func curl(_ place: Workplace, _ words: String...) async throws -> String {
    try await place.run("/usr/bin/curl", ["-s", "--max-time", "60"] + words).output
  }

  private func home(_ place: Workplace) async throws {
    let indexes = #"[{"path":"Id","type":"string"}]"#
    let ended = try await place.run(
      Built.tureen,
      ["exec", "--home", place.home, "smartstore", "pgRegisterSoup", #"{"soupName":"notes","indexes":\#(indexes)}"#])
    #expect(ended.status == 0, "\(ended)")
  }

  @Test func row48_command_servesEveryPageByItself() async throws {
    let place = try Workplace()
    try await home(place)
    // A folder without any file of the page.
    let copy = place.path + "/bin"
    try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
    try FileManager.default.copyItem(atPath: Built.tureen, toPath: copy + "/tureen")
    let child = try Child(copy + "/tureen", ["inspect", "--home", place.home], in: copy)
    #expect(await child.prints("\n"))
    let url = String(child.printed.prefix { $0 != "\n" }), parts = url.components(separatedBy: "#t=")
    #expect(parts.count == 2 && parts[0].hasPrefix("http://127.0.0.1:") && parts[0].hasSuffix("/"), "\(url)")
    let page = try await curl(place, parts[0])
    #expect(page.contains("/js/main.js") && page.contains("/app.css"))
    var waiting = ["js/main.js"], seen: Set<String> = []
    while let name = waiting.popLast() {
      guard seen.insert(name).inserted else { continue }
      let text = try await curl(place, parts[0] + name)
      #expect(text.count > 100, "\(name)")
      let folder = URL(fileURLWithPath: "/" + name).deletingLastPathComponent()
      for line in text.components(separatedBy: "\n") where line.hasPrefix("import ") {
        let target = line.components(separatedBy: "\"")[1]
        waiting.append(String(folder.appendingPathComponent(target).standardizedFileURL.path.dropFirst()))
      }
    }
    #expect(seen.count > 15 && seen.contains("js/pages/overview.js"), "\(seen)")
    let overview = try await curl(place, "-H", "Authorization: Bearer \(parts[1])", parts[0] + "api/v1/overview")
    #expect(try JSONValue(parsing: overview)["stores"]?.arrayValue?.first?["storeName"] == "defaultStore")
    child.send(SIGINT)
    #expect(await child.ended().status == 0)
  }

  @Test func row48_library_hasNoneOfIt() throws {
    let library = try Data(contentsOf: URL(fileURLWithPath: Built.library))
    let command = try Data(contentsOf: URL(fileURLWithPath: Built.tureen))
    for text in ["Tureen inspector", "tureen_inspector_assets", "tureen-events"] {
      #expect(library.range(of: Data(text.utf8)) == nil, "\(text)")
    }
    #expect(command.range(of: Data("Tureen inspector".utf8)) != nil)
  }

  @Test func inspect_portInUse_is69() async throws {
    let place = try Workplace()
    try await home(place)
    let (child, url) = try await start(place)
    let port = try #require(url.components(separatedBy: "/#").first?.components(separatedBy: ":").last)
    let second = try await place.run(Built.tureen, ["inspect", "--home", place.home, "--port", port])
    #expect(second.status == 69 && second.errors.contains("cannot be listened on"), "\(second)")
    child.send(SIGTERM)
    #expect(await child.ended().status == 0)
    #expect(try await place.run(Built.tureen, ["inspect", "--home", place.home, "--port", "70000"]).status == 64)
  }

  /// The key to the data is in no argument of the browser's process, which other users can read.
  @Test func inspect_open_handsTheBrowserAFileOfThisUser() async throws {
    let place = try Workplace()
    try await home(place)
    let opened = place.path + "/opened",
      browser = try place.write(
        """
        #!/bin/sh
        printf '%s\\n' "$1" >"\(opened).new"
        stat -c %a "${1#file://}" >>"\(opened).new"
        cat "${1#file://}" >>"\(opened).new"
        mv "\(opened).new" "\(opened)"
        """, to: "browser")
    try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: browser)
    let child = try Child(
      Built.tureen, ["inspect", "--home", place.home, "--open"],
      environment: ["DISPLAY": ":0", "BROWSER": browser, "XDG_RUNTIME_DIR": place.path],
      in: place.path)
    #expect(await child.prints("\n"))
    let url = String(child.printed.prefix { $0 != "\n" })
    while !FileManager.default.fileExists(atPath: opened) { try await Task.sleep(for: .milliseconds(10)) }
    let lines = try String(contentsOfFile: opened, encoding: .utf8).components(separatedBy: "\n")
    #expect(
      lines[0].hasPrefix("file://\(place.path)/tureen-inspect-") && lines[1] == "600" && lines[2].contains("url=\(url)\""),
      "\(lines)")
    child.send(SIGINT)
    #expect(await child.ended().status == 0)
    #expect(!FileManager.default.fileExists(atPath: String(lines[0].dropFirst(7))))
  }
}
