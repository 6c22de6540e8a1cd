import Testing

@testable import PostgresStore

struct AddressTests {
  @Test func address_allParts_areRead() throws {
    let address = try PostgresAddress("postgres://ada@db1.example:5433,db2/crm?sslmode=verify-full&schema=tureen_eu")
    #expect(address.hosts == [.init(name: "db1.example", port: 5433), .init(name: "db2", port: 5432)])
    #expect(address.user == "ada")
    #expect(address.database == "crm")
    #expect(address.options == ["sslmode": "verify-full"])
    #expect(address.schema == "tureen_eu")
    #expect(!address.hasPassword)
    #expect(address.description == "postgres://ada@db1.example:5433,db2:5432/crm?schema=tureen_eu&sslmode=verify-full")
  }

  @Test func address_escapesAndForms_areRead() throws {
    let socket = try PostgresAddress("postgresql://%2Fvar%2Frun%2Fpostgresql/my%20db")
    #expect(socket.hosts == [.init(name: "/var/run/postgresql", port: 5432)])
    #expect(socket.database == "my db")
    #expect(socket.description == "postgres://%2Fvar%2Frun%2Fpostgresql:5432/my%20db")
    #expect(try PostgresAddress("postgres://[::1]:5433/").hosts == [.init(name: "::1", port: 5433)])
    #expect(try PostgresAddress("postgres://").hosts.isEmpty)
    #expect(try PostgresAddress("postgres:///crm?host=/tmp&port=5499").hosts == [.init(name: "/tmp", port: 5499)])
    #expect(try PostgresAddress("postgres://a%40b@db/x").user == "a@b")
    #expect(try PostgresAddress(socket.description) == socket)
    #expect(try !PostgresAddress("postgres://a,b/x?reads=primary").readsFromStandbys)
    let readers = try PostgresAddress("postgres://a,b/x?reads=standby")
    #expect(readers.readsFromStandbys && readers.description == "postgres://a:5432,b:5432/x?reads=standby")
  }

  @Test func isAddress_foldersAndOtherSchemes_areNone() {
    #expect(PostgresAddress.isAddress("postgres://db/crm"))
    #expect(PostgresAddress.isAddress("postgresql://"))
    #expect(!PostgresAddress.isAddress("postgres"))
    #expect(!PostgresAddress.isAddress("/var/lib/tureen"))
    #expect(!PostgresAddress.isAddress("mysql://db"))
  }

  @Test(arguments: ["postgres://ada:s3cret@db/crm", "postgres://ada@db/crm?password=s3cret", "postgres://ada:s3c%72et@db"])
  func address_withPassword_neverShowsIt(_ text: String) throws {
    let address = try PostgresAddress(text)
    #expect(address.hasPassword)
    var dumped = ""
    dump(address, to: &dumped)
    for shown in ["\(address)", String(reflecting: address), dumped, "\([address])"] {
      #expect(!shown.contains("s3c"), "\(shown)")
    }
    #expect(try PostgresAddress(text) != PostgresAddress("postgres://ada@db"))
  }

  @Test(arguments: [
    ("postgres://ada:s3cret@db:x/crm", "a port that is not a number from 1 to 65535"),
    ("postgres://ada:s3cret@db:65536/crm", "a port that is not a number from 1 to 65535"),
    ("postgres://ada:s3cret@[::1/crm", "a '[' without ']'"), ("postgres://ada:s3cret@::1/crm", "without square brackets"),
    ("postgres://ada:s3cret@db,/crm", "a host without a name"),
    ("postgres://ada:s3cr%zz@db/crm", "an invalid escape in the password"),
    ("postgres://ada:s3cr#et@db/crm", "a '#'; write it as %23"),
    ("postgres://ada:s3cret@db?sslmode", "'sslmode' without a value"),
    ("postgres://ada:s3cret@db?target_session_attrs=any", "the unknown option 'target_session_attrs'"),
    ("postgres://ada:s3cret@db?sslmod=require", "the unknown option 'sslmod'; did you mean 'sslmode'?"),
    ("postgres://ada:?s3cret@db/crm", "an unknown option (known are"),
    ("postgres://ada@db/crm?password=a&s3cret", "an unknown option (known are"),
    ("postgres://ada@db/crm?password=a&s3cret=x", "write & as %26"),
    ("postgres://ada:1/s3cret@db/crm", "an '@' after a '/'; write / in a password as %2F"),
    ("postgres://ada:s3cret@db?reads=replica", "must be primary or standby"),
    ("postgres://ada:s3cret@db?schema=public", "an invalid schema"),
    ("postgres://ada:s3cret@db?schema=pg_x", "an invalid schema"),
    ("postgres://ada:s3cret@db?schema=Upper", "an invalid schema"),
    ("postgres://ada:s3cret@db?schema=a%22b", "an invalid schema"),
    ("ada:s3cret@db", "must begin with postgres:// or postgresql://"),
  ])
  func address_invalid_saysWhyWithoutThePassword(_ text: String, _ why: String) throws {
    let error = try #require(failure { _ = try PostgresAddress(text) })
    #expect(error.code == .invalidAddress)
    #expect(error.message.contains(why), "\(error.message)")
    #expect(!error.message.contains("s3c"), "\(error.message)")
  }

  // MARK: Errors of the server

  private func error(_ state: String, _ message: String = "words of the server") -> PostgresError {
    .server(sql: "SELECT $1") { ["C": state, "M": message, "t": "jobs", "n": "jobs_key"][$0] }
  }

  @Test(arguments: [
    "40001", "40P01", "55P03", "53100", "53300", "57P01", "57P03", "08006", "25P03", "25006", "TU004", "57014",
  ])
  func error_passing_isRetryable(_ state: String) { #expect(error(state).isRetryable) }

  @Test(arguments: ["42601", "42P01", "23505", "22P02", "28P01", "TU001", "TU003", "54000", "XX000", "0A000"])
  func error_lasting_isNotRetryable(_ state: String) { #expect(!error(state).isRetryable) }

  @Test func error_codes_followTheState() {
    #expect(error("TU001").code == .leaseLost)
    #expect(error("TU003").code == .writerReplaced)
    #expect(error("TU004").code == .commitsLost)
    #expect(error("57014").code == .cancelled)
    #expect(error("42501").code == .notPermitted)
    #expect(error("57P01").code == .connectionLost)
    #expect(error("53100").isDiskFull)
    #expect(error("42P01").code == .server)
    let outdated = PostgresError.server(sql: nil) { ["C": "0A000", "M": "x", "R": "RevalidateCachedQuery"][$0] }
    #expect(outdated.code == .outdatedStatement && outdated.isRetryable)
  }

  @Test func error_ofData_namesTheColumnAndNotTheValue() {
    #expect(
      error("23505", "duplicate: Key (a)=(s3cret)").message
        == "PostgreSQL: a row with the same key exists, table jobs, constraint jobs_key (23505)")
    #expect(!error("22P02", "invalid input syntax: s3cret").message.contains("s3cret"))
    #expect(error("54000", "index row size 2800 exceeds 2704").message.contains("index row size 2800"))
    #expect(error("42P01").sql == "SELECT $1")
  }

  @Test func library_missingOrUseless_saysWhatToInstall() {
    let missing = failure { try PostgresConnector.loadLibrary("libpq-of-a-test.so.5") }
    #expect(missing?.code == .libraryMissing)
    #expect(missing?.message.contains("apt install libpq5") == true)
    let other = failure { try PostgresConnector.loadLibrary("libm.so.6") }
    #expect(other?.code == .libraryMissing)
    #expect(other?.message.contains("lacks PQlibVersion; version 14 or newer is required") == true)
  }
}
