import Support

/// Where a database is: `postgres://user@host:port,host/database?option=value`.
///
/// The password is not part of the description. One in the address itself is accepted, because
/// hosting providers give addresses in that form; `hasPassword` lets callers refuse one in a
/// program's arguments, which other users can see.
package struct PostgresAddress: Sendable, Equatable, CustomStringConvertible, CustomReflectable {
  package struct Host: Sendable, Equatable {
    /// A name, an IP address, or the folder of a Unix socket, which begins with `/`.
    package let name: String
    package let port: Int

    package init(name: String, port: Int) {
      self.name = name
      self.port = port
    }

    /// The form of an address, without square brackets around a folder.
    package var text: String { "\(name.contains(":") ? "[\(name)]" : name):\(port)" }
  }

  /// In order of preference. Empty: libpq's default, which is `PGHOST` or a local socket.
  package var hosts: [Host]
  package var user: String?
  package var database: String?
  /// libpq's options, by name.
  package var options: [String: String]
  /// The control schema; the schemas of stores begin with its name.
  package var schema: String
  /// Whether snapshots are read from standbys among the hosts.
  package var readsFromStandbys = false
  var password: String?

  package static let defaultSchema = "tureen"
  package static let defaultPort = 5432

  package var hasPassword: Bool { password != nil }

  package init(
    hosts: [Host], user: String? = nil, database: String? = nil, options: [String: String] = [:],
    schema: String = PostgresAddress.defaultSchema
  ) {
    self.hosts = hosts
    self.user = user
    self.database = database
    self.options = options
    self.schema = schema
  }

  /// True if the text has the form of such an address, so that it is not a folder's name.
  package static func isAddress(_ text: String) -> Bool { text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") }

  /// The address without password.
  package var description: String {
    var text = "postgres://" + (user.map { PercentEncoding.encode($0) + "@" } ?? "")
    text += hosts.map { $0.name.hasPrefix("/") ? "\(PercentEncoding.encode($0.name)):\($0.port)" : $0.text }.joined(
      separator: ",")
    text += "/" + (database.map(PercentEncoding.encode) ?? "")
    var all = options
    if schema != PostgresAddress.defaultSchema { all["schema"] = schema }
    if readsFromStandbys { all["reads"] = "standby" }
    let query = all.sorted { $0.key < $1.key }.map { "\($0.key)=\(PercentEncoding.encode($0.value))" }
    return query.isEmpty ? text : text + "?" + query.joined(separator: "&")
  }

  package var customMirror: Mirror { Mirror(self, children: ["address": description]) }
}
