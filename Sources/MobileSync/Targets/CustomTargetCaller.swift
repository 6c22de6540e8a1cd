import JSON

/// Calls the functions of one custom target's implementation.
struct CustomTargetCaller: Sendable {
  let implementation: String
  /// The target as stored.
  let target: JSONObject

  /// - Throws: ``SyncError`` `.invalidTarget`, naming the key.
  init(_ json: JSONObject, fields: TargetFields) throws(SyncError) {
    implementation = try TargetReader(json: json, label: "custom target").string("luaImpl")
    target = fields.written(to: json)
  }

  init(implementation: String, target: JSONObject) {
    self.implementation = implementation
    self.target = target
  }

  func failure(_ function: CustomTargetCall.Function, _ what: String) -> SyncError {
    SyncError(.customTarget, "custom target '\(implementation)': \(function.rawValue) \(what)")
  }

  /// Calls a function and waits for it, at most as long as the configuration says.
  /// - Returns: The text of an object.
  func call(
    _ function: CustomTargetCall.Function, _ arguments: JSONObject, _ control: RunControl, _ configuration: SyncConfiguration
  ) async throws -> [UInt8] {
    try control.check()
    guard let runner = configuration.customTargets else {
      throw failure(function, "cannot be called: no script is there to run it")
    }
    let call = CustomTargetCall(
      implementation: implementation, function: function, target: target, arguments: arguments)
    let timeoutMs = configuration.customTargetTimeoutMs
    let late = failure(function, "did not answer within \(timeoutMs) ms; the script must poll while a sync runs")
    return try await withThrowingTaskGroup(of: [UInt8].self) { group in
      group.addTask { try await runner.run(call) }
      group.addTask {
        try await Task.sleep(for: .milliseconds(timeoutMs))
        throw late
      }
      defer { group.cancelAll() }
      return try await group.next() ?? []
    }
  }

  /// The same, read as a value.
  func object(
    _ function: CustomTargetCall.Function, _ arguments: JSONObject, _ control: RunControl, _ configuration: SyncConfiguration
  ) async throws -> JSONObject {
    let text = try await call(function, arguments, control, configuration)
    guard let object = (try? JSONValue(parsing: text))?.objectValue else { throw failure(function, "gave no object") }
    return object
  }
}

/// One call of a function of a custom target's implementation.
public struct CustomTargetCall: Sendable {
  public enum Function: String, Sendable, CaseIterable {
    /// The first page. Argument: `maxTimeStamp`, ms since 1970 UTC, -1 for everything.
    case startFetch
    /// The page behind another. Argument: `more`, as that page gave it.
    case continueFetch
    /// The ids that the server would send now. Argument: `localIds`, the candidates.
    case remoteIds
    /// Computes members of records. Argument: `records`; the implementation is a function, named `module.name`.
    case transform

    /// Which of the functions of uploads there are; what is missing is done by the host's service. No arguments.
    case functions
    /// Creates a record. Arguments: `record`, as it stands in the soup; `fields`, the values to send.
    case createOnServer
    /// Updates a record. Arguments as for a create.
    case updateOnServer
    /// Deletes a record. Argument: `record`.
    case deleteOnServer
    /// When the server changed some records last. Argument: `records`.
    case fetchLastModifiedDates
    /// What the server has of some records. Arguments: `records`, and `fields`, the names that are asked for.
    case fetchFromServer
    /// Whether the local change of a record may go over what the server has. Argument: `record`.
    case isNewerThanServer
  }

  /// What the target calls it.
  public let implementation: String
  public let function: Function
  /// The target as stored.
  public let target: JSONObject
  public let arguments: JSONObject
}

/// Runs the functions of custom targets. Any thread; each call is waited for, and cancelled when its sync is.
public protocol CustomTargetRunner: Sendable {
  /// - Returns: JSON text of an object. Of a transformation: `records`, for each one an object with `record`, null to leave it
  ///   out, or with `error`, a text. Of a fetch: `records`, an array of objects, left out when there is nothing more;
  ///   `totalSize`, of all pages, when it is known; `more`, anything but null and false when another page follows. Of
  ///   `remoteIds`: `ids`. Of `functions`: `functions`, their names. Of `createOnServer`: `id`, null when it was refused, and
  ///   then `reason`, a text. Of an update or a delete: `status`, as of HTTP, and `reason`. Of a create or an update that was
  ///   made also `date`, the record's time stamp, when the server tells it. Of `fetchLastModifiedDates`: `dates`, a time stamp
  ///   for each record, false for a deleted one, null where it is not known. Of `fetchFromServer`: `records` in the same way.
  ///   Of `isNewerThanServer`: `newer`.
  /// - Throws: Anything; the sync then ends FAILED with it. Soon after the task is cancelled.
  func run(_ call: CustomTargetCall) async throws -> [UInt8]
}
