import JSON
import LuaBridge
import MobileSync
import RestClient
import Salesforce
import SmartStore
import Support

/// The settings of a checkup.
public struct DoctorOptions: Sendable {
  /// Sends no request.
  public var isOffline = false
  /// Lets SQLite compare all indexes, which takes long.
  public var isDeep = false
  /// Mends modes, leases of dead processes, leftovers and indexes; never data.
  public var fixes = false

  public init() {}
}

extension Host {
  /// Checks the home, the stores, the syncs and the servers of this host, and says how to mend what is wrong. Blocks.
  /// - Parameters:
  ///   - options: Whether servers are asked, indexes are compared, and what is wrong is mended.
  ///   - withHome: False if the files of the home have been checked already.
  /// - Throws: ``HostError`` if the host cannot start.
  public func doctor(_ options: DoctorOptions = DoctorOptions(), withHome: Bool = true) throws -> DoctorReport {
    let core = try core()
    var report = withHome ? DoctorReport(ofHome: core.home, options) : DoctorReport()
    report.add(try checkConfiguration())
    report.add(try checkStores(options))
    report.add(checkServers(options))
    return report
  }

  // MARK: Configuration

  /// Checks what the configuration files name. Files that cannot be read keep a host from starting.
  func checkConfiguration() throws -> [HealthCheck] {
    let core = try core(), user = core.user
    guard core.parts.settings.configDirectory != nil else { return [] }
    var checks: [HealthCheck] = [], count = 0
    for isGlobal in [false, true] {
      let store = StoreReference(name: StoreReference.defaultName, isGlobal: isGlobal)
      for definition in try user.configuredSyncs(in: store) {
        count += 1
        do {
          _ = try afterSync(definition.name, in: store)
        } catch let error as HostError {
          checks.append(
            HealthCheck("config", .fail, error.message, fix: "correct 'after' of the sync", ["sync": .string(definition.name)]))
        }
      }
    }
    guard checks.isEmpty else { return checks }
    return [HealthCheck("config", .ok, "the configuration files are right (\(count) sync\(count == 1 ? "" : "s"))")]
  }

  // MARK: Stores

  /// Checks each store of the user, and the global ones.
  func checkStores(_ options: DoctorOptions) throws -> [HealthCheck] {
    let core = try core()
    var checks: [HealthCheck] = []
    for isGlobal in [false, true] {
      let names: [String]
      do {
        names = try core.user.registry(isGlobal: isGlobal).storeNames(isGlobal: isGlobal)
      } catch {
        checks.append(HealthCheck("store", .fail, "the stores cannot be listed: \(ErrorWords.of(error))"))
        continue
      }
      for name in names {
        let store = StoreReference(name: name, isGlobal: isGlobal)
        let title = "\(isGlobal ? "global store" : "store") '\(name)'"
        do {
          let found = try check(store, title, core, options)
          checks += found.isEmpty ? [HealthCheck("store", .ok, "\(title) is sound", ["store": .string(name)])] : found
        } catch {
          checks.append(Self.unreadable(title, error, name))
        }
      }
    }
    return checks
  }

  private static func unreadable(_ title: String, _ error: any Error, _ name: String) -> HealthCheck {
    let code = (error as? StoreError)?.code
    let fix: String? =
      switch code {
      case .keyRequired, .wrongKey: "set TUREEN_STORE_KEY_FILE to the file with its key"
      case .newerSchema: "update Tureen"
      case .notADatabase: "restore a backup, or set recover to moveAside"
      case .unfinishedCopy: "run tureen store copy again, or tureen store remove"
      default: nil
      }
    return HealthCheck(
      "store", .fail, "\(title) cannot be read: \(ErrorWords.of(error))", fix: fix,
      ["store": .string(name), "code": code.map { .string($0.rawValue) } ?? .null])
  }

  private func check(
    _ reference: StoreReference, _ title: String, _ core: HostCore, _ options: DoctorOptions
  ) throws -> [HealthCheck] {
    let look = try core.look(reference)
    var checks: [HealthCheck] = []
    if core.parts.settings.store == nil,
      let damage = try StoreFileCheck.damage(look.store.path, key: core.parts.settings.storeKey?.read(), isDeep: options.isDeep)
    {
      checks.append(
        HealthCheck(
          "store", .fail, "\(title) is damaged: \(damage)", fix: "export what can be read, and restore a backup",
          ["store": .string(reference.name)]))
    }
    let found = try StoreCheckup(look).checks(isDeep: options.isDeep)
    guard options.fixes else { return checks + found }
    return try checks + found.map { try mended($0, reference, core) ?? $0 }
  }

  /// Mends what a check has found, if that touches no data.
  private func mended(_ check: HealthCheck, _ store: StoreReference, _ core: HostCore) throws -> HealthCheck? {
    guard !core.parts.settings.leavesStores else { return nil }
    var mended = check
    if check.details["abandoned"] == true, let id = check.details["syncId"]?.integerValue {
      // Reading the state makes STOPPED of a RUNNING without a process.
      guard try core.manager(store).getSyncStatus(.id(id))?.status == .stopped else { return nil }
    } else if let path = check.details["missingIndex"]?.stringValue, let soup = check.details["soup"]?.stringValue {
      let opened = try core.store(store)
      let specs = try opened.readBlocking { try $0.indexSpecs(of: soup) }
      try opened.alterSoup(
        soup, indexSpecs: specs + [IndexSpec(path: path, type: .string)], reIndexData: true)
    } else if let path = check.details["staleIndex"]?.stringValue, let soup = check.details["soup"]?.stringValue {
      try core.store(store).reIndexSoup(soup, paths: [path])
    } else {
      return nil
    }
    mended.status = .note
    mended.text += "; mended"
    mended.fix = nil
    mended.details["mended"] = true
    return mended
  }

  // MARK: Servers

  /// Asks the org and each connection for one answer.
  func checkServers(_ options: DoctorOptions) -> [HealthCheck] {
    guard !options.isOffline else {
      return ["net", "auth", "clock"].map { HealthCheck($0, .skipped, "not asked, because of --offline") }
    }
    do {
      let core = try core()
      return try Blocking.run {
        var checks = await ServerCheckup(core).org()
        for name in core.connections.names { checks += await ServerCheckup(core).connection(name) }
        return checks
      }
    } catch {
      return [HealthCheck("net", .skipped, "not asked: \(ErrorWords.of(error))")]
    }
  }
}

enum ErrorWords {
  static func of(_ error: any Error) -> String {
    (error as? any BridgeErrorConvertible)?.bridgeError.message ?? (error as? BridgeError)?.message ?? "\(error)"
  }
}

/// Asks servers for one answer each: whether they can be reached, take the sign-in, and have the same time.
struct ServerCheckup {
  /// Source: lost creates are looked up within this, in ms.
  private static let brokenClockMs: Int64 = 300_000
  private static let wrongClockMs: Int64 = 60_000

  private let core: HostCore

  init(_ core: HostCore) { self.core = core }

  private func now() -> Int64 { SystemClock.millisecondsSince1970() }

  func org() async -> [HealthCheck] {
    let name = core.user.org.name
    guard name != Org.sandboxName else {
      return [HealthCheck("net", .skipped, "the sandbox org is on this machine and needs no sign-in")]
    }
    let title = "org '\(name)'"
    let sent = now()
    do {
      let response = try await core.client.send(RestRequest(.GET, "/services/data/\(core.parts.apiVersion)"))
      var checks = [HealthCheck("net", .ok, "\(title) answers"), HealthCheck("auth", .ok, "\(title) takes the sign-in")]
      checks += clock(response.header("Date"), sent: sent, title)
      if let usage = core.user.usage.latest(), usage.max > 0, usage.max - usage.used < usage.max / 10 {
        checks.append(
          HealthCheck(
            "auth", .warn, "\(title) allows \(max(0, usage.max - usage.used)) more API calls of \(usage.max) in 24 hours",
            fix: "sync less often, or set apiBudget", ["used": .integer(usage.used), "max": .integer(usage.max)]))
      }
      return checks
    } catch {
      return failure(error, title, sent: sent, login: "tureen login --org \(name)")
    }
  }

  func connection(_ name: String) async -> [HealthCheck] {
    let title = "connection '\(name)'"
    let sent = now()
    do {
      let response = try await core.connections.connection(named: name).send(RestRequest(.GET, "/"))
      return [HealthCheck("net", .ok, "\(title) answers")] + clock(response.response.header("Date"), sent: sent, title)
    } catch let error as RestError where error.code == .httpStatus && ![401, 403, 407].contains(error.status ?? 0) {
      // The base need not be a resource; an answer is enough.
      return [HealthCheck("net", .ok, "\(title) answers")] + clock(error.header("Date"), sent: sent, title)
    } catch {
      return failure(error, title, sent: sent, login: "correct its authorization in connections.json")
    }
  }

  /// Returns the message of an error in a form that some servers use, such as `{"code": 119, "error": "denied"}`.
  private static func message(_ error: RestError) -> String? {
    guard let status = error.status, let said = error.body.flatMap({ try? JSONValue(parsing: $0) })?.objectValue else {
      return nil
    }
    let text = ["error_description", "message", "error"].lazy.compactMap { said[$0]?.stringValue }.first { !$0.isEmpty }
    return text.map { "\(status): \($0)" }
  }

  private func failure(_ error: any Error, _ title: String, sent: Int64, login: String) -> [HealthCheck] {
    let text = (error as? RestError).flatMap(Self.message) ?? ErrorWords.of(error)
    guard let error = error as? RestError else {
      return [
        HealthCheck("auth", .fail, "\(title): \(text)", fix: login, ["said": .string(text), "short": .string("\(title) fails")])
      ]
    }
    let clocks = clock(error.header("Date"), sent: sent, title)
    func check(_ name: String, _ what: String, fix: String?) -> HealthCheck {
      HealthCheck(
        name, .fail, "\(title) \(what): \(text)", fix: fix,
        ["code": .string(error.code.rawValue), "said": .string(text), "short": .string("\(title) \(what)")])
    }
    switch error.code {
    case .untrustedCertificate:
      return [check("net", "has a certificate that is not trusted", fix: "set TUREEN_CA_FILE to the authority's certificate")]
    case .noResponse: return [check("net", "cannot be reached", fix: "check its address, the network and the proxy")]
    case .notAuthenticated, .sessionExpired, .otherOrg: return [check("auth", "refuses the sign-in", fix: login)] + clocks
    case .httpStatus where [401, 403, 407].contains(error.status ?? 0):
      return [check("auth", "refuses the sign-in", fix: login)] + clocks
    default: return [check("net", "fails", fix: nil)] + clocks
    }
  }

  private func clock(_ date: String?, sent: Int64, _ title: String) -> [HealthCheck] {
    guard let date, let time = TimeStamp.milliseconds(httpDate: date) else {
      return [HealthCheck("clock", .skipped, "\(title) does not tell its time")]
    }
    // The date is cut to seconds, and was written between the request and the answer.
    let offset = time + 500 - (sent + now()) / 2, seconds = abs(offset) / 1000
    let details: JSONObject = ["offsetMs": .integer(offset)]
    guard abs(offset) > Self.wrongClockMs else {
      return [HealthCheck("clock", .ok, "\(title) has the time of this machine", details)]
    }
    return [
      HealthCheck(
        "clock", abs(offset) > Self.brokenClockMs ? .fail : .warn,
        "the clock of \(title) is \(seconds) s \(offset > 0 ? "ahead of" : "behind") this machine's",
        fix: "set this machine's clock by NTP", details)
    ]
  }
}
