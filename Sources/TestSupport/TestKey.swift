import Database
import Glibc
import SmartStore

/// The key that stores of tests have when nothing else is said: the one in `TUREEN_STORE_KEY`, which the hosts of tests find as
/// well. `scripts/dev/encryption` sets it, so that every test of stores runs on encrypted ones, too.
package enum TestKey {
  /// Whether this build can encrypt.
  package static let isSupported = StoreKey.isSupported

  package static let key: StoreKey? = getenv("TUREEN_STORE_KEY").map { make(String(cString: $0)) }

  /// A key of a text. Only in a build that can encrypt.
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
  /// A connection to a store's file past the store, with the key of tests.
  package convenience init(store path: String, mode: Mode) throws {
    try self.init(path: path, mode: mode, storeKey: TestKey.key)
  }
}
