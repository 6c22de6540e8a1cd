import ArgumentParser
import JSON
import LuaBridge
import Tureen

struct StatusCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Print what the home holds: org, user, stores, unsent edits and last syncs.",
    usage: "tureen status [<options>]",
    discussion: """
      Sends nothing to the org; tureen whoami does. Times are UTC.
      """
        + ExitStatus.help([
          (0, "done"), (1, "a store cannot be read"), (64, "wrong usage"), (67, "the org or user is not known"),
          (78, "a configuration file is wrong; the message names file, line and key"),
        ]))

  @Flag(help: "Print one JSON object. The error is JSON on stderr.")
  var json = false

  @OptionGroup var project: ProjectOptions
  @OptionGroup var place: HostOptions

  func run() throws {
    try BridgeCalls.run(place, configDirectory: project.folder, isJSON: json) { calls in
      let status = try HomeStatus(calls), output = ByteOutput()
      try output.write(json ? TerminalText.escapedJSON(status.json.text) + "\n" : status.text)
      try output.finish()
      return 0
    }
  }
}

/// The contents of `tureen status`.
private struct HomeStatus {
  struct OneStore {
    let reference: StoreReference
    let bytes: Int64
    let soups: [SoupFigures]
    let syncs: [SyncSummary]
  }

  private let summary: HostSummary
  private let usage: JSONValue
  private let stores: [OneStore]

  init(_ calls: BridgeCalls) throws {
    summary = try calls.host.summary()
    usage = try calls.value("accounts", "getUsage")
    stores = try (calls.stores(isGlobal: false) + calls.stores(isGlobal: true)).map { reference in
      let calls = calls.on(reference)
      let hasSyncs = try calls.value("smartstore", "pgSoupExists", ["soupName": .string(BridgeCalls.syncsSoup)]).boolValue
      return OneStore(
        reference: reference, bytes: try calls.value("smartstore", "pgGetDatabaseSize").integerValue ?? 0,
        soups: try calls.soupNames().map { try calls.figures(of: $0) }, syncs: hasSyncs == true ? try calls.syncs() : [])
    }
  }

  var json: JSONValue {
    var object = summary.json
    object["apiUsage"] = usage
    object["stores"] = .array(
      stores.map { store in
        [
          "storeName": .string(store.reference.name), "isGlobalStore": .bool(store.reference.isGlobal),
          "bytes": .integer(store.bytes), "soups": .array(store.soups.map { .object($0.json) }),
          "syncs": .array(store.syncs.map(\.state)),
        ]
      })
    return .object(object)
  }

  var text: String {
    var lines = [("home", summary.home), ("org", org), ("user", user)]
    if let used = usage["used"]?.integerValue, let most = usage["max"]?.integerValue {
      let seen = usage["seenAt"]?.integerValue.map { " (\(TimeText.minute($0)))" } ?? ""
      lines.append(("API calls", "\(used) of \(most) used in 24 hours\(seen)"))
    }
    let head = lines.map { name, value in
      name + String(repeating: " ", count: 11 - name.count) + TextTable.cell(value) + "\n"
    }.joined()
    return head + (stores.isEmpty ? "stores     none yet\n" : stores.map(text).joined())
  }

  private var org: String {
    let address = summary.instanceURL.map { " at \($0)" } ?? ""
    return summary.org + address + (summary.isSandbox == true && summary.org != "sandbox" ? ", a sandbox" : "")
  }

  private var user: String {
    guard let session = summary.session else { return summary.user ?? "sandbox-user" }
    return "\(summary.user ?? "-"), \(session)"
  }

  private func text(_ store: OneStore) -> String {
    let kind = store.reference.isGlobal ? "global store" : "store"
    var text = "\n\(kind) \(TextTable.cell(store.reference.name)), \(ByteSize.text(store.bytes))\n"
    let indented = { (table: String) in table.split(separator: "\n").map { "  \($0)\n" }.joined() }
    let width = TerminalWidth.columns.map { $0 - 2 }
    if !store.soups.isEmpty {
      let columns: [TextTable.Column] = [
        .init("SOUP"), .init("ENTRIES", isNumeric: true), .init("DIRTY", isNumeric: true),
        .init("CONFLICTS", isNumeric: true), .init("IN DOUBT", isNumeric: true), .init(""),
      ]
      let rows = store.soups.map { soup in
        [soup.name, "\(soup.entries)", "\(soup.dirty)", "\(soup.conflicts)", "\(soup.inDoubt)", soup.changes]
      }
      text += indented(TextTable.text(columns, rows, width: width))
    }
    if !store.syncs.isEmpty {
      let rows = store.syncs.map { [$0.title, $0.status, $0.lastRun ?? "never", $0.error ?? $0.figures] }
      let columns = ["SYNC", "STATUS", "LAST RUN", "RESULT"].map { TextTable.Column($0) }
      text += "\n" + indented(TextTable.text(columns, rows, width: width))
    }
    return text
  }
}
