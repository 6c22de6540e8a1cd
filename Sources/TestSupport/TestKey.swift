import Database
import Glibc
import SmartStore

/// The default key of test stores: `TUREEN_STORE_KEY`, which the hosts of tests read as well.
/// `scripts/dev/encryption` sets it to run every store test on encrypted files.
package enum TestKey {
  /// Whether this build supports encryption.
  package static let isSupported = StoreKey.isSupported

  package static let key: StoreKey? = getenv("TUREEN_STORE_KEY").map { make(String(cString: $0)) }

  /// Creates a key from a text. Only for builds with encryption.
  package static func make(_ text: String) -> StoreKey {
    do {
      return try Array(text.utf8).withUnsafeBytes { try StoreKey($0) }
    } catch {
      preconditionFailure("no key for tests: \(error)")
    }
  }
}

extension Store {
  package convenience init(name: String, isGlobal: Bool, path: String) throws {
    try self.init(name: name, isGlobal: isGlobal, path: path, key: TestKey.key)
  }

  package convenience init(name: String, isGlobal: Bool, path: String, busyTimeoutMs: Int32) throws {
    try self.init(name: name, isGlobal: isGlobal, path: path, key: TestKey.key, busyTimeoutMs: busyTimeoutMs)
  }
}

extension StoreRegistry {
  package convenience init(userDirectory: String, globalDirectory: String, recovery: Recovery = .refuse) {
    self.init(userDirectory: userDirectory, globalDirectory: globalDirectory, recovery: recovery, key: { TestKey.key })
  }
}

extension Connection {
  /// Opens a connection to a store's file directly, with the tests' key.
  package convenience init(store path: String, mode: Mode) throws {
    try self.init(path: path, mode: mode, storeKey: TestKey.key)
  }
}
