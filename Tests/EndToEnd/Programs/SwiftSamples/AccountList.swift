import Tureen

enum AccountListSample {
  /// Keeps accounts and their contacts offline: runs the named syncs, shows what smart SQL finds, and follows changes.
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

    struct Count: Decodable, Sendable {
      let accounts: Int
    }

    let store: Store
    let syncs: SyncManager

    init(_ host: Host) async throws {
      store = try await host.store()
      syncs = try await host.syncManager()
    }

    /// Creates the soups and the syncs unless they exist.
    func setUp() async throws {
      try await store.registerSoup("accounts", indexes: ["Id": .string, "Name": .string])
      try await store.registerSoup(
        "contacts", indexes: ["Id": .string, "AccountId": .string, "Name": .string])
      let accounts = "SELECT Id, Name FROM Account WHERE Name < 'C'"
      try await syncs.setUp("accounts", down: .soql(accounts), into: "accounts")
      let contacts = """
        SELECT Id, Name, Phone, AccountId FROM Contact WHERE Account.Name < 'C'
        """
      try await syncs.setUp("contacts", down: .soql(contacts), into: "contacts")
    }

    /// Runs a sync and prints how it ends.
    func refresh(_ name: String) async throws {
      do {
        for try await state in syncs.runs(named: name) {
          switch state.status {
          case .failed: print("\(name): \(state.error)")
          case .done: print("\(name): \(state.counts.stored) new or changed")
          default: break
          }
        }
      } catch let error as SyncError where error.is(.runningElsewhere) {
        print("\(name): another program is syncing them")
      }
    }

    func show() async throws {
      let accounts = store.rows(
        Account.self,
        """
        SELECT {accounts:Id} AS id, {accounts:Name} AS name FROM {accounts}
        ORDER BY {accounts:Name} LIMIT 3
        """)
      for try await account in accounts {
        print(account.name)
        let contacts = store.rows(
          Contact.self,
          """
          SELECT {contacts:Name} AS name, json_extract({contacts:_soup}, '$.Phone') AS phone
          FROM {contacts} WHERE {contacts:AccountId} = ? ORDER BY {contacts:Name} LIMIT 2
          """, arguments: [.string(account.id)])
        for try await contact in contacts {
          print("  \(contact.name) \(contact.phone ?? "-")")
        }
      }
    }

    /// Makes a change and prints the number of accounts before it and after it.
    func follow(_ change: () async throws -> Void) async throws {
      let counts = try store.observe(
        Count.self, "SELECT count(*) AS accounts FROM {accounts}")
      var shown = 0
      for try await rows in counts {
        print("accounts now: \(rows[0].accounts)")
        shown += 1
        if shown == 2 { return }
        try await change()
      }
    }
  }

  static func run() async throws {
    var settings = HostSettings()
    settings.home = CommandLine.arguments[1]
    let host = Host(settings: settings)
    let list = try await AccountList(host)
    try await list.setUp()
    try await list.refresh("accounts")
    try await list.refresh("contacts")
    try await list.show()
    let accounts = list.store.records(in: "accounts", type: "Account")
    try await list.follow { try await accounts.create(["Name": "Aardvark Ltd"]) }
    await host.close()
  }
}
