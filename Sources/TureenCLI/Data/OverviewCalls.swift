import JSON
import LuaBridge
import Tureen

/// The parts of `getOverview` that commands print.
extension BridgeCalls {
  /// Returns the overview of the home.
  func overview() throws(CallFailure) -> JSONValue { try overview([:]) }

  /// Returns the overview of the command's store.
  func storeOverview() throws(CallFailure) -> JSONValue {
    let all = try overview(["storeName": .string(store.name), "isGlobalStore": .bool(store.isGlobal)])
    return all["stores"]?.arrayValue?.first ?? [:]
  }

  private func overview(_ arguments: JSONObject) throws(CallFailure) -> JSONValue {
    switch perform(ExecCommand.fullName("mobilesync"), "getOverview", arguments) {
    case .success(let text): return (try? JSONValue(parsing: text)) ?? .null
    case .failure(let error): throw CallFailure(error)
    }
  }
}

extension JSONValue {
  /// A number of an overview; 0 if it is missing.
  func figure(_ key: String) -> Int64 { self[key]?.integerValue ?? 0 }
}

/// How long ago something was, for people.
enum Ago {
  /// `just now`, `35 min ago`, `14 h ago`, `3 days ago`
  /// - Parameters:
  ///   - time: Ms since 1970 UTC.
  static func text(_ time: Int64, now: Int64 = TimeText.now) -> String {
    let minutes = max(0, now - time) / 60_000
    switch minutes {
    case ..<1: return "just now"
    case ..<120: return "\(minutes) min ago"
    case ..<(48 * 60): return "\(minutes / 60) h ago"
    default: return "\(minutes / 1440) days ago"
    }
  }

  /// `just now`, `35 min`, `14 h`, `3 days`: for a column of a table.
  static func span(_ time: Int64) -> String { text(time).replacing(" ago", with: "") }
}
