import Foundation
import Testing

/// The scripts and commands of the documentation do what the pages say. ``MarkdownPage`` has the conventions.
@Suite(.timeLimit(.minutes(60))) struct GuideExamplesTests {
  /// The folder that the pages show in messages.
  private static let shownFolder = "/home/ada/job"

  /// Writes a file and makes its folders.
  private func put(_ text: String, _ name: String, in place: Workplace) throws {
    let folder = (place.path + "/" + name as NSString).deletingLastPathComponent
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try place.write(text, to: name)
  }

  private func run(_ step: MarkdownPage.Step, _ page: MarkdownPage, in place: Workplace) async throws {
    switch step {
    case .file(let name, let text): try put(text, name, in: place)
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
    #expect(ended.status == 0 && MarkdownPage.shows(prints, output), "\(label): status \(ended.status)\n\(output)\(ended.errors)")
  }

  @Test(arguments: try MarkdownPage.all()) func examples_runInOrder_printWhatThePageShows(_ page: MarkdownPage) async throws {
    let place = try Workplace()
    try FileManager.default.createDirectory(
      atPath: place.home, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    for step in page.steps() { try await run(step, page, in: place) }
  }

  /// What three kinds of new users read, in their order: someone who writes scripts, an administrator, the author of a tool.
  private static let walks = [
    ["../../README", "getting-started", "records", "syncing-well", "offline-patterns", "targets", "plug-ins"],
    ["../../README", "getting-started", "automation", "seeing", "operating", "orgs-and-users", "configuration-files"],
    ["getting-started", "connections", "collections", "collections-up", "parse", "workers"],
  ]

  /// One person, one home: what earlier pages have left there breaks no later one. The output differs then.
  @Test(arguments: walks) func pages_readOneAfterTheOther_workInOneHome(_ names: [String]) async throws {
    let place = try Workplace()
    try put("", "home/.begun", in: place)
    let prelude = #"export PATH="\#(Built.folder.path):$PATH" HOME="\#(place.path)" TUREEN_HOME="\#(place.home)""#
    for name in names {
      let page = try MarkdownPage(name.hasPrefix("..") ? "README.md" : "\(MarkdownPage.folder)/\(name).md")
      let folder = "pages/" + name.replacing("../", with: "")
      for step in page.steps() {
        let (commands, line): (String, Int)
        switch step {
        case .file(let name, let text):
          try put(text, "\(folder)/\(name)", in: place)
          continue
        case .fragment: continue
        case .script(let text, _, let at):
          try put(text, "\(folder)/page.lua", in: place)
          (commands, line) = ("tureen run page.lua", at)
        case .commands(let text, _, let at):
          try put("", "\(folder)/.begun", in: place)
          (commands, line) = (text, at)
        }
        let ended = try await place.run("/bin/bash", ["-c", "\(prelude); cd \(folder)\n\(commands)"])
        let failed = ended.status != 0 || (ended.output + ended.errors).contains("stack traceback")
        #expect(!failed, "\(page):\(line): status \(ended.status)\n\(ended.output)\(ended.errors)")
      }
    }
  }

  @Test func output_wrappedOnThePage_isTheSame() {
    let long = String(repeating: "word ", count: 20) + "end"
    let wrapped = String(repeating: "word ", count: 16).dropLast() + "\n  word word word word end"
    #expect(MarkdownPage.shows(wrapped + "\nshort\n", long + "\nshort\n"))
    #expect(!MarkdownPage.shows(wrapped + "\n", long + " more\n") && !MarkdownPage.shows("a\n  b\n", "a b\n"))
    #expect(!MarkdownPage.shows("a\n", "a\nb\n") && !MarkdownPage.shows("a\nb\n", "a\n"))
  }

  /// A page whose examples are not found would pass.
  @Test func examples_ofTheGuide_areFound() throws {
    let steps = try MarkdownPage.guide().flatMap { $0.steps() }
    let scripts = steps.filter { if case .script(_, let prints, _) = $0 { !prints.isEmpty } else { false } }
    let commands = steps.filter { if case .commands = $0 { true } else { false } }
    #expect(scripts.count >= 15 && commands.count >= 10, "\(scripts.count) scripts, \(commands.count) commands")
  }

  /// No block of commands escapes: it is run, or says why not.
  @Test(arguments: try MarkdownPage.all()) func commands_withoutAnOutput_giveTheReason(_ page: MarkdownPage) {
    for (i, block) in page.blocks.enumerated() where block.language == "sh" && block.file == nil {
      let isRun = page.output(of: i) != nil
      #expect(
        isRun == (block.mark == nil), "\(page):\(block.line): show the output, or say why there is none: build, org or serve")
      if let mark = block.mark {
        #expect(MarkdownPage.Unrun(rawValue: mark) != nil, "\(page):\(block.line): '\(mark)' is not a reason")
      }
    }
  }

  @Test(arguments: try MarkdownPage.all() + MarkdownPage.articles())
  func commands_notRun_areValidShell(_ page: MarkdownPage) async throws {
    let place = try Workplace()
    for block in page.blocks(in: "sh") where block.mark != nil || page.path.contains(".docc/") {
      let ended = try await place.run("/bin/bash", ["-n", "-c", block.text])
      #expect(ended.status == 0, "\(page):\(block.line): \(ended.errors)")
    }
  }

  @Test(arguments: try MarkdownPage.all().filter { page in page.blocks.contains { $0.mark == "serve" } })
  func servers_ofThePage_serveAndStop(_ page: MarkdownPage) async throws {
    for block in page.blocks(in: "sh") where block.mark == "serve" {
      for line in block.text.replacing("\\\n", with: " ").split(separator: "\n") where !line.isEmpty {
        // Whether port 8080 is free is not the page's fault.
        // Commands say that they serve on one output or the other.
        let command = "exec \(line.replacing("--port 8080", with: "--port 0")) 2>&1"
        let place = try Workplace()
        for step in page.steps() { if case .file = step { try await run(step, page, in: place) } }
        let prelude = #"export PATH="\#(Built.folder.path):$PATH" HOME="$PWD" TUREEN_HOME="$PWD/home"; "#
        let child = try Child("/bin/bash", ["-c", prelude + command], in: place.path)
        #expect(await child.prints("Ctrl-C"), "\(page):\(block.line): \(command)")
        child.send(SIGINT)
        let ended = await child.ended()
        #expect(ended.status == 0, "\(page):\(block.line): \(ended.output)")
      }
    }
  }
}
