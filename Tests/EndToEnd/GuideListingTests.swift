import Foundation
import JSON
import Testing

/// The listings of the documentation that are not Lua: each is parsed, compiled, or part of a program that is.
@Suite(.timeLimit(.minutes(60))) struct GuideListingTests {
  private static let languages: Set = ["lua", "sh", "text", "json", "c", "cmake", "python", "swift", "sql", ""]

  /// Every language has a test here or in another suite: `cmake` in Tests/Clients, `sql` in SchemaTests. A block without a language is
  /// a sample of a log or a file.
  @Test(arguments: try MarkdownPage.all()) func languages_ofAPage_areChecked(_ page: MarkdownPage) {
    for block in page.blocks where block.file == nil {
      #expect(Self.languages.contains(block.language), "\(page):\(block.line): no test looks at '\(block.language)'")
    }
  }

  @Test(arguments: try MarkdownPage.all()) func json_ofAPage_isValid(_ page: MarkdownPage) {
    for block in page.blocks where block.language == "json" {
      #expect(throws: Never.self, "\(page):\(block.line)") { try JSONValue(parsing: Array(block.text.utf8)) }
    }
  }

  @Test(arguments: try MarkdownPage.all()) func swift_ofAPage_isPartOfAProgram(_ page: MarkdownPage) throws {
    let sources = ["Programs/SwiftSamples/Listings.swift", "SwiftListings.swift"].map {
      Built.package.path + "/Tests/EndToEnd/" + $0
    }
    let programs = try sources.map { try String(contentsOfFile: $0, encoding: .utf8).components(separatedBy: "\n") }
    for block in page.blocks(in: "swift") where block.mark != "manifest" {
      // A listing may show pieces of a program that do not follow one another directly: an empty line separates them.
      for piece in block.text.components(separatedBy: "\n\n") {
        let lines = piece.components(separatedBy: "\n").filter { !$0.isEmpty && !$0.hasPrefix("import ") }
        guard !lines.isEmpty else { continue }
        #expect(
          programs.contains { SwiftReferenceTests.contains($0, lines) },
          "\(page):\(block.line): no program of the tests has these lines:\n\(piece)")
      }
    }
  }

  /// A listing that does not include the header continues the one before.
  @Test(arguments: try MarkdownPage.all()) func c_ofAPage_compilesWithoutWarnings(_ page: MarkdownPage) async throws {
    let place = try Workplace(), include = Built.package.path + "/Sources/CTureenModule/include"
    var listing = ""
    for block in page.blocks(in: "c") {
      listing = block.text.contains("#include <tureen.h>") ? block.text : listing + block.text
      try place.write(listing, to: "listing.c")
      let ended = try await place.run(
        "/usr/bin/cc", ["-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-fsyntax-only", "-I", include, "listing.c"])
      #expect(ended.status == 0, "\(page):\(block.line): \(ended.errors)")
    }
  }

  @Test(arguments: try MarkdownPage.all()) func python_ofAPage_isValid(_ page: MarkdownPage) async throws {
    let place = try Workplace()
    for block in page.blocks(in: "python") {
      let file = try place.write(block.text, to: "listing.py")
      let ended = try await place.run(
        "/usr/bin/python3", ["-c", "import sys; compile(open(sys.argv[1]).read(), 'listing', 'exec')", file])
      #expect(ended.status == 0, "\(page):\(block.line): \(ended.errors)")
    }
  }

  // MARK: The programs of the page on embedding

  private static func embedding(_ language: String, home: String) throws -> String {
    let page = try MarkdownPage(MarkdownPage.folder + "/embedding.md")
    let program = try #require(page.blocks(in: language).first?.text)
    #expect(program.contains("/var/lib/kiosk"))
    return program.replacingOccurrences(of: "/var/lib/kiosk", with: home)
  }

  @Test(.enabled(if: !Built.isSanitized)) func cProgram_ofThePage_syncs() async throws {
    let place = try Workplace(), sandbox = try await Sandbox(place, options: ["--contacts", "7"])
    try place.write(Self.embedding("c", home: place.home), to: "kiosk.c")
    let include = Built.package.path + "/Sources/CTureenModule/include"
    let compiled = try await place.run(
      "/usr/bin/cc", ["-I", include, "-o", "kiosk", "kiosk.c", Built.library, "-Wl,-rpath," + place.path])
    #expect(compiled.status == 0, "\(compiled.errors)")
    // The program asks for the library by its SONAME, under which it is installed.
    try FileManager.default.createSymbolicLink(
      atPath: place.path + "/libtureen.so.0", withDestinationPath: Built.library)
    let ended = try await place.run(place.path + "/kiosk", [])
    #expect(
      ended.status == 0 && ended.output.contains(#""status":"DONE""#) && ended.output.contains(#""totalSize":7"#), "\(ended)")
    sandbox.child.send(SIGINT)
    _ = await sandbox.child.ended()
  }

  @Test(.enabled(if: !Built.isSanitized)) func pythonProgram_ofThePage_syncs() async throws {
    let place = try Workplace(), sandbox = try await Sandbox(place, options: ["--contacts", "7"])
    let program = try Self.embedding("python", home: place.home)
      .replacingOccurrences(of: #"{"home": "\#(place.home)"}"#, with: #"{"home": "\#(place.home)"}, library="\#(Built.library)""#)
    try place.write(program, to: "kiosk.py")
    let ended = try await place.run(
      "/usr/bin/python3", ["kiosk.py"], environment: ["PYTHONPATH": Built.package.path + "/scripts"])
    #expect(ended.status == 0 && ended.output.hasSuffix("DONE 7\n"), "\(ended)")
    sandbox.child.send(SIGINT)
    _ = await sandbox.child.ended()
  }
}
