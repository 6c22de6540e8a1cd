import Database
import Glibc

/// What stores are encrypted with: a passphrase of any bytes, or SQLCipher's raw form, `x'` + 64 hexadecimal digits + `'`.
///
/// The one copy of it in this process's memory beside SQLCipher's own; wiped when the last store lets go of it. It shows in no
/// description. A passphrase is stretched by 256,000 rounds for each connection that a store opens, a raw key is used as it is.
public final class StoreKey: @unchecked Sendable, CustomStringConvertible, CustomReflectable {
  // Written in init and deinit only.
  private let bytes: UnsafeMutableRawBufferPointer

  /// Bytes of a key at most: no passphrase is longer, and a file that is no key at all is noticed.
  public static let maximumBytes = 1024

  /// Whether this build can open encrypted stores: one with the package trait `Encryption`.
  public static var isSupported: Bool { Connection.canEncrypt }

  /// Copies the key; the caller wipes its own.
  /// - Throws: ``StoreError`` `.encryptionUnavailable` in a build without encryption, `.invalidKey` for an empty or a long one.
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

  /// What a build without encryption says to a key.
  package static var unavailable: StoreError {
    StoreError(
      .encryptionUnavailable,
      "a key for the stores is set, but this build of Tureen cannot encrypt: build it with `swift build --traits Encryption`, or "
        + "take the key out of the settings; nothing was written")
  }
}

extension Connection {
  /// A connection to a store's file, with the store's key if it has one.
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
  /// The bytes, for as long as the caller keeps the key.
  fileprivate func borrowed() -> UnsafeRawBufferPointer { withBytes { $0 } }
}
