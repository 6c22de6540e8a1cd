import JSON
import RestClient
import SmartStore

/// Why a sync could not start, or ended as FAILED. Scripts, the host and the logs get it as
/// ``json``.
///
/// Errors of a server or the store keep their domain and code; ``cause`` is the original error.
public struct SyncError: Error, Sendable {
  /// Codes of the domain `sync`. Stable: scripts and tests switch on them.
  public enum Code: String, CaseIterable, Sendable {
    /// The manager was stopped and accepts no syncs until `restart`.
    case managerStopped
    case cannotRestart
    case alreadyRunning
    case noSuchSync
    case duplicateName
    /// Ghosts cannot be cleaned for a sync up.
    case wrongSyncType
    case invalidTarget, invalidOptions, invalidArguments, invalidState
    /// A record must be created or updated, and no fields to send are specified.
    case noFieldlist
    /// A custom target's implementation is missing, failed, or returned something unexpected.
    case customTarget
    /// A conflict resolver is missing, failed, or returned something unexpected.
    case resolver
    /// The entry has no conflict.
    case noSuchConflict
    /// The local changes of an entry cannot be dropped now, or not in this way.
    case cannotDiscard
    /// The history has no run with this number.
    case noSuchRun
    /// The target cannot do this.
    case notSupported
    /// More requests or records than are allowed; a larger limit allows it.
    case tooMuch
    /// The conflict cannot be resolved this way, because the server's version is unknown.
    case conflictUnresolved
    /// The server's answer does not have the expected form.
    case unexpectedAnswer
    /// More records would be removed as ghosts than the target allows without force.
    case tooManyGhosts
    /// Entries of a plan have changed, and it was to be applied as a whole or not at all.
    case planStale
    /// The plan was applied before.
    case planUsed
    /// The plan is of another form, store, server or definition of the sync, or too old.
    case planInvalid
    /// Another process is running this sync.
    case runningElsewhere
    /// The store could not be reached for so long that another process may run the sync by now.
    case leaseNotRenewed
    /// A sync of a store that several orgs share belongs to another org.
    case otherOrg
    /// Stopped or cancelled early; for calls that cannot report this in a sync state.
    case stopped
    case internalError
  }

  /// `sync`, `network`, `smartstore` or `host`.
  public let domain: String
  /// A ``Code``, or a code of the domain that reported the failure.
  public let code: String
  public let message: String
  /// True if the same call may succeed later.
  public let isRetryable: Bool
  /// The HTTP status, if a server answered.
  public let status: Int?
  /// The body of the server's answer, unchanged.
  public let body: String?
  /// The elements of the server's error array.
  public let errors: [JSONValue]
  public let cause: (any Error)?
  /// The path to the wrong part of a definition, from the object that was passed; empty if the
  /// error is not about one part. Not in ``json``.
  public private(set) var place: [JSONFile.Step] = []

  public init(_ code: Code, _ message: String, isRetryable: Bool = false) {
    domain = "sync"
    self.code = code.rawValue
    self.message = message
    self.isRetryable = isRetryable
    status = nil
    body = nil
    errors = []
    cause = nil
  }

  /// Returns whether this is the sync's own error with that code, as opposed to a passed-on error
  /// of the store or a server.
  public func `is`(_ code: Code) -> Bool { domain == "sync" && self.code == code.rawValue }

  /// Wraps any error of a run and keeps its message.
  public init(wrapping error: any Error) {
    switch error {
    case let error as SyncError: self = error
    case let error as RestError: self.init(error)
    case let error as StoreError:
      self.init(
        domain: "smartstore", code: error.code.rawValue, message: error.message, isRetryable: error.isRetryable, cause: error)
    case let error as any SyncErrorConvertible: self = error.syncError
    case is CancellationError: self.init(.stopped, "the sync was stopped")
    default: self.init(domain: "sync", code: Code.internalError.rawValue, message: "\(error)", isRetryable: false, cause: error)
    }
  }

  private init(_ error: RestError) {
    self.init(
      domain: error.code == .otherOrg ? "host" : "network", code: error.code.rawValue, message: error.message,
      isRetryable: error.isRetryable, cause: error, status: error.status, body: error.body, errors: error.errors)
  }

  package init(
    domain: String, code: String, message: String, isRetryable: Bool, cause: any Error, status: Int? = nil,
    body: String? = nil, errors: [JSONValue] = []
  ) {
    self.domain = domain
    self.code = code
    self.message = message
    self.isRetryable = isRetryable
    self.status = status
    self.body = body
    self.errors = errors
    self.cause = cause
  }

  /// The `error` field of a sync state: the body of a server's refusal if there is one, else the
  /// message. The body of a successful answer does not count.
  public var stateText: String {
    guard let body, !body.isEmpty, code != RestError.Code.invalidBody.rawValue else { return message }
    return body
  }

  public var json: JSONObject {
    var json: JSONObject = [
      "domain": .string(domain), "code": .string(code), "message": .string(message), "retryable": .bool(isRetryable),
    ]
    if let reason = (cause as? RestError)?.reason { json["reason"] = .string(reason) }
    if (cause as? RestError)?.isLocal == true { json["local"] = true }
    if let status { json["status"] = .integer(Int64(status)) }
    if let body { json["body"] = .string(body) }
    if !errors.isEmpty { json["errors"] = .array(errors) }
    return json
  }
}

extension SyncError {
  /// Returns the error with its place extended by outer steps.
  package func at(_ steps: JSONFile.Step...) -> SyncError {
    var error = self
    error.place = steps + place
    return error
  }

  /// Runs `body` and extends the place of its errors by an outer step.
  package static func at<T>(_ step: JSONFile.Step, _ body: () throws(SyncError) -> T) throws(SyncError) -> T {
    do { return try body() } catch { throw error.at(step) }
  }
}

/// An error of another module: a sync that ends with it keeps its domain and code.
package protocol SyncErrorConvertible: Error {
  var syncError: SyncError { get }
}

extension SyncError: Equatable {
  public static func == (a: SyncError, b: SyncError) -> Bool { a.json == b.json }
}

extension SyncError: CustomStringConvertible {
  public var description: String { "\(domain).\(code): \(message)" }
}

extension SyncError {
  static func noSuchSync(_ reference: SyncReference) -> SyncError {
    SyncError(.noSuchSync, "Sync \(reference) does not exist")
  }

  static func alreadyRunning(_ id: Int64) -> SyncError { SyncError(.alreadyRunning, "sync \(id) is still running") }

  static func duplicateName(_ name: String, _ type: SyncType) -> SyncError {
    let kind = type == .syncDown ? "sync down" : "sync up"
    return SyncError(
      .duplicateName,
      "Failed to create \(kind): there is already a sync with name:\(name); reSync runs it again, deleteSync removes it")
  }
}
