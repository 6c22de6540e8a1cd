import JSON

/// Calls the functions of a custom target's implementation.
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

  /// Calls a function and waits for it, at most as long as the configuration allows.
  /// - Returns: JSON text of an object.
  func call(
    _ function: CustomTargetCall.Function, _ arguments: JSONObject, _ control: RunControl, _ configuration: SyncConfiguration
  ) async throws -> [UInt8] {
    try control.check()
    guard let runner = configuration.customTargets else {
      throw failure(function, "cannot be called: there is no script to run it")
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

  /// Calls a function and parses the result.
  func object(
    _ function: CustomTargetCall.Function, _ arguments: JSONObject, _ control: RunControl, _ configuration: SyncConfiguration
  ) async throws -> JSONObject {
    let text = try await call(function, arguments, control, configuration)
    guard let object = (try? JSONValue(parsing: text))?.objectValue else { throw failure(function, "must return an object") }
    if let message = object["raised"]?.stringValue { throw CustomFunctionRaised(message: message) }
    return object
  }
}

/// An error that a function of an upload raised. It concerns the records of the call only.
struct CustomFunctionRaised: Error {
  let message: String
}

/// One call of a function of a custom target's implementation.
public struct CustomTargetCall: Sendable {
  public enum Function: String, Sendable, CaseIterable {
    /// Returns the first page. Argument: `maxTimeStamp`, ms since 1970 UTC, -1 for everything.
    case startFetch
    /// Returns the page after another one. Argument: `more`, as returned with that page.
    case continueFetch
    /// Returns the ids that the server would send now. Argument: `localIds`, the candidates.
    case remoteIds
    /// Computes members of records. Argument: `records`; the implementation is a function, named
    /// `module.name`.
    case transform

    /// Returns which upload functions exist; the host's service replaces missing ones. No
    /// arguments.
    case functions
    /// Creates a record. Arguments: `record`, the entry; `fields`, the values to send.
    case createOnServer
    /// Updates a record. Arguments as for a create.
    case updateOnServer
    /// Deletes a record. Argument: `record`.
    case deleteOnServer
    /// Returns when the server last changed some records. Argument: `records`.
    case fetchLastModifiedDates
    /// Returns the server's versions of some records. Arguments: `records`, and `fields`, the names
    /// of the fields.
    case fetchFromServer
    /// Returns whether the local change of a record may overwrite the server's version. Argument:
    /// `record`.
    case isNewerThanServer
  }

  /// The name of the implementation in the target.
  public let implementation: String
  public let function: Function
  /// The target as stored.
  public let target: JSONObject
  public let arguments: JSONObject
  /// Whether the implementation must be one that the script has registered: no module is loaded for it.
  public internal(set) var ifRegistered = false
}

/// Runs the functions of the syncs that may only use registered code.
private struct RegisteredCode: CustomTargetRunner {
  let runner: any CustomTargetRunner

  func run(_ call: CustomTargetCall) async throws -> [UInt8] {
    var call = call
    call.ifRegistered = true
    return try await runner.run(call)
  }
}

extension SyncConfiguration {
  /// The configuration for a run of a sync.
  func running(_ state: SyncState) -> SyncConfiguration {
    guard state.usesRegisteredCode, let runner = customTargets else { return self }
    var configuration = self
    configuration.customTargets = RegisteredCode(runner: runner)
    return configuration
  }
}

/// Runs the functions of custom targets. Any thread. The engine waits for each call and cancels it
/// with its sync.
public protocol CustomTargetRunner: Sendable {
  /// Runs one function.
  /// - Returns: JSON text of an object with these members:
  ///   - Of a transformation: `records`, for each one an object with `record`, null to skip it, or
  ///     with `error`, a text.
  ///   - Of a fetch: `records`, an array of objects, missing if there are no more; `totalSize` of
  ///     all pages, if known; `more`, anything but null and false if another page follows.
  ///   - Of `remoteIds`: `ids`. Of `functions`: `functions`, their names. Of `isNewerThanServer`:
  ///     `newer`.
  ///   - Of `createOnServer`: `id`, a text or an integer, or null and `reason`, a text, if it was
  ///     refused. Any other result leaves the create in doubt. Of an update or delete: `status`, an
  ///     HTTP status, and `reason`. A successful create or update may also return `date`, the
  ///     record's time stamp.
  ///   - Of `fetchLastModifiedDates`: `dates`, a time stamp for each record, false for a deleted
  ///     one, null if unknown. Of `fetchFromServer`: `records` in the same way.
  ///   - Of any function of an upload: `raised`, a text, if it failed for these records alone.
  /// - Throws: Any error, with which the sync ends as FAILED. Must return soon after the task is
  ///   cancelled.
  func run(_ call: CustomTargetCall) async throws -> [UInt8]
}
