import Tureen

enum DetailViewSample {
  /// One contact, edited offline: changed, a new one beside it, and both sent with what the tutorials give a sync up.
  /// Usage: DetailView HOME
  struct Contact: Codable, Sendable {
    var id: String?
    var firstName: String?
    var lastName: String
    var title: String?

    enum CodingKeys: String, CodingKey {
      case id = "Id"
      case firstName = "FirstName"
      case lastName = "LastName"
      case title = "Title"
    }
  }

  struct DetailView {
    private static let soup = "people"
    private static let fields = ["FirstName", "LastName", "Title"]

    let store: Store
    let syncs: SyncManager
    var contacts: SoupRecords { store.records(in: Self.soup, type: "Contact") }

    init(_ host: Host) async throws {
      store = try await host.store()
      syncs = try await host.syncManager()
      try await store.registerSoup(
        Self.soup, indexes: ["Id": .string, "LastName": .string, "__local__": .string])
      let people = """
        SELECT Id, FirstName, LastName, Title FROM Contact WHERE LastName LIKE 'A%'
        """
      try await syncs.setUp("peopleDown", down: .soql(people), into: Self.soup)
      let sent = UploadFields(create: Self.fields, update: Self.fields)
      try await syncs.setUp(
        "peopleUp", up: .collection(sent), from: Self.soup,
        options: SyncOptions(mergeMode: .leaveIfChanged, fieldlist: Self.fields))
    }

    /// - Returns: The first contact of the soup.
    func open() async throws -> Contact? {
      _ = try await syncs.reSync(named: "peopleDown")
      let entries = store.rows(
        Entry.self,
        """
        SELECT {people:_soup} FROM {people}
        ORDER BY {people:LastName}, {people:Id} LIMIT 1
        """)
      for try await entry in entries { return entry.soup }
      return nil
    }

    private struct Entry: Decodable, Sendable {
      let soup: Contact
    }

    func save(_ contact: Contact) async throws {
      if let id = contact.id {
        try await contacts.update(id, contact)
      } else {
        try await contacts.create(contact)
      }
    }

    /// How many entries wait to be sent.
    func waiting() async throws -> Int {
      let rows = store.rows(
        Count.self,
        "SELECT count(*) AS count FROM {people} WHERE {people:__local__} = 'true'")
      for try await row in rows { return row.count }
      return 0
    }

    private struct Count: Decodable, Sendable {
      let count: Int
    }
  }

  @MainActor static func run() async throws {
    var settings = HostSettings()
    settings.home = CommandLine.arguments[1]
    let host = Host(settings: settings)
    let view = try await DetailView(host)
    if var contact = try await view.open() {
      contact.title = "Chief of Staff"
      try await view.save(contact)
      try await view.save(Contact(id: nil, firstName: "Ida", lastName: "Aalto", title: nil))
      print("waiting: \(try await view.waiting())")
      let sync = try await view.syncs.run(.name("peopleUp")) { state in
        if state.status == .running, state.progress > 0 { print("sent: \(state.progress) %") }
      }
      print("\(sync.name ?? "") \(sync.status.rawValue): \(sync.counts.succeeded) sent")
      print("waiting: \(try await view.waiting())")
      let stored = try await view.contacts.record(contact.id ?? "", as: Contact.self)
      print("title: \(stored?.title ?? "none")")
    }
    await host.close()
  }
}
