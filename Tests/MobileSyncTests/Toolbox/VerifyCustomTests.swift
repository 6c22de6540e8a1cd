import JSON
import SmartStore
import Synchronization
import Testing

@testable import MobileSync

/// Rows 36 and 37 for modules: asked for their ids, and for the records of the soup.
@Suite struct VerifyCustomTests {
  /// A module with numbered records, of which some functions are missing.
  private final class Module: CustomTargetRunner {
    struct State: Sendable {
      var records: [String: String] = ["a1": "one", "a2": "two", "a3": "three"]
      var functions: [String] = []
      var calls: [String] = []
    }

    let state = Mutex(State())

    private static func record(_ id: String, _ name: String) -> JSONValue {
      ["Id": .string(id), "Name": .string(name), "LastModifiedDate": "2024-01-01T00:00:00.000+0000"]
    }

    func run(_ call: CustomTargetCall) async throws -> [UInt8] {
      let answer: JSONValue = try state.withLock { state in
        state.calls.append(call.function.rawValue)
        switch call.function {
        case .startFetch:
          return ["records": .array(state.records.sorted { $0.key < $1.key }.map { Self.record($0.key, $0.value) })]
        case .remoteIds: return ["ids": .array(state.records.keys.sorted().map { .string($0) })]
        case .functions: return ["functions": .array(state.functions.map { .string($0) })]
        case .fetchFromServer:
          let asked = call.arguments["records"]?.arrayValue ?? []
          let found = asked.map { record -> JSONValue in
            let id = record["Id"]?.stringValue ?? ""
            return state.records[id].map { Self.record(id, $0) } ?? false
          }
          return ["records": .array(found)]
        default: throw SyncError(.customTarget, "there is no function \(call.function.rawValue)")
        }
      }
      return answer.serialized()
    }

    func calls() -> [String] {
      state.withLock { state in
        defer { state.calls = [] }
        return state.calls
      }
    }
  }

  /// Of the three records.
  private static let digest = "sha256:9333469c9dee1d6d700330546a2734b5cd0c6ad79dbfb62f61067f0c0f519691"

  @Test(arguments: [[], ["fetchFromServer"]])
  func row36_module_isAskedForItsIdsAndRecords(functions: [String]) async throws {
    let module = Module()
    module.state.withLock { $0.functions = functions }
    var configuration = SyncConfiguration()
    configuration.customTargets = module
    let bench = try await SyncBench(configuration: configuration)
    let target: JSONObject = ["type": "custom", "luaImpl": "my.source"]
    #expect(try await bench.manager.syncDown(target: target, soupName: "accounts", syncName: "c").status == .done)
    _ = module.calls()
    #expect(try await bench.manager.verifySync(.name("c"), level: .ids).isEqual)
    #expect(module.calls() == ["remoteIds"])
    let equal = try await bench.manager.verifySync(.name("c"))
    // In either engine: of the records as the digest's comment says.
    #expect(equal.isEqual && equal.digest == Self.digest, "\(equal)")
    #expect(module.calls() == (functions.isEmpty ? ["functions", "startFetch"] : ["functions", "remoteIds", "fetchFromServer"]))

    module.state.withLock { state in
      state.records["a1"] = "changed"
      state.records["a2"] = nil
      state.records["a4"] = "four"
    }
    let result = try await bench.manager.verifySync(.name("c"))
    #expect(result.different.map(\.recordId) == ["a1"] && result.different[0].fields == ["Name"], "\(result)")
    #expect(result.extra.map(\.recordId) == ["a2"] && result.missing.map(\.recordId) == ["a4"], "\(result)")
    #expect(try await bench.manager.verifySync(.name("c"), level: .count).missing.map(\.recordId) == ["a4"])
    await bench.close()
  }
}
