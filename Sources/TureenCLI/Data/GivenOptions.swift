import LuaBridge
import MobileSync

extension HostOptions {
  /// The options as they were given, for commands that a person may run next.
  var given: [String] { GivenOptions.words([("--home", home), ("--org", org), ("--user", user)]) }
}

extension ProjectOptions {
  /// The option as it was given.
  var given: [String] { GivenOptions.words([("--config", config)]) }
}

extension StoreOptions {
  /// The options of the store and the project as they were given.
  var given: [String] {
    GivenOptions.words([("--store-name", storeName == StoreReference.defaultName ? nil : storeName)])
      + (globalStore ? ["--global-store"] : []) + project.given
  }
}

enum GivenOptions {
  static func words(_ options: [(String, String?)]) -> [String] {
    options.flatMap { name, value in value.map { [name, CommandText.quoted($0)] } ?? [] }
  }
}
