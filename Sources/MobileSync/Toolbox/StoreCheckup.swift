import JSON
import SmartStore

/// Checks what a store holds: the last runs of its syncs, what waits, and indexes that syncs need. It changes nothing.
public struct StoreCheckup: Sendable {
  /// From how many entries on a missing index is worth a warning.
  private static let manyEntries = 1000
  /// How long an entry may wait, in ms.
  private static let longWaitMs: Int64 = 7 * 86_400_000
  /// A write-ahead log of this size was not folded back for long.
  private static let largeLog: Int64 = 256 << 20

  let look: StoreLook
  private let overview: StoreOverview

  public init(_ look: StoreLook) throws {
    self.look = look
    overview = try look.overview()
  }

  /// `store 'main'`, as it begins a sentence about one that is not the default one.
  var place: String {
    look.storeOptions.isEmpty ? "" : "\(look.store.isGlobal ? "global store" : "store") '\(look.store.name)': "
  }

  private func command(_ words: String...) -> String { CommandText.line(words, of: look) }

  /// - Parameter isDeep: Whether all entries are compared with their indexes, and not only the first ones.
  public func checks(isDeep: Bool = false) throws -> [HealthCheck] {
    let (syncs, uploads, specs) = try look.store.readBlocking { snapshot in
      let reader = try DirtyReader(look, snapshot)
      let names = try snapshot.soupNames().filter { $0 != SyncsSoup.name }
      return (reader.syncs, SoupUploads(reader.syncs, look.targets), try names.map { ($0, try snapshot.indexSpecs(of: $0)) })
    }
    var checks = overview.syncs.flatMap(lastRun) + syncs.compactMap { code(of: $0) }
    for (soup, specs) in specs {
      checks += indexes(of: soup, specs, syncs, uploads)
      checks += try staleIndexes(of: soup, specs, isDeep: isDeep)
    }
    for soup in overview.soups { checks += try waiting(soup) + refused(soup) }
    if let log = overview.walBytes, log > Self.largeLog {
      checks.append(
        HealthCheck(
          "store", .warn, "\(place)the write-ahead log has \(log) bytes: a program has read from it for a long time",
          fix: "end programs that keep the store open", ["walBytes": .integer(log)]))
    }
    return checks
  }

  // MARK: Runs

  private func lastRun(_ sync: SyncOverview) -> [HealthCheck] {
    guard let name = sync.state.name else { return [] }
    let details: JSONObject = ["sync": .string(name), "syncId": .integer(sync.state.id)]
    if sync.isAbandoned {
      return [
        HealthCheck(
          "sync", .warn, "\(place)sync '\(name)' was running in a process that has ended", fix: command("sync", name),
          details.replacing(with: ["abandoned": true]))
      ]
    }
    switch sync.state.status {
    case .failed:
      let error = Self.message(sync.state.error), short = "\(place)the last run of sync '\(name)' failed"
      return [
        HealthCheck(
          "sync", .fail, "\(short): \(error)", fix: command("sync", name),
          details.replacing(with: ["said": .string(error), "short": .string(short)]))
      ]
    default: return []
    }
  }

  /// Returns the message of a server's answer, or the text itself.
  private static func message(_ error: String) -> String {
    let parsed = try? JSONValue(parsing: error), first = parsed?.arrayValue?.first ?? parsed
    return ["message", "error_description", "error"].lazy.compactMap { first?[$0]?.stringValue }.first ?? error
  }

  /// Functions of scripts, which `tureen sync` does not have.
  private func code(of sync: SyncState) -> HealthCheck? {
    guard let name = sync.name else { return nil }
    let code =
      [("luaImpl", sync.target["luaImpl"]), ("transform", sync.target["transform"])]
      .compactMap { key, value in value?.stringValue.map { (key, $0) } }
      + (sync.options.resolver.map { [("resolver", $0)] } ?? [])
    guard let (key, function) = code.first else { return nil }
    let remedy =
      key == "resolver" ? "run it in its script with tureen run, or use 'resolve'" : "run it in its script with tureen run"
    return HealthCheck(
      "config", .note,
      "\(place)sync '\(name)' needs the Lua function '\(function)' (\(key)), which tureen sync loads only as a module",
      fix: remedy, ["sync": .string(name), "key": .string(key)])
  }

  // MARK: Indexes

  private func indexes(
    of soup: String, _ specs: [IndexSpec], _ syncs: [SyncState], _ uploads: SoupUploads
  ) -> [HealthCheck] {
    let users = syncs.filter { SoupUploads.soups(of: $0, look.targets).contains { $0.hasSameBytes(as: soup) } }
    guard !users.isEmpty else { return [] }
    func has(_ path: String) -> Bool { specs.contains { $0.path.hasSameBytes(as: path) } }
    var checks: [HealthCheck] = []
    let id = uploads.fields(of: soup).id, entries = overview.soups.first { $0.name.hasSameBytes(as: soup) }?.entries ?? 0
    if !has(id) { checks.append(missing(id, soup, .fail, "its syncs find entries by it")) }
    if !has(LocalField.local), entries >= Self.manyEntries {
      checks.append(missing(LocalField.local, soup, .warn, "each search for unsent entries reads all \(entries)"))
    }
    return checks
  }

  private func missing(_ path: String, _ soup: String, _ status: HealthCheck.Status, _ why: String) -> HealthCheck {
    HealthCheck(
      "config", status, "\(place)soup '\(soup)' has no index on '\(path)': \(why)",
      fix: #"add {"path": "\#(path)", "type": "string"} to the soup in userstore.json, or use alterSoup"#,
      ["soup": .string(soup), "missingIndex": .string(path)])
  }

  // MARK: Entries

  private func waiting(_ soup: SoupOverview) throws -> [HealthCheck] {
    var checks: [HealthCheck] = []
    if soup.count(.waiting) > 0 {
      if sender(soup.name) == nil {
        checks.append(
          HealthCheck(
            "sync", .warn,
            "\(place)unsent entries of '\(soup.name)': \(soup.count(.waiting)), and no sync up sends the soup",
            fix: "add a sync up of '\(soup.name)' to usersyncs.json", ["soup": .string(soup.name)]))
      } else if let oldest = soup.oldestWaiting, look.now() - oldest > Self.longWaitMs {
        let days = (look.now() - oldest) / 86_400_000
        checks.append(
          HealthCheck(
            "sync", .warn, "\(place)entries of '\(soup.name)' have been waiting for \(days) days",
            fix: command("sync", sender(soup.name) ?? "NAME"),
            ["soup": .string(soup.name), "oldestWaiting": .integer(oldest)]))
      }
    }
    if soup.count(.inDoubt) > 0 {
      let undecided = try look.dirtyEntries(inSoup: soup.name, states: [.inDoubt]).filter { $0.until == nil }
      if let first = undecided.first {
        checks.append(
          HealthCheck(
            "sync", .warn,
            "\(place)new entries of '\(soup.name)' that may or may not be on the server, undecided: \(undecided.count)",
            fix: first.remedies.first ?? command("dirty", "--in-doubt"), ["soup": .string(soup.name)]))
      }
    }
    return checks
  }

  /// The name of the sync up that sends a soup; nil if none does.
  private func sender(_ soup: String) -> String? {
    let states = overview.syncs.map(\.state)
    return SoupUploads(states, look.targets).sender(of: soup)?.sync.name
  }
}
