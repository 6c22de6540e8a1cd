import Foundation
import JSON
import Testing

/// Tests that `scripts/dev/man` makes a page for each command, which the formatters accept without warnings.
@Suite(.timeLimit(.minutes(60))) struct ManPageTests {
  private static let script = Built.package.path + "/scripts/dev/man"

  /// Makes the pages in the folder `man` of the workplace and returns their names. Once for all checks: each page takes a start
  /// of `tureen`.
  private func make(_ place: Workplace) async throws -> [String] {
    let ended = try await place.run(Self.script, ["man", Built.tureen], environment: ["SOURCE_DATE_EPOCH": "0"])
    #expect(ended.status == 0, "\(ended)")
    return try FileManager.default.contentsOfDirectory(atPath: place.path + "/man").sorted()
  }

  @Test func pages_areThereForEachCommandAndFormatted() async throws {
    let place = try Workplace(), pages = try await make(place)
    try await expectEachCommand(pages, place)
    for command in [["mandoc", "-T", "lint"], ["groff", "-man", "-ww", "-Tutf8", "-z"]] {
      try await expectNoWarning(command, pages, place)
    }
    try await expectSectionsOfRun(place)
    try await expectNoWideLine(place)
    try expectExitStatusesAndPlainExamples(pages, place)
  }

  private func expectEachCommand(_ pages: [String], _ place: Workplace) async throws {
    let ended = try await place.run(Built.tureen, ["--experimental-dump-help"])
    var names: [String] = []
    func take(_ command: JSONValue, _ path: String) {
      names.append(path + ".1")
      for inner in command["subcommands"]?.arrayValue ?? [] {
        guard let name = inner["commandName"]?.stringValue, name != "help" else { continue }
        take(inner, path + "-" + name)
      }
    }
    take(try JSONValue(parsing: Array(ended.output.utf8))["command"] ?? .null, "tureen")
    #expect(pages == names.sorted())
  }

  /// All pages at once: a warning names its page.
  private func expectNoWarning(_ command: [String], _ pages: [String], _ place: Workplace) async throws {
    guard FileManager.default.fileExists(atPath: "/usr/bin/" + command[0]) else { return }
    let ended = try await place.run("/usr/bin/" + command[0], command.dropFirst() + pages.map { "man/" + $0 })
    #expect(ended.status == 0 && ended.output + ended.errors == "", "\(command): \(ended)")
  }

  /// At 80 columns no line of any page is wider.
  private func expectNoWideLine(_ place: Workplace) async throws {
    let ended = try await place.run(
      "/bin/sh", ["-c", "groff -man -Tutf8 -P-cbou -rLL=78n man/*.1"], environment: ["LC_ALL": "C.UTF-8"])
    #expect(ended.status == 0, "\(ended)")
    for line in ended.output.components(separatedBy: "\n") { #expect(line.count <= 80, "\(line)") }
  }

  /// Each page with exit statuses has that of an output that cannot be written, and the examples are what a reader types: the
  /// pages of the guide make their output the same on each day with sed.
  private func expectExitStatusesAndPlainExamples(_ pages: [String], _ place: Workplace) throws {
    for page in pages {
      let text = try String(contentsOfFile: place.path + "/man/" + page, encoding: .utf8)
      #expect(!text.contains("| sed") && !text.contains("|sed"), "\(page)")
      guard
        let statuses = text.components(separatedBy: ".SH EXIT STATUS\n").dropFirst().first?.components(separatedBy: ".SH").first,
        statuses.contains("64")
      else { continue }
      #expect(statuses.contains("69"), "\(page): \(statuses)")
    }
  }

  private func expectSectionsOfRun(_ place: Workplace) async throws {
    let ended = try await place.run(
      "/bin/sh", ["-c", "groff -man -Tutf8 -P-cbou -rLL=78n man/tureen-run.1 man/tureen.1"], environment: ["LC_ALL": "C.UTF-8"])
    #expect(ended.status == 0, "\(ended)")
    let lines = ended.output.components(separatedBy: "\n")
    for section in ["SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "ENVIRONMENT", "FILES", "EXAMPLES", "SEE ALSO"] {
      #expect(lines.contains(section), "no section \(section)")
    }
    for word in ["--restricted", "77", "TUREEN_HOME", "store.sqlite", "tureen-store(1)"] {
      #expect(ended.output.contains(word), "no \(word)")
    }
  }
}
