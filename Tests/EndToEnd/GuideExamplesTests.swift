import Foundation
import Testing

/// The examples of the README and of the guide do what the pages say. ``MarkdownPage`` has the conventions.
@Suite(.timeLimit(.minutes(10))) struct GuideExamplesTests {
  /// The folder that the pages show in messages.
  private static let shownFolder = "/home/ada/job"

  private func run(_ step: MarkdownPage.Step, _ page: MarkdownPage, in place: Workplace) async throws {
    switch step {
    case .file(let name, let text):
      let folder = (place.path + "/" + name as NSString).deletingLastPathComponent
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      try place.write(text, to: name)
    case .script(let text, let prints, let line):
      try place.write(text, to: "page.lua")
      try await shell("tureen run page.lua", prints, "\(page):\(line)", in: place)
    case .fragment(let text, let line):
      try place.write(text, to: "fragment.lua")
      try place.write("assert(loadfile 'fragment.lua')\n", to: "load.lua")
      try await shell("tureen run load.lua", "", "\(page):\(line)", in: place)
    case .commands(let text, let prints, let line): try await shell(text, prints, "\(page):\(line)", in: place)
    }
  }

  private func shell(_ commands: String, _ prints: String, _ label: String, in place: Workplace) async throws {
    let prelude = #"export PATH="\#(Built.folder.path):$PATH" HOME="$PWD" TUREEN_HOME="$PWD/home""#
    let ended = try await place.run("/bin/bash", ["-c", prelude + "\n" + commands])
    let output = ended.output.replacingOccurrences(of: place.path, with: Self.shownFolder)
    #expect(ended.status == 0 && output == prints, "\(label): status \(ended.status)\n\(output)\(ended.errors)")
  }

  @Test(arguments: try MarkdownPage.guide()) func examples_runInOrder_printWhatThePageShows(_ page: MarkdownPage) async throws {
    let place = try Workplace()
    try FileManager.default.createDirectory(
      atPath: place.home, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    for step in page.steps() { try await run(step, page, in: place) }
  }

  /// A page whose examples are not found would pass.
  @Test func examples_ofTheGuide_areFound() throws {
    let steps = try MarkdownPage.guide().flatMap { $0.steps() }
    let scripts = steps.filter { if case .script(_, let prints, _) = $0 { !prints.isEmpty } else { false } }
    let commands = steps.filter { if case .commands = $0 { true } else { false } }
    #expect(scripts.count >= 15 && commands.count >= 10, "\(scripts.count) scripts, \(commands.count) commands")
  }

  /// The C program of the page on embedding is one that a compiler takes.
  @Test func cProgram_ofTheGuide_compilesWithoutWarnings() async throws {
    let place = try Workplace(), page = try MarkdownPage(MarkdownPage.folder + "/embedding.md")
    let program = try #require(page.blocks.first { $0.info == "c" })
    try place.write(program.text, to: "kiosk.c")
    let include = Built.package.path + "/Sources/CTureenModule/include"
    let ended = try await place.run(
      "/usr/bin/cc", ["-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-fsyntax-only", "-I", include, "kiosk.c"])
    #expect(ended.status == 0, "\(ended.errors)")
  }
}
