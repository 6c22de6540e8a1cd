import Database

/// Fills a new org: setup records, two users, then companies and their contacts. In the caller's
/// transaction.
struct Seeder {
  let connection: Connection
  let schema: OrgSchema
  let configuration: SandboxConfiguration

  /// 2025-01-06 08:00:00 UTC; all seeded rows are created after it.
  private static let epoch: Int64 = 1_736_150_400
  /// Seconds over which the creation of seeded rows is spread (240 days), and within which the last
  /// edit follows (45 days).
  private static let creationSpan: Int64 = 240 * 86_400, editSpan = 45 * 86_400

  func run() throws {
    try insertSetup()
    try insertUsers()
    try insertAccounts(configuration.seed.accounts)
    try insertContacts(configuration.seed.contacts, accounts: configuration.seed.accounts)
  }

  private func insertSetup() throws {
    let stamp = Timestamp.text(Self.epoch)
    func insert(_ object: String, _ rows: [[String: SQLValue]]) throws {
      let table = try Inserter(connection, schema, object)
      for (index, row) in rows.enumerated() { try table.insert(Int64(index + 1), row, created: stamp, modified: stamp) }
    }
    try insert(
      "Organization",
      [
        [
          "Name": .text("Tureen Sandbox"), "OrganizationType": .text("Developer Edition"), "IsSandbox": .integer(1),
          "InstanceName": .text("TU1"), "TimeZoneSidKey": .text("GMT"), "DefaultLocaleSidKey": .text("en_US"),
          "LanguageLocaleKey": .text("en_US"), "FiscalYearStartMonth": .integer(1),
        ]
      ])
    try insert(
      "Profile", ["System Administrator", "Standard User"].map { ["Name": .text($0), "UserType": .text("Standard")] })
    try insert("UserRole", [["Name": .text("CEO"), "DeveloperName": .text("CEO")]])
    try insert(
      "Pricebook2", [["Name": .text("Standard Price Book"), "IsActive": .integer(1), "IsStandard": .integer(1)]])
    try insert(
      "Group",
      [["Name": .text("Support Queue"), "DeveloperName": .text("Support_Queue"), "Type": .text("Queue")]])
  }

  private func insertUsers() throws {
    let table = try Inserter(connection, schema, "User")
    let people = [("Ada", "Sandbox", "ada@sandbox.tureen.example"), ("Otto", "Colleague", "otto@sandbox.tureen.example")]
    for (index, person) in people.enumerated() {
      let stamp = Timestamp.text(Self.epoch)
      try table.insert(
        Int64(index + 1),
        [
          "FirstName": .text(person.0), "LastName": .text(person.1), "Username": .text(person.2), "Email": .text(person.2),
          "Alias": .text(String(person.0.lowercased().prefix(8))), "IsActive": .integer(1), "UserType": .text("Standard"),
          "TimeZoneSidKey": .text("GMT"), "LocaleSidKey": .text("en_US"), "EmailEncodingKey": .text("UTF-8"),
          "LanguageLocaleKey": .text("en_US"), "CommunityNickname": .text(person.0.lowercased()),
          "ProfileId": .text(RecordID.make(prefix: "00e", sequence: Int64(index + 1))),
        ], created: stamp, modified: stamp)
    }
  }

  private func insertAccounts(_ count: Int) throws {
    let table = try Inserter(connection, schema, "Account")
    var random = SeedRandom(0xACC0)
    for index in 0..<count {
      let place = random.pick(Seeds.places)
      let stem = random.pick(Seeds.companyNames)
      let kind = random.pick(Seeds.companyKinds)
      let host = (stem + kind).lowercased().filter { $0.isASCII && $0.isLetter }
      var values: [String: SQLValue] = [
        "Name": .text("\(stem) \(kind) \(random.pick(Seeds.companyForms))"),
        "Type": .text(random.pick(["Customer", "Partner", "Prospect"])),
        "Industry": .text(random.pick(Seeds.industries)), "Phone": .text(Self.phone(&random)),
        "Website": .text("https://www.\(host).example"), "AccountNumber": .text("A-\(10_000 + index)"),
        "NumberOfEmployees": .integer(Int64(5 + random.below(4_000))),
        "AnnualRevenue": .real(Double(random.below(900) + 1) * 100_000),
        "External_Id__c": .text("acct-\(index + 1)"),
      ]
      if random.chance(60) { values["Rating"] = .text(random.pick(["Hot", "Warm", "Cold"])) }
      Self.address("Billing", place, &random, into: &values)
      let (created, modified) = stamps(index, count, &random)
      try table.insert(Int64(index + 1), values, created: created, modified: modified)
    }
  }

  private func insertContacts(_ count: Int, accounts: Int) throws {
    let table = try Inserter(connection, schema, "Contact")
    var random = SeedRandom(0xC0_47AC)
    for index in 0..<count {
      let values = contact(index, accounts: accounts, &random)
      let (created, modified) = stamps(index, count, &random)
      try table.insert(Int64(index + 1), values, created: created, modified: modified)
    }
  }

  private func contact(_ index: Int, accounts: Int, _ random: inout SeedRandom) -> [String: SQLValue] {
    let first = random.pick(Seeds.firstNames)
    let last = random.pick(Seeds.lastNames)
    let mailbox = Self.mailName(first) + "." + Self.mailName(last)
    var values: [String: SQLValue] = [
      "FirstName": .text(first), "LastName": .text(last),
      "Email": .text("\(mailbox)\(index + 1)@mail.example"), "Phone": .text(Self.phone(&random)),
      "Title": .text(random.pick(Seeds.titles)), "Department": .text(random.pick(Seeds.departments)),
      "DoNotCall": .integer(random.chance(10) ? 1 : 0), "YearsKnown__c": .real(Double(random.below(200)) / 10),
      "External_Id__c": .text("cont-\(index + 1)"),
      "Birthdate": .text(CivilDate(dayNumber: -7_300 + random.below(18_000)).text),
    ]
    // Like in any org, one in twenty has no company, and some fields are empty.
    if accounts > 0, random.chance(95) {
      values["AccountId"] = .text(RecordID.make(prefix: "001", sequence: Int64(1 + random.below(accounts))))
    }
    if random.chance(70) { values["MobilePhone"] = .text(Self.phone(&random)) }
    if random.chance(80) { values["LeadSource"] = .text(random.pick(Seeds.leadSources)) }
    if random.chance(15) { values["Description"] = .text("Met at \"\(random.pick(Seeds.companyNames))\".\nCall back.") }
    Self.address("Mailing", random.pick(Seeds.places), &random, into: &values)
    return values
  }

  // MARK: Values

  /// Returns the timestamps of a row. Creation follows the ids, the last edit does not. Some
  /// neighbours share a second, like rows of an import.
  private func stamps(_ index: Int, _ count: Int, _ random: inout SeedRandom) -> (created: String, modified: String) {
    let created = Self.epoch + Self.creationSpan * Int64(index / 3) / Int64(max(1, count / 3 + 1))
    let edited = random.chance(60) ? Int64(random.below(Self.editSpan / 3600)) * 3600 : 0
    return (Timestamp.text(created), Timestamp.text(created + edited))
  }

  private static func address(
    _ kind: String, _ place: (String, String, String, String), _ random: inout SeedRandom,
    into values: inout [String: SQLValue]
  ) {
    values[kind + "Street"] = .text("\(1 + random.below(990)) \(random.pick(Seeds.streets))")
    values[kind + "City"] = .text(place.0)
    values[kind + "State"] = .text(place.1)
    values[kind + "PostalCode"] = .text(place.2 + String(10 + random.below(90)))
    values[kind + "Country"] = .text(place.3)
  }

  private static func phone(_ random: inout SeedRandom) -> String {
    let area = 200 + random.below(780)
    return "(\(area)) 555-01\(String(100 + random.below(100)).dropFirst())"
  }

  private static func mailName(_ name: String) -> String { name.lowercased().filter { $0.isASCII && $0.isLetter } }
}

/// Inserts seeded rows of one object with one statement.
private struct Inserter {
  private let statement: Statement
  private let object: ObjectSchema
  private let positions: [String: Int32]
  /// The positions of flags, which are never null.
  private let flags: [Int32]

  init(_ connection: Connection, _ schema: OrgSchema, _ name: String) throws {
    guard let object = schema.object(name) else { throw SandboxError.unknownType(name) }
    self.object = object
    statement = try connection.prepare(object.insertSQL)
    let numbered = object.storedFields.enumerated().map { (field: $1, position: Int32($0 + 2)) }
    positions = Dictionary(uniqueKeysWithValues: numbered.map { ($0.field.name, $0.position) })
    flags = numbered.filter { $0.field.type == .boolean }.map(\.position)
  }

  func insert(_ row: Int64, _ values: [String: SQLValue], created: String, modified: String) throws {
    statement.reset()
    statement.clearBindings()
    statement.bind(1, row)
    for position in flags { statement.bind(position, Int64(0)) }
    bind("Id", .text(RecordID.make(prefix: object.keyPrefix, sequence: row)))
    bind("CreatedDate", .text(created))
    for name in ["LastModifiedDate", "SystemModstamp"] { bind(name, .text(modified)) }
    for name in ["OwnerId", "CreatedById", "LastModifiedById"] { bind(name, .text(Users.caller)) }
    for (name, value) in values { bind(name, value) }
    try statement.run()
  }

  private func bind(_ name: String, _ value: SQLValue) {
    if let position = positions[name] { statement.bind(position, value) }
  }
}
