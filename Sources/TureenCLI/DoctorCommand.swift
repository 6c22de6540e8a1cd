import ArgumentParser
import Glibc
import JSON
import MobileSync
import Support
import Tureen

struct DoctorCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor",
    abstract: "Find what is broken or will break, with the fix in the same line.",
    usage: "tureen doctor [<options>]",
    discussion: """
      Checks the configuration files, the home, each store, the syncs and what waits in them, and asks the org and each \
      connection for one answer: whether it can be reached, takes the sign-in and has the same time. --fix mends modes of \
      files, syncs whose process has ended, leftovers and indexes, but never data.
      """
        + ExitStatus.help([
          (0, "nothing is broken; there may be warnings"), (1, "the report cannot be made"), (2, "something is broken"),
          (64, "wrong usage"), (69, "the file of --report cannot be written"),
        ]))

  @Flag(help: "Send no request.")
  var offline = false

  @Flag(help: "Also compare all indexes of the stores' files with their tables, which takes long.")
  var deep = false

  @Flag(help: "Mend what can be mended without touching data.")
  var fix = false

  @Option(
    help: "Write the report to this file, without values of records, for a bug report.", completion: .file(), transform: nonEmpty)
  var report: String?

  @Flag(help: "Print one JSON object. The error is JSON on stderr.")
  var json = false

  @OptionGroup var project: ProjectOptions
  @OptionGroup var place: HostOptions

  func run() throws {
    let status = BridgeCalls.ended(by: json) {
      let home = try HostSettings.resolvedHome(place.home)
      let found = try examine(home)
      if let report {
        do {
          try FileSystem.write(Array((JSONValue.object(found.json(without: home)).text + "\n").utf8), to: report)
        } catch {
          throw CommandFailure("cannot write the report to \(report): \(error)")
        }
      }
      let output = ByteOutput()
      try output.write(
        json
          ? TerminalText.escapedJSON(JSONValue.object(found.json).text) + "\n"
          : DoctorText(found, width: TerminalWidth.columns).text)
      try output.finish()
      return found.count(.fail) == 0 ? 0 : ExitStatus.recordsRefused
    }
    guard status == 0 else { throw ExitCode(status) }
  }

  private func examine(_ home: String) throws -> DoctorReport {
    var options = DoctorOptions()
    (options.isOffline, options.isDeep, options.fixes) = (offline, deep, fix)
    var report = DoctorReport(ofHome: home, options)
    // Only --fix changes a store; what sends nothing needs no sign-in.
    let looksOnly = offline && !fix, asksOnly = !offline && !fix
    var folder = project.folder
    while true {
      do {
        let prepared = try place.attempt(configDirectory: folder) { ($0.looksOnly, $0.asksOnly) = (looksOnly, asksOnly) }
        defer {
          prepared.host.shutdown()
          prepared.sandbox.stop()
        }
        report.add(try prepared.host.doctor(options, withHome: false).checks)
        return report
      } catch let error as HostError where error.code == .invalidConfiguration && folder != nil {
        report.add(HealthCheck("config", .fail, error.message, fix: "correct the file"))
        folder = nil
      } catch let error as HostError {
        let isSetting = error.code == .invalidConfiguration
        report.add(
          HealthCheck(
            isSetting ? "config" : "auth", .fail, error.message, fix: isSetting ? nil : "tureen orgs lists what is known"))
        return report
      }
    }
  }
}

/// A report for people.
struct DoctorText {
  private let report: DoctorReport
  private let width: Int?

  init(_ report: DoctorReport, width: Int?) {
    self.report = report
    self.width = width
  }

  var text: String {
    let names = HealthCheck.Status.allCases.map(\.rawValue.count).max() ?? 0, parts = report.checks.map(\.name.count).max() ?? 0
    var text = ""
    for check in report.checks {
      let status = Self.padded(check.status.rawValue, names), part = Self.padded(check.name, parts)
      text += wrapped(check.text, first: "\(status)  \(part)  ", indent: names + parts + 4)
      if let fix = check.fix {
        text += wrapped(fix, first: String(repeating: " ", count: names + parts + 4) + "→ ", indent: names + parts + 6)
      }
    }
    return text + "\n" + summary + "\n"
  }

  private var summary: String {
    let words: [(HealthCheck.Status, String)] = [
      (.fail, "broken"), (.warn, "to be mended"), (.note, "to know"), (.ok, "right"), (.skipped, "not checked"),
    ]
    return words.compactMap { status, word in report.count(status) > 0 ? "\(report.count(status)) \(word)" : nil }.joined(
      separator: ", ")
  }

  private static func padded(_ word: String, _ width: Int) -> String {
    word + String(repeating: " ", count: max(0, width - word.count))
  }

  /// Breaks a text between words where it would leave the terminal.
  private func wrapped(_ text: String, first: String, indent: Int) -> String {
    let text = TerminalText.line(text)
    guard let width, width > indent + 20 else { return first + text + "\n" }
    var lines = "", line = first, isFirst = true
    for word in text.split(separator: " ", omittingEmptySubsequences: false) {
      if !isFirst, line.count + 1 + word.count > width {
        lines += line + "\n"
        line = String(repeating: " ", count: indent)
        isFirst = true
      }
      line += (isFirst ? "" : " ") + word
      isFirst = false
    }
    return lines + line + "\n"
  }
}
