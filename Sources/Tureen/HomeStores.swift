import SmartStore
import Support

/// The stores of all users of a home.
public struct HomeStores: Sendable {
  public let home: String

  public init(home: String) { self.home = home }

  /// The result for one store.
  public enum Outcome: Sendable {
    case changed
    /// The store already had the requested key.
    case nothingToDo
    case failed(StoreError)
  }

  /// Returns the store files of all orgs and users, and the global ones, sorted.
  public func files() throws -> [String] {
    var folders = ["\(home)/global/stores"]
    for org in try FileSystem.entries(of: "\(home)/orgs") {
      for user in try FileSystem.entries(of: "\(home)/orgs/\(org)") { folders.append("\(home)/orgs/\(org)/\(user)/stores") }
    }
    return try folders.flatMap { folder in
      // Stores that are being removed start with a dot.
      let stores = try FileSystem.entries(of: folder).filter { !$0.hasPrefix(".") }
      return stores.map { "\(folder)/\($0)/store.sqlite" }.filter { FileSystem.exists($0) }
    }.sorted()
  }

  /// Encrypts, decrypts, or changes the key of every store, one after the other, each atomically. Blocks.
  ///
  /// If some stores fail or the process ends in between, repeat the call to process the remaining stores.
  /// - Parameters:
  ///   - from: The current key of encrypted stores. Plain stores need none.
  ///   - to: The new key of all stores; nil for plain files.
  ///   - report: Called with the result for each store.
  /// - Throws: ``SmartStore/StoreError`` `.encryptionUnavailable`.
  public func changeKey(
    from: StoreKey?, to: StoreKey?, report: (_ file: String, _ outcome: Outcome) -> Void
  ) throws {
    guard StoreKey.isSupported else { throw StoreKey.unavailable }
    for file in try files() {
      do {
        report(file, try KeyChange(path: file, from: from, to: to).run() == .changed ? .changed : .nothingToDo)
      } catch let error as StoreError {
        report(file, .failed(error))
      }
    }
  }
}
