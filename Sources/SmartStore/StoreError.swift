import Database
import JSON
import RecordScan
import Support

/// Why a store call failed. Carries no record values: messages end up in logs.
public struct StoreError: Error, Sendable, Equatable, CustomStringConvertible {
  /// Stable: scripts and tests switch on it, `bridge-spec/errors.json` lists it.
  public enum Code: String, CaseIterable, Sendable {
    case noSuchSoup, invalidSoupName, invalidIndexSpec, pathNotIndexed
    case missingExternalId, ambiguousExternalId, noSuchEntry, invalidEntry
    case invalidQuerySpec, invalidSmartSql, notReadOnly, queryLimit, cancelled, noSuchCursor, tooManyCursors
    case invalidStoreName, invalidKey, cannotOpenStore, notADatabase, newerSchema, storeClosed
    case keyRequired, wrongKey, notEncrypted, encryptionUnavailable, storeInUse
    case leaseLost, invalidConfiguration, sqlite
  }

  public let code: Code
  public let message: String
  /// SQLite's extended result code, when it was SQLite that refused.
  public var sqliteCode: Int32?
  /// The statement with its `?` placeholders, never the bound values.
  public var sql: String?

  public init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  /// True when the same call, unchanged, may succeed later: another process holds the file, or the call was given up.
  public var isRetryable: Bool { code == .cancelled || sqliteCode.map { [5, 6].contains($0 & 0xff) } ?? false }

  public var description: String { message }

  init(_ error: DatabaseError) {
    self.init(error.isCorrupt ? .notADatabase : .sqlite, error.message)
    sqliteCode = error.code
    sql = error.sql
  }

  init(_ error: FileError) { self.init(.cannotOpenStore, error.message) }

  static func noSuchSoup(_ name: String) -> StoreError { StoreError(.noSuchSoup, "Soup: \(name) does not exist") }

  /// Wraps what the layers below throw; a ``StoreError`` stays as it is.
  static func wrapping(_ error: any Error) -> any Error {
    switch error {
    case let error as DatabaseError: StoreError(error)
    case let error as FileError: StoreError(error)
    case let error as ScanError: StoreError(.invalidEntry, "not valid JSON: \(error.message) (at byte \(error.offset))")
    case let error as JSONError: StoreError(.invalidEntry, "not valid JSON: \(error.description)")
    default: error
    }
  }

  /// Runs work on files of a store; what cannot be done to one is a ``StoreError`` `.cannotOpenStore`.
  static func wrappingFileErrors<T>(_ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error as FileError {
      throw StoreError(error)
    }
  }
}
