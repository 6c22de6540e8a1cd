import Glibc
import JSON
import LuaBridge
import MobileSync
import RestClient
import RestCollections
import Support

/// Tries out a target of type `rest` during development: sends its first request and optionally creates, updates and deletes
/// one record. Stores nothing.
public struct RestTrial {
  private let target: JSONObject
  private let host: Host
  private let home: String

  /// - Parameters:
  ///   - path: A file with a target, or with a target under `target` and optionally its connection under `connection`, like the
  ///     files in `scripts/connections`.
  ///   - connection: The name of a connection in `connections.json` in the same folder. Overrides the target's.
  ///   - requestLog: The request log; nil for none.
  /// - Throws: ``HostError`` `.invalidConfiguration`, naming the file and the key; `.fileNotWritable`.
  public init(file path: String, connection: String?, requestLog: RequestLogSettings?) throws {
    let absolute = HostSettings.absolute(path), folder = FileSystem.folder(of: absolute)
    do {
      let name = String(absolute.dropFirst(folder == "/" ? 1 : folder.count + 1)), trusted = try TrustedFolders()
      guard let file = try ConfigurationFile.read(name, in: folder, trusted) else {
        throw HostError(.invalidConfiguration, "\(path): cannot be read")
      }
      var settings = HostSettings()
      (target, settings.connections) = try RestTrial.read(file, folder: folder, connection, trusted)
      settings.requestLog = requestLog
      home = try RestTrial.temporaryHome()
      settings.home = home
      host = Host(settings: settings)
    } catch let problem as JSONFile.Problem {
      throw HostError(.invalidConfiguration, problem.description)
    } catch let problem as ConnectionProblem {
      throw HostError(.invalidConfiguration, "\(path): 'connection': \(problem)")
    }
  }

  private static func read(
    _ source: ConfigurationFile, folder: String, _ name: String?, _ trusted: TrustedFolders
  ) throws -> (target: JSONObject, connections: [ConnectionSettings]) {
    let file = source.json
    guard let top = file.value.objectValue else { throw file.problem("must contain an object") }
    let isAlone = top["type"] != nil
    if !isAlone, let unknown = KnownKeys(["about", "connection", "target"]).unknown(in: top) {
      throw file.problem(key: unknown.key, unknown.complaint)
    }
    guard var target = isAlone ? top : top["target"]?.objectValue else {
      throw file.problem("must contain a target: an object with 'type', or one under 'target'")
    }
    guard target["type"]?.stringValue == "rest" else { throw file.problem("the target's 'type' must be \"rest\"") }
    if let name { target["connection"] = .string(name) }
    let origin = ConnectionSettings.Origin(folder: folder, allowsPlainSecrets: false)
    if name == nil, !isAlone, let own = top["connection"] {
      let name = target["connection"]?.stringValue ?? "default"
      target["connection"] = .string(name)
      try source.checkTrust(key: "connection")
      return (target, [try ConnectionSettings(name: name, json: own, from: origin)])
    }
    guard let beside = try ConfigurationFile.read("connections.json", in: folder, trusted) else { return (target, []) }
    try beside.checkTrustOfConnections()
    return (target, try ConnectionSettings.read(beside.json, folder: folder))
  }

  private static func temporaryHome() throws -> String {
    let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(folder)/tureen-rest.XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else {
      throw HostError(.fileNotWritable, "no folder can be made in \(folder): \(String(cString: strerror(errno)))")
    }
    return template.withUnsafeBufferPointer { String(cString: $0.baseAddress!) }
  }

  /// - Parameters:
  ///   - writes: Whether a record is created, changed and deleted on the server.
  ///   - keeps: Whether the record may stay at the server if the target cannot delete it.
  ///   - hold: Called with true before the record is created, and with false when it is gone or its id was told: a process
  ///     should not end in between.
  ///   - tell: Called with each line of the report.
  /// - Returns: True if the list is usable and the server accepted every write.
  /// - Throws: ``HostError`` for an invalid target.
  public func run(
    writes: Bool, keeps: Bool = false, hold: (Bool) -> Void = { _ in }, _ tell: (String) -> Void
  ) throws -> Bool {
    defer {
      host.shutdown()
      try? FileSystem.removeTree(home)
    }
    let list = try firstRequest()
    tell("\(list.request)\n  \(list.outcome)")
    if let quota = list.quota { tell(RestTrial.line("quota", quota)) }
    guard let survey = list.survey else {
      if let hint = list.hint { tell("\n\(hint)") }
      return false
    }
    for finding in survey.findings { tell(RestTrial.line(finding.subject, finding.text)) }
    if list.quota == nil { tell(RestTrial.line("quota", "the answer says nothing of one")) }
    if let later = list.later { tell("later runs: \(later.request)\n  \(later.outcome)") }
    let isUsable = survey.isUsable && list.later?.isRefused != true
    if list.later?.isRefused == true {
      tell(
        "\nThe server refuses the request of later runs: every sync after the first would fail. Is 'incremental.params' right? "
          + "'{since}' has milliseconds unless 'incremental.format' says otherwise.")
    }
    if !survey.advice.isEmpty {
      tell("\nKeys that would fit better:")
    } else if survey.isUsable {
      tell("\nNo key would fit better.")
    }
    for line in RestTrial.spelled(survey.advice) { tell("  \(line)") }
    if !survey.unknown.isEmpty { tell("\nWhat the answer does not tell:") }
    for sentence in survey.unknown { tell("  " + sentence) }
    guard writes else { return isUsable }
    guard isUsable else {
      tell("\nNothing is written before the list can be read.")
      return false
    }
    hold(true)
    defer { hold(false) }
    return try write(sample: survey.items.first, keeps: keeps, tell)
  }

  private func firstRequest() throws -> ListTrial {
    let connections = try host.core().connections, target = target
    do {
      return try Blocking.run { try await ListTrial.run(target, connections) }
    } catch {
      let message = (error as? any BridgeErrorConvertible)?.bridgeError.message
      throw HostError(.invalidConfiguration, message ?? "\(error)")
    }
  }

  private static func line(_ subject: String, _ text: String) -> String {
    "  " + subject + String(repeating: " ", count: max(1, 8 - subject.count)) + text
  }

  /// Formats one line per key of the target, such as `"paging": {"style":"bodyUrl","nextPath":"next"}`.
  private static func spelled(_ advice: [PageSurvey.Advice]) -> [String] {
    var keys = JSONObject()
    for one in advice { keys.set(one.value, at: one.key.split(separator: ".").map(String.init)) }
    return keys.map { "\(JSONValue.string($0.key).text): \($0.value.text)" }
  }
}

// MARK: Writing

extension RestTrial {
  private func write(sample: JSONValue?, keeps: Bool, _ tell: (String) -> Void) throws -> Bool {
    let stamp = TimeStamp.text(SystemClock.millisecondsSince1970())
    let trial: TrialRecord
    do {
      trial = try TrialRecord(target, sample: sample, text: "Tureen trial \(stamp)")
    } catch {
      tell("\nNothing is written: \(error)")
      return false
    }
    guard trial.hasDelete || keeps else {
      tell("\nNothing is written: the target has no 'up.delete', and the record would stay at the server. --keep allows that.")
      return false
    }
    tell("")
    let bridge = try Bridge(host: host)
    defer { bridge.close() }
    let soup = TrialSoup(bridge: bridge, target: target, idPath: trial.idPath)
    try soup.register()
    var row = trial.row
    row.set("local_1", at: trial.idPath)
    tell(RestTrial.line("sent", RestTrial.cut(JSONValue.object(trial.row).text)))
    guard let created = try soup.send(row, as: "__locally_created__", "create", tell) else {
      tell(RestTrial.line("", "if the server has a record with the text 'Tureen trial \(stamp)' all the same, delete it there"))
      return false
    }
    let changed = trial.differences(from: created)
    if !changed.isEmpty { tell(RestTrial.line("", "the server changed \(changed.map { "'\($0)'" }.joined(separator: ", "))")) }
    let id = created.value(at: trial.idPath)?.text ?? "unknown"
    guard trial.hasDelete else {
      let updated = try update(created, trial, soup, stamp, tell)
      tell(RestTrial.line("delete", "the target has no 'up.delete': the record \(id) stays at the server"))
      return updated != nil
    }
    var updated: JSONObject?, failure: (any Error)?
    do { updated = try update(created, trial, soup, stamp, tell) } catch { failure = error }
    // Also after a failure, so that no record is left behind.
    let deleted = try? soup.send(updated ?? created, as: "__locally_deleted__", "delete", tell)
    if deleted == nil { tell(RestTrial.line("", "the record \(id) stays at the server: delete it there")) }
    if let failure { throw failure }
    return updated != nil && deleted != nil
  }

  /// Characters of a record that are shown.
  private static let shownCharacters = 500

  private static func cut(_ text: String) -> String {
    text.count > shownCharacters ? text.prefix(shownCharacters) + "…" : text
  }

  /// - Returns: The record, unchanged if there is nothing to update; nil if the server refuses the update.
  private func update(
    _ created: JSONObject, _ trial: TrialRecord, _ soup: TrialSoup, _ stamp: String, _ tell: (String) -> Void
  ) throws -> JSONObject? {
    guard trial.hasUpdate else {
      tell(RestTrial.line("update", "the target has no 'up.update'"))
      return created
    }
    guard let edited = trial.edited(created, text: "Tureen trial \(stamp), changed") else {
      tell(RestTrial.line("update", "not tried: no member that is sent holds text"))
      return created
    }
    return try soup.send(edited, as: "__locally_updated__", "update", tell)
  }
}

/// The soup for the record of a trial.
private struct TrialSoup {
  let bridge: Bridge
  let target: JSONObject
  let idPath: [String]
  private static let name = "trial"
  private var indexPath: JSONValue { .string(idPath.joined(separator: ".")) }

  func register() throws {
    let spec: JSONObject = ["path": indexPath, "type": "string"]
    _ = try call("smartstore", "pgRegisterSoup", ["soupName": .string(Self.name), "indexes": [.object(spec)]])
  }

  /// Stores a change and syncs it up.
  /// - Returns: The record afterwards; nil if it was refused, which has been reported.
  func send(
    _ record: JSONObject, as mark: String, _ verb: String, _ tell: (String) -> Void
  ) throws -> JSONObject? {
    var marked = record
    marked["__local__"] = true
    marked[mark] = true
    let upsert: JSONObject = ["soupName": .string(Self.name), "entries": [.object(marked)], "externalIdPath": "_soupEntryId"]
    _ = try call("smartstore", "pgUpsertSoupEntries", upsert)
    let sync: JSONObject = ["soupName": .string(Self.name), "target": .object(target), "options": ["mergeMode": "OVERWRITE"]]
    var problem: String?
    do { _ = try call("mobilesync", "syncUp", sync) } catch { problem = error.message }
    let left = try entry()
    if let problem = problem ?? left.flatMap(Self.refusal) {
      tell("  \(verb)  \(problem)")
      return nil
    }
    guard verb != "delete" else {
      tell("  delete  taken")
      return record
    }
    tell("  \(verb)  taken\(verb == "create" ? ": the new id is \(left?.value(at: idPath)?.text ?? "unknown")" : "")")
    return left
  }

  /// Returns why the record was refused; nil if it was not.
  private static func refusal(_ row: JSONObject) -> String? {
    guard row["__local__"]?.boolValue == true else { return nil }
    guard let text = row["__last_error__"]?.stringValue, let error = try? JSONValue(parsing: Array(text.utf8)) else {
      return "not sent, or its answer is not known"
    }
    let fields = error["fields"]?.objectValue?.map { "\($0.key): \($0.value.stringValue ?? $0.value.text)" } ?? []
    let status = error["status"]?.integerValue.flatMap { $0 == 0 ? nil : "\($0) " } ?? ""
    // Omit a message that only repeats the fields as JSON.
    let message = error["message"]?.stringValue.flatMap { $0.hasPrefix("{") && !fields.isEmpty ? nil : $0 }
    return "refused: " + status + ([message].compactMap { $0 } + fields).joined(separator: "; ")
  }

  private func entry() throws -> JSONObject? {
    let spec: JSONObject = ["queryType": "range", "indexPath": indexPath, "order": "ascending", "pageSize": 1]
    let page = try call("smartstore", "pgQuerySoup", ["soupName": .string(Self.name), "querySpec": .object(spec)])
    return page["currentPageOrderedEntries"]?.arrayValue?.first?.objectValue
  }

  private func call(_ service: String, _ action: String, _ arguments: JSONObject) throws(HostError) -> JSONValue {
    switch bridge.perform(service: "com.salesforce.\(service)", action: action, arguments: arguments) {
    case .success(let payload): return (try? JSONValue(parsing: payload)) ?? .null
    case .failure(let text):
      let message = (try? JSONValue(parsing: text))?["message"]?.stringValue
      throw HostError(.unsupported, message ?? String(decoding: text, as: UTF8.self))
    }
  }
}
