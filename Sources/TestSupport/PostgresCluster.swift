import Glibc
import PostgresStore
import Synchronization

/// A PostgreSQL server of the tests' own, in a temporary folder and on a free loopback port.
///
/// A shell looks after it, and removes it however this process ends: the pipe to the
/// shell's input is closed then.
package final class PostgresCluster: Sendable {
  /// The newest installed server's programs; Debian keeps them out of PATH.
  package static let programs: String? = {
    let versions =
      (try? ChildProcess.run(["/bin/sh", "-c", "ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V"]).output) ?? ""
    return versions.split(separator: "\n").last { access("\($0)/initdb", X_OK) == 0 && access("\($0)/postgres", X_OK) == 0 }
      .map(String.init)
  }()
  package static var isInstalled: Bool { programs != nil }

  /// The server that most tests share, each with schemas of its own.
  private static let shared = Result { try PostgresCluster() }

  package static func running() throws -> PostgresCluster { try shared.get() }

  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  package let port: Int
  private let heldPort = HeldPort()
  /// The certificate of a server with `isEncrypted`.
  package let certificate: String
  private let keeper: ChildProcess
  private let isStopped = Mutex(false)

  /// Creates and starts a server.
  /// - Parameters:
  ///   - isStandby: One that only permits reading, as if it followed a primary.
  ///   - primary: A server to copy and to follow.
  ///   - isEncrypted: One that encrypts its connections, with a certificate for the name `localhost`.
  package init(
    isStandby: Bool = false, following primary: PostgresCluster? = nil, isEncrypted: Bool = false
  ) throws {
    port = heldPort.number
    keeper = try ChildProcess.start(
      [
        "/bin/sh", "-c", PostgresCluster.script, "sh", PostgresCluster.programs ?? "", "\(port)", isStandby ? "standby" : "",
        isEncrypted ? "on" : "off", primary.map { "\($0.port)" } ?? "",
      ],
      takesInput: true)
    let folder = try PostgresCluster.waitUntilReady(keeper)
    certificate = "\(folder)/data/server.crt"
  }

  /// - Returns: The server's folder.
  @discardableResult
  private static func waitUntilReady(_ keeper: ChildProcess) throws -> Substring {
    var output = ""
    while !output.hasSuffix(" is ready\n") {
      guard let more = ChildProcess.read(keeper.output) else { throw Failure(description: "PostgreSQL: \(output)") }
      output += String(decoding: more, as: UTF8.self)
    }
    return output.dropLast(" is ready\n".count)
  }

  /// Ends the server without warning, and starts it again: it recovers from its log. Blocks.
  package func crash() throws { try order("crash") }

  /// Makes a standby the primary. Blocks.
  package func promote() throws { try order("promote") }

  private func order(_ command: String) throws {
    let line = command + "\n"
    precondition(write(keeper.input, line, line.utf8.count) == line.utf8.count)
    try PostgresCluster.waitUntilReady(keeper)
  }

  /// Stops and removes the server. A second call has no effect: the numbers of the pipes may be those of other tests by then.
  package func stop() {
    let isFirst = isStopped.withLock { isStopped in
      defer { isStopped = true }
      return !isStopped
    }
    guard isFirst else { return }
    close(keeper.input)
    _ = keeper.wait()
    close(keeper.output)
  }

  /// The user `locked` needs a password.
  private static let script = """
    # If this process ended meanwhile, the word 'ready' must not end the shell before it has cleaned up.
    trap '' PIPE
    bin=$1 port=$2 standby=$3 ssl=$4 primary=$5
    folder=$(mktemp -d /tmp/tureen-postgres-XXXXXX) || exit 1
    user=
    if [ "$(id -u)" = 0 ]; then
      user=postgres
      id -u postgres >/dev/null 2>&1 || user=$(id -un 65534)
      chown "$user" "$folder"
    fi
    as() { if [ -n "$user" ]; then runuser -u "$user" -- "$@"; else "$@"; fi; }
    cd "$folder" || exit 1
    if [ -n "$primary" ]; then
      as "$bin/pg_basebackup" -h 127.0.0.1 -p "$primary" -U tureen -D "$folder/data" -R -c fast --no-sync 2>&1
    else
      as "$bin/initdb" -D "$folder/data" -U tureen -A trust -E UTF8 --locale=C.UTF-8 -N 2>&1 >/dev/null
    fi || { rm -rf "$folder"; exit 1; }
    cat >>"$folder/data/postgresql.conf" <<END
    listen_addresses = '127.0.0.1'
    port = $port
    unix_socket_directories = '$folder'
    # A server that ends without warning loses what it has in memory, not what it gave to the system.
    fsync = off
    ssl = $ssl
    # Acknowledged but not synced transactions stay in memory for long.
    wal_writer_delay = 10s
    # Each store has up to six, and tests run side by side.
    max_connections = 500
    shared_buffers = 32MB
    END
    printf '%s\\n' 'local all all trust' 'host all locked all scram-sha-256' 'host all all all trust' \\
      'host replication all all trust' >"$folder/data/pg_hba.conf"
    [ -z "$standby" ] || as touch "$folder/data/standby.signal"
    [ $ssl = off ] || as openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost \\
      -addext subjectAltName=DNS:localhost -keyout "$folder/data/server.key" -out "$folder/data/server.crt" 2>/dev/null
    # Without its output, which would keep our pipe open.
    start() { as "$bin/pg_ctl" -D "$folder/data" -w -l "$folder/log" start >/dev/null 2>&1 </dev/null; }
    start || { cat "$folder/log"; rm -rf "$folder"; exit 1; }
    echo "$folder is ready"
    while read -r command; do
      case $command in
        promote) as "$bin/pg_ctl" -D "$folder/data" -w promote >/dev/null 2>&1 </dev/null ;;
        *) as "$bin/pg_ctl" -D "$folder/data" -m immediate stop >/dev/null 2>&1 </dev/null && start ;;
      esac || { cat "$folder/log"; exit 1; }
      echo "$folder is ready"
    done
    as "$bin/pg_ctl" -D "$folder/data" -m immediate stop >/dev/null 2>&1
    cd / && rm -rf "$folder"
    """

  // MARK: Connections

  package func address(
    user: String = "tureen", database: String = "postgres", port: Int? = nil, schema: String = PostgresAddress.defaultSchema
  ) -> PostgresAddress {
    PostgresAddress(
      hosts: [.init(name: "127.0.0.1", port: port ?? self.port)], user: user, database: database, options: ["sslmode": "disable"],
      schema: schema)
  }

  package func connect() throws -> PostgresConnection { try PostgresConnector(address()).connect() }
}
