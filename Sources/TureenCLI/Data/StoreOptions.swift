import ArgumentParser
import Glibc
import LuaBridge

/// The store of a command, and the folder of its project.
struct StoreOptions: ParsableArguments {
  @Option(help: "The store's name.", completion: NameCompletion.storeName, transform: nonEmpty)
  var storeName = StoreReference.defaultName

  @Flag(help: "Use the global store of this name, which all users share.")
  var globalStore = false

  @OptionGroup var project: ProjectOptions

  var reference: StoreReference { StoreReference(name: storeName, isGlobal: globalStore) }
}

/// The folder with the configuration files.
struct ProjectOptions: ParsableArguments {
  @Option(
    help: """
      The folder of bootconfig.json, userstore.json, usersyncs.json and the like. Without it the current folder, if it has one \
      of these files.
      """, completion: .directory)
  var config: String?

  private static let names = [
    "bootconfig.json", "userstore.json", "usersyncs.json", "globalstore.json", "globalsyncs.json", "connections.json",
  ]

  func validate() throws { try Self.check(config) }

  /// - Throws: `ValidationError` if a folder was named that does not exist: a command without its configuration would run
  ///   with the defaults.
  private static func check(_ config: String?) throws {
    guard let config else { return }
    var info = stat()
    guard stat(config, &info) == 0 else {
      throw ValidationError("the folder of --config cannot be opened: \(config): \(String(cString: strerror(errno)))")
    }
    guard info.st_mode & S_IFMT == S_IFDIR else { throw ValidationError("--config names a folder; \(config) is not one") }
  }

  /// The folder; nil if there is none.
  var folder: String? { Self.folder(config) }

  /// - Parameter config: The value of `--config`.
  static func folder(_ config: String?) -> String? { config ?? (names.contains { access($0, F_OK) == 0 } ? "." : nil) }
}
