import Database
import Glibc

/// The encryption key of stores: a passphrase of any bytes, or SQLCipher's raw form, `x'` + 64
/// hexadecimal digits + `'`.
///
/// Holds the only copy of the key in this process besides SQLCipher's own, and wipes it when the
/// last store releases it. No description shows the key. SQLCipher derives the actual key from a
/// passphrase with 256,000 rounds for each connection that a store opens; it uses a raw key
/// unchanged.
public final class StoreKey: @unchecked Sendable, CustomStringConvertible, CustomReflectable {
  // Written in init and deinit only.
  private let bytes: UnsafeMutableRawBufferPointer

  /// The longest key in bytes: longer than any passphrase, and short enough to reject a file that
  /// is not a key.
  public static let maximumBytes = 1024

  /// Whether this build can open encrypted stores: it needs the package trait `Encryption`.
  public static var isSupported: Bool { Connection.canEncrypt }

  /// Copies the key; the caller wipes its own copy.
  /// - Throws: ``StoreError`` `.encryptionUnavailable` in a build without encryption, `.invalidKey`
  ///   for an empty or too long key.
  public init(_ key: UnsafeRawBufferPointer) throws {
    guard StoreKey.isSupported else { throw StoreKey.unavailable }
    guard (1...StoreKey.maximumBytes).contains(key.count) else {
      throw StoreError(
        .invalidKey, key.isEmpty ? "the key of a store must not be empty" : "a key has at most \(StoreKey.maximumBytes) bytes")
    }
    bytes = .allocate(byteCount: key.count, alignment: 1)
    bytes.copyMemory(from: key)
  }

  deinit {
    if let start = bytes.baseAddress { explicit_bzero(start, bytes.count) }
    bytes.deallocate()
  }

  func withBytes<T>(_ body: (UnsafeRawBufferPointer) throws -> T) rethrows -> T { try body(UnsafeRawBufferPointer(bytes)) }

  public var description: String { "a store's key" }
  public var customMirror: Mirror { Mirror(self, children: []) }

  /// The error for a key in a build without encryption.
  package static var unavailable: StoreError {
    StoreError(
      .encryptionUnavailable,
      "a key for the stores is set, but this build of Tureen cannot encrypt: build it with `swift build --traits Encryption`, or "
        + "take the key out of the settings; nothing was written")
  }
}

extension Connection {
  /// Opens a store's file with the store's key, if there is one.
  package convenience init(path: String, mode: Mode, storeKey: StoreKey?) throws {
    guard let storeKey else {
      try self.init(path: path, mode: mode, key: nil)
      return
    }
    let bytes = storeKey.borrowed()
    try self.init(path: path, mode: mode, key: bytes)
    withExtendedLifetime(storeKey) {}
  }
}

extension StoreKey {
  /// The key's bytes; valid while the caller retains the key.
  fileprivate func borrowed() -> UnsafeRawBufferPointer { withBytes { $0 } }
}
