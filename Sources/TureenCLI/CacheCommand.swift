import ArgumentParser
import Glibc
import JSON
import Tureen

struct CacheCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cache", abstract: "Look at or clear the stored answers of connections.",
    subcommands: [CacheListCommand.self, CacheClearCommand.self])
}

/// The home of the caches, and a connection.
struct CacheOptions: ParsableArguments {
  @Option(help: "The folder of stores, sessions and caches.", transform: nonEmpty)
  var home: String?

  @Option(help: "The connection's name. Without it, all connections.")
  var connection: String?

  /// Runs `body` with the caches. An error ends the command.
  func run<Result>(_ body: (HomeCaches) throws -> Result) throws -> Result {
    let caches = HomeCaches(home: try checkedHome(home))
    do {
      return try body(caches)
    } catch let error as HostError {
      complain(error.message)
      throw ExitCode(ExitStatus.usage)
    } catch {
      complain("the cache cannot be used: \(error)")
      throw ExitCode(ExitStatus.storeFailed)
    }
  }
}

struct CacheListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list", abstract: "List the stored answers.",
    discussion: """
      Prints one line for each answer, the most recently used first: connection, status, bytes and URL, separated by tabs. \
      Secret parameters are masked.
      """)

  @OptionGroup var options: CacheOptions

  @Flag(help: "Print one JSON object a line, with storedAt and lastUsed in seconds since 1970.")
  var json = false

  func run() throws {
    for entry in try options.run({ try $0.entries(of: options.connection) }) {
      write((json ? object(entry).text : line(entry)) + "\n", to: STDOUT_FILENO)
    }
  }

  private func line(_ entry: HomeCaches.Entry) -> String {
    "\(entry.connection)\t\(entry.status)\t\(entry.bytes)\t\(TerminalText.escaped(entry.url))"
  }

  private func object(_ entry: HomeCaches.Entry) -> JSONObject {
    [
      "connection": .string(entry.connection), "status": .integer(Int64(entry.status)), "bytes": .integer(Int64(entry.bytes)),
      "url": .string(entry.url), "storedAt": .number(entry.storedAt), "lastUsed": .number(entry.lastUsed),
    ]
  }
}

struct CacheClearCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clear", abstract: "Remove the stored answers.",
    discussion: """
      Also removes files that syncs fetched beside their rows; the next run fetches them again. Programs that are running \
      continue with an empty cache. Stores are not changed.
      """)

  @OptionGroup var options: CacheOptions

  func run() throws {
    let count = try options.run { try $0.clear(options.connection) }
    let files = count.files == 0 ? "" : " and \(count.files) file\(count.files == 1 ? "" : "s")"
    write("\(count.answers) stored answer\(count.answers == 1 ? "" : "s")\(files) removed\n", to: STDOUT_FILENO)
  }
}
