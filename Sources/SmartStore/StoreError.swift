import JSON
import RecordScan
import Support

/// Why a store call failed. Contains no record values, because messages end up in logs.
public struct StoreError: Error, Sendable, Equatable, CustomStringConvertible {
  /// Stable: scripts and tests switch on it, and `bridge-spec/errors.json` lists it.
  public enum Code: String, CaseIterable, Sendable {
    case noSuchSoup, invalidSoupName, invalidIndexSpec, pathNotIndexed
    case missingExternalId, ambiguousExternalId, noSuchEntry, invalidEntry, entryChanged
    case invalidQuerySpec, invalidSmartSql, notReadOnly, queryLimit, cancelled, noSuchCursor, tooManyCursors
    case invalidStoreName, invalidKey, cannotOpenStore, notADatabase, newerSchema, storeClosed
    case keyRequired, wrongKey, notEncrypted, encryptionUnavailable, storeInUse
    case leaseLost, invalidConfiguration, reentrantCall, sqlite, postgres, notOnThisEngine
    case storeExists, unfinishedCopy, copyDiffers
  }

  public let code: Code
  public let message: String
  /// SQLite's extended result code, if the error comes from SQLite.
  public var sqliteCode: Int32?
  /// The statement with its `?` placeholders, never the bound values.
  public var sql: String?

  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// Whether the engine failed for a reason that goes away by itself: another process holds the
  /// file, or a connection was lost.
  package var isTransient = false

  /// True if the same call may succeed later: the reason goes away by itself, or the call was
  /// cancelled.
  public var isRetryable: Bool { code == .cancelled || isTransient }

  public var description: String { message }

  init(_ error: FileError) { self.init(.cannotOpenStore, error.message) }

  package static func noSuchSoup(_ name: String) -> StoreError { StoreError(.noSuchSoup, "Soup: \(name) does not exist") }

  /// A record of a page cannot be found by its id.
  package static func noKey(
    _ value: ScannedValue, ofRecord i: Int, in soup: String, _ path: String, _ specs: [IndexSpec]
  ) -> StoreError {
    let type = specs.first { $0.path == path }?.type, isThere = value.kind != .missing && value.kind != .null
    guard isThere, let type else {
      return StoreError(.missingExternalId, "record \(i + 1) of a page for soup \(soup) has no '\(path)'")
    }
    return StoreError(
      .missingExternalId,
      "the '\(path)' of record \(i + 1) of a page does not fit its index in soup \(soup), which has the type '\(type.rawValue)'; "
        + "index '\(path)' with the type 'string'")
  }

  /// Wraps errors of the lower layers; a ``StoreError`` stays unchanged.
  package static func wrapping(_ error: any Error) -> any Error {
    switch error {
    case let error as FileError: StoreError(error)
    case let error as ScanError: StoreError(.invalidEntry, "not valid JSON: \(error.message) (at byte \(error.offset))")
    case let error as JSONError: StoreError(.invalidEntry, "not valid JSON: \(error.description)")
    default: error
    }
  }

  /// Runs work on the files of a store; throws ``StoreError`` `.cannotOpenStore` if it fails.
  static func wrappingFileErrors<T>(_ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error as FileError {
      throw StoreError(error)
    }
  }
}
