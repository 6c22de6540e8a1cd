import JSON
import PostgresStore
import SmartStore
import Support

/// The number of stores that a command deletes.
public struct StoreNumbers: Sendable, Equatable {
  public var inHome = 0
  public var inDatabase = 0
  /// The database's address without a password; nil if there is none.
  public var database: String?

  public init(inHome: Int = 0, inDatabase: Int = 0, database: String? = nil) {
    self.inHome = inHome
    self.inDatabase = inDatabase
    self.database = database
  }

  public var total: Int { inHome + inDatabase }

  public static func + (a: StoreNumbers, b: StoreNumbers) -> StoreNumbers {
    StoreNumbers(inHome: a.inHome + b.inHome, inDatabase: a.inDatabase + b.inDatabase, database: a.database ?? b.database)
  }

  /// For a question, such as `3 stores, 2 of them in postgres://db/tureen, where other machines may use them`.
  public var text: String {
    let all = "\(total) store\(total == 1 ? "" : "s")"
    guard inDatabase > 0, let database else { return all }
    let which = inHome == 0 ? "" : "\(inDatabase) of them "
    return "\(all), \(which)in \(database), where other machines may use \(inDatabase == 1 ? "it" : "them")"
  }
}

extension HomeAccounts {
  /// Returns the number of stores of all users of an org. Blocks.
  public func storeNumbers(of entry: OrgEntry) throws -> StoreNumbers { try storeNumbers(entry, entry.users) }

  func storeNumbers(_ entry: OrgEntry, _ users: [OrgUser]) throws -> StoreNumbers {
    var numbers = StoreNumbers(database: settings.store?.description)
    for user in users {
      numbers.inHome += try directory.storeFolders(under: directory.userFolder(org: entry.folder, user: user.folder)).count
    }
    numbers.inDatabase = try databaseStores(entry, users).count
    return numbers
  }

  /// Returns the stores of users in the database; none if there is no database.
  func databaseStores(_ entry: OrgEntry, _ users: [OrgUser]) throws -> [PostgresSchema.Store] {
    guard let database = settings.store else { return [] }
    return try DatabaseStores(database, password: settings.storePassword).of(org: entry.folder, users: users.map(\.folder))
  }

  /// - Throws: ``SmartStore/StoreError`` `.storeInUse`. Nothing is removed then.
  func removeFromDatabase(_ entry: OrgEntry, _ users: [OrgUser]) throws {
    guard let database = settings.store else { return }
    try DatabaseStores(database, password: settings.storePassword).remove(try databaseStores(entry, users))
  }
}
