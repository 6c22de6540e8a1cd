import JSON
import RestClient

extension ParseExchange {
  /// Returns the ids of those objects that the current user can read.
  ///
  /// The server answers a write with the same error whether the object is missing or the user may not
  /// write it. An object that is still readable is not missing.
  func readable(_ ids: [String], in className: String) async throws -> IdSet {
    guard !ids.isEmpty else { return [] }
    do {
      return IdSet(try await objects(ids, in: className, keys: ["objectId"], chunk: Tuning.stampIds).keys)
    } catch let error as RestError where error.isHidden {
      // The class may allow reading single objects and no queries.
      var found = IdSet()
      for id in ids where try await isReadable(id, in: className) { found.insert(id) }
      return found
    }
  }

  private func isReadable(_ id: String, in className: String) async throws -> Bool {
    let path = ParseNames.path(of: className, id: PercentEncoding.encode(id))
    do {
      _ = try await send(RestRequest(.GET, path, query: [("keys", "objectId")]), as: .read)
      return true
    } catch let error as RestError where error.isHidden {
      return false
    }
  }
}

extension RestError {
  /// Whether the server says that an object or a class does not exist or is not readable.
  fileprivate var isHidden: Bool {
    code == .httpStatus && [ServerCode.objectNotFound, .operationForbidden].contains { $0.rawValue == parseCode }
  }
}
