import Tureen

/// A list of accounts with the contacts of each, kept offline: runs the named syncs, shows what smart SQL finds, and follows changes.
/// Usage: AccountList HOME
struct AccountList {
  struct Account: Decodable, Sendable {
    let id: String
    let name: String
  }

  struct Contact: Decodable, Sendable {
    let name: String
    let phone: String?
  }

  let store: Store
  let syncs: SyncManager

  init(_ host: Host) async throws {
    store = try await host.store()
    syncs = try await host.syncManager()
  }

  /// Makes the soups and the syncs; those that are there stay as they are.
  func setUp() async throws {
    try await store.registerSoup("accounts", indexes: ["Id": .string, "Name": .string])
    try await store.registerSoup("contacts", indexes: ["Id": .string, "AccountId": .string, "Name": .string])
    try await syncs.setUp("accounts", down: .soql("SELECT Id, Name FROM Account WHERE Name < 'C'"), into: "accounts")
    try await syncs.setUp(
      "contacts", down: .soql("SELECT Id, Name, Phone, AccountId FROM Contact WHERE Account.Name < 'C'"), into: "contacts")
  }

  /// Runs a sync, and tells how far it is.
  func refresh(_ name: String) async throws {
    for try await state in syncs.runs(named: name) {
      switch state.status {
      case .failed: print("\(name): \(state.error)")
      case .done: print("\(name): \(state.counts.stored) new or changed")
      default: break
      }
    }
  }

  func show() async throws {
    let accounts = store.rows(
      Account.self, "SELECT {accounts:Id} AS id, {accounts:Name} AS name FROM {accounts} ORDER BY {accounts:Name} LIMIT 3")
    for try await account in accounts {
      print(account.name)
      let contacts = store.rows(
        Contact.self,
        """
        SELECT {contacts:Name} AS name, json_extract({contacts:_soup}, '$.Phone') AS phone FROM {contacts}
        WHERE {contacts:AccountId} = ? ORDER BY {contacts:Name} LIMIT 2
        """, arguments: [.string(account.id)])
      for try await contact in contacts { print("  \(contact.name) \(contact.phone ?? "-")") }
    }
  }

  /// Shows the first account each time it changes, twice.
  func follow(_ change: () async throws -> Void) async throws {
    let firsts = try store.observe(
      Account.self, "SELECT {accounts:Id} AS id, {accounts:Name} AS name FROM {accounts} ORDER BY {accounts:Name} LIMIT 1")
    var seen = 0
    for try await accounts in firsts {
      print("first: \(accounts.first?.name ?? "none")")
      seen += 1
      if seen == 2 { return }
      try await change()
    }
  }
}

var settings = HostSettings()
settings.home = CommandLine.arguments[1]
let host = Host(settings: settings)
let list = try await AccountList(host)
try await list.setUp()
try await list.refresh("accounts")
try await list.refresh("contacts")
try await list.show()
try await list.follow {
  try await list.store.records(in: "accounts", type: "Account").create(["Name": "Aardvark Ltd"])
}
await host.close()
