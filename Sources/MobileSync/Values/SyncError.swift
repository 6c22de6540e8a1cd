import JSON
import RestClient
import SmartStore

/// Why a sync could not start, or ended FAILED. Scripts, the host and the logs see it as ``json``.
///
/// What a server or the store reported keeps its own domain and code; ``cause`` is their error.
public struct SyncError: Error, Sendable {
  /// Codes of the domain `sync`. Stable: scripts and tests switch on them.
  public enum Code: String, CaseIterable, Sendable {
    /// The manager was stopped and accepts nothing until `restart`.
    case managerStopped
    case cannotRestart
    case alreadyRunning
    case noSuchSync
    case duplicateName
    /// Ghost cleaning of a sync up.
    case wrongSyncType
    case invalidTarget, invalidOptions, invalidArguments, invalidState
    /// A record is to be created or updated, and nothing says which fields to send.
    case noFieldlist
    /// A custom target's implementation is missing, failed, or gave something else than asked for.
    case customTarget
    /// A resolver of conflicts is missing, failed, or gave something else than asked for.
    case resolver
    /// The entry is in no conflict.
    case noSuchConflict
    /// A conflict cannot end that way: what the server has is not known.
    case conflictUnresolved
    /// The server's answer has not the shape that was asked for.
    case unexpectedAnswer
    /// More records would be removed as ghosts than the target allows without being told so.
    case tooManyGhosts
    /// Another process runs this sync.
    case runningElsewhere
    /// A sync of a store that orgs have in common belongs to another org.
    case otherOrg
    /// Stopped or cancelled before the end: the error of calls that have no sync state to say so.
    case stopped
    case internalError
  }

  /// `sync`, `network`, `smartstore` or `host`.
  public let domain: String
  /// A ``Code``, or a code of the domain that reported the failure.
  public let code: String
  public let message: String
  /// True when the same call, unchanged, may succeed later.
  public let isRetryable: Bool
  /// HTTP status, when a server answered.
  public let status: Int?
  /// The server's body as it came.
  public let body: String?
  /// The elements of the server's error array.
  public let errors: [JSONValue]
  public let cause: (any Error)?
  /// Which part of a definition is wrong, from the object that was given on; empty when it is not about one part. Not in
  /// ``json``.
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

  /// Any error that came up in a run, in its own words.
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

  /// What the `error` field of a sync state says: the body of a server's refusal when there is one, else the message. A body
  /// that came with a good status is no error in words.
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
  /// The same error, seen from further outside.
  package func at(_ steps: JSONFile.Step...) -> SyncError {
    var error = self
    error.place = steps + place
    return error
  }

  /// What the body throws, seen from outside of that step.
  package static func at<T>(_ step: JSONFile.Step, _ body: () throws(SyncError) -> T) throws(SyncError) -> T {
    do { return try body() } catch { throw error.at(step) }
  }
}

/// An error of a part that this one does not know: a sync that ends with it keeps its domain and code.
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
