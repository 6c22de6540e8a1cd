import Foundation
import JSON
import RestClient
import SandboxOrg
import SmartStore
import TestSupport
import Testing

@testable import MobileSync
@testable import Salesforce

/// Accounts that are synced down, changed at random, planned and sent.
struct PlanBench {
  enum Kind: String, CaseIterable, Sendable { case collection, batch, plain, families }

  let kind: Kind
  let families: ParentChildrenBench
  let mergeMode: MergeMode
  var bench: SyncBench { families.bench }

  static let modes: [MergeMode] = [.overwrite, .leaveIfChanged, .merge]

  init(_ kind: Kind, _ mergeMode: MergeMode, accounts: Int) async throws {
    self.kind = kind
    self.mergeMode = mergeMode
    families = try await ParentChildrenBench()
    for n in 0..<accounts {
      if kind == .families {
        try families.addFamily("F\(n)", children: 2)
      } else {
        try bench.addAccount("Account \(n)", "d")
      }
    }
    try bench.manager.createSyncUp(target: target, options: options, soupName: "accounts", syncName: "up")
    try await down()
  }

  private var target: JSONObject {
    kind == .families ? ParentChildrenBench.upTarget("MASTER_DETAIL") : ["type": .string(kind.rawValue)]
  }

  private var options: JSONObject {
    var options = SyncOptions(mergeMode: mergeMode).json
    if kind != .families { options["fieldlist"] = ["Name", "Description"] }
    return options
  }

  func down() async throws {
    if kind == .families { return try await families.down() }
    let mode: JSONObject = ["mergeMode": "LEAVE_IF_CHANGED"]
    if try bench.manager.hasSyncWithName("down") {
      _ = try await bench.manager.reSync(.name("down"))
    } else {
      _ = try await bench.down(mode, name: "down")
    }
    bench.org.clearRequests()
  }

  func plan(asksServer: Bool = false) async throws -> SyncPlan {
    try await bench.manager.planSync(.name("up"), asksServer: asksServer)
  }

  func up() async throws -> SyncState { try await bench.manager.reSync(.name("up")) }

  // MARK: Random changes

  private var soups: [String] { kind == .families ? ["accounts", "contacts"] : ["accounts"] }

  /// Makes changes of every form.
  /// - Parameter isLast: Fields that no list names are changed, too: the server then has other values than the base, which no
  ///   later plan can know.
  func change(_ random: inout SeededGenerator, round: Int, isLast: Bool) throws {
    for soup in soups {
      for entry in try families.entries(soup) where entry["__local__"] != true && Bool.random(using: &random) {
        try families.save(changed(entry, soup, Int.random(in: 0..<(isLast ? 7 : 5), using: &random), round), soup)
      }
    }
    for n in 0..<Int.random(in: 0..<4, using: &random) { try create("New \(round).\(n)", &random) }
  }

  private func changed(_ given: JSONObject, _ soup: String, _ what: Int, _ round: Int) -> JSONObject {
    var entry = given
    let text = soup == "accounts" ? "Description" : "Department", name = soup == "accounts" ? "Name" : "LastName"
    entry["__local__"] = true
    entry["__locally_updated__"] = true
    switch what {
    case 0: entry[text] = .null
    case 1: entry[text] = .string("text \(round)")
    case 2: entry[text] = .string(String(repeating: "x", count: 200) + "\(round)")
    case 3: entry[name] = .string("Renamed \(round) \(entry["_soupEntryId"]?.text ?? "")")
    case 5: entry["Phone"] = .string("\(round)")
    case 4:
      entry["__locally_updated__"] = false
      entry["__locally_deleted__"] = true
    default:
      entry[text] = .string("both \(round)")
      entry["Phone"] = .string("\(round)")
    }
    return entry
  }

  private func create(_ name: String, _ random: inout SeededGenerator) throws {
    let isDeleted: JSONObject = Int.random(in: 0..<4, using: &random) == 0 ? ["__locally_deleted__": true] : [:]
    guard kind == .families else {
      try bench.createLocally(name, isDeleted.replacing(with: Bool.random(using: &random) ? ["Description": .null] : [:]))
      return
    }
    let id = "local_\(name)"
    try families.createAccount(name, id: id, isDeleted)
    for n in 0..<Int.random(in: 0..<3, using: &random) {
      try families.createContact("\(name).\(n)", id: "\(id)_\(n)", of: id)
    }
  }

  // MARK: Requests

  /// The requests of the org's log, as lines: method, path with the query, and body.
  func sent() -> [String] {
    bench.org.requests().map { "\($0.method) \(Self.whole($0.path, $0.query)) \($0.body)" }
  }

  /// The same of a plan.
  static func lines(_ requests: [PlannedRequest]) -> [String] {
    requests.map { planned in
      let request = planned.request, parts = request.path.split(separator: "?", maxSplits: 1)
      let body = String(decoding: (request.body ?? []).prefix(16 * 1024), as: UTF8.self)
      let more = parts.count > 1 ? parts[1].split(separator: "&").map { $0.removingPercentEncoding ?? "" } : []
      let query = more + request.query.map { "\($0.name)=\($0.value)" }
      return "\(request.method.rawValue) \(whole(String(parts.first ?? ""), query)) \(body)"
    }
  }

  private static func whole(_ path: String, _ query: [String]) -> String {
    query.isEmpty ? path : path + "?" + query.joined(separator: "&")
  }
}
