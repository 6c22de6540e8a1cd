import SmartStore
import Support

/// All stores under a home, of all users.
public struct HomeStores: Sendable {
  public let home: String

  public init(home: String) { self.home = home }

  /// What became of one store.
  public enum Outcome: Sendable {
    case changed
    /// It was so already.
    case nothingToDo
    case failed(StoreError)
  }

  /// The store files of every org and user, and the global ones, sorted.
  public func files() throws -> [String] {
    var folders = ["\(home)/global/stores"]
    for org in try FileSystem.entries(of: "\(home)/orgs") {
      for user in try FileSystem.entries(of: "\(home)/orgs/\(org)") { folders.append("\(home)/orgs/\(org)/\(user)/stores") }
    }
    return try folders.flatMap { folder in
      // With a dot begin those that are being removed.
      let stores = try FileSystem.entries(of: folder).filter { !$0.hasPrefix(".") }
      return stores.map { "\(folder)/\($0)/store.sqlite" }.filter { FileSystem.exists($0) }
    }.sorted()
  }

  /// Encrypts, decrypts, or changes the key of every store: one after the other, each wholly or not at all. Blocks.
  ///
  /// When some failed, or the process ended in between, the same call goes on with what is left.
  /// - Parameters:
  ///   - from: The key that encrypted stores have now. Plain ones need none.
  ///   - to: The key they are all to have, nil for plain files.
  ///   - report: Hears of each store when it is done.
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
