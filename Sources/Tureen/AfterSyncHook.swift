import CChildProcess
import Glibc
import JSON
import LuaBridge
import MobileSync
import SmartStore
import Support
import Synchronization

/// The program that the command runs after a sync, found and checked.
package struct AfterSyncHook: Sendable {
  /// The program and its arguments. A Lua script has none: the caller knows how to run one.
  package enum Program: Sendable, Equatable {
    case script(String)
    case command([String])
  }

  /// Paths are absolute.
  package let program: Program
  /// The folder of the configuration file, in which the program runs.
  package let folder: String

  /// Such as `notify.lua` or `notify`, for messages.
  package var name: String {
    switch program {
    case .script(let path): String(path.split(separator: "/").last ?? "")
    case .command(let words): words[0]
    }
  }

  /// - Throws: ``HostError`` `.invalidConfiguration` if there is no such file, or others could have written it.
  init(_ after: AfterSync, in folder: String, _ trusted: TrustedFolders) throws {
    self.folder = folder
    switch after {
    case .script(let name): program = .script(try Self.checked(name, in: folder, trusted))
    case .command(let words):
      // A name without a slash is searched in PATH, and an absolute path is the owner's choice.
      guard words[0].contains("/"), !words[0].hasPrefix("/") else {
        program = .command([try Self.found(words[0])] + words.dropFirst())
        return
      }
      program = .command([try Self.checked(words[0], in: folder, trusted)] + words.dropFirst())
    }
  }

  /// Returns the path of a file below the folder.
  private static func checked(_ name: String, in folder: String, _ trusted: TrustedFolders) throws -> String {
    func problem(_ what: String) -> HostError { HostError(.invalidConfiguration, "'after' names '\(name)', \(what)") }
    let relative = name.hasPrefix("./") ? String(name.dropFirst(2)) : name
    guard !relative.split(separator: "/").contains("..") else { throw problem("which leads out of \(folder)") }
    var info = stat()
    guard stat("\(folder)/\(relative)", &info) == 0, info.st_mode & S_IFMT == S_IFREG else {
      throw problem("and \(folder) has no such file")
    }
    if stat(folder, &info) == 0, !trusted.contains(info), let doubt = FileDoubt.below(folder, relative) {
      throw problem("which is refused, because \(doubt.reason): \(doubt.remedy)")
    }
    return "\(folder)/\(relative)"
  }

  private static func found(_ name: String) throws -> String {
    if name.hasPrefix("/") {
      guard access(name, X_OK) == 0 else {
        throw HostError(
          .invalidConfiguration, "'after' names '\(name)', which cannot be run: \(String(cString: strerror(errno)))")
      }
      return name
    }
    for folder in (Environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":") where folder.hasPrefix("/") {
      if access("\(folder)/\(name)", X_OK) == 0 { return "\(folder)/\(name)" }
    }
    throw HostError(.invalidConfiguration, "'after' names '\(name)', and no folder of PATH has such a program")
  }
}

extension Host {
  /// Returns what is to run after a sync of the configuration files; nil if nothing is.
  /// - Throws: ``HostError`` `.invalidConfiguration`.
  package func afterSync(_ name: String, in store: StoreReference) throws -> AfterSyncHook? {
    let core = try core()
    guard store.name == StoreReference.defaultName, let directory = core.parts.settings.configDirectory,
      let file = store.isGlobal ? core.user.parts.folder.globalSyncs : core.user.parts.folder.userSyncs,
      let entry = file.value["syncs"]?.arrayValue?.first(where: { $0["syncName"]?.stringValue?.hasSameBytes(as: name) == true }),
      let after = try AfterSync(entry["after"])
    else { return nil }
    do {
      return try AfterSyncHook(after, in: HostSettings.absolute(directory), try TrustedFolders(core.parts.settings))
    } catch let error as HostError {
      throw HostError(error.code, "\(file.name): sync '\(name)': \(error.message)")
    }
  }

  /// Notes the entries that change in these soups until the observer is released.
  package func observeChanges(ofSoups soups: [String], in store: StoreReference) throws -> ChangeObserver {
    try core().store(store).observe(soups: soups, onNews: { _ in })
  }
}

/// A program that was started with text on its standard input, in a process group of its own. Its output goes to standard error.
package final class HookProcess: Sendable {
  private let id: pid_t
  private let hasEnded = Mutex(false)

  /// - Parameters:
  ///   - words: The path of the program, and its arguments.
  ///   - environment: Variables in addition to those of this process.
  /// - Throws: ``HostError`` `.fileNotReadable` if it cannot be started.
  package init(_ words: [String], in folder: String, input: [UInt8], environment: [String: String]) throws {
    var variables: [String] = [], i = 0
    while let variable = environ[i] {
      let text = String(cString: variable)
      if environment[String(text.prefix { $0 != "=" })] == nil { variables.append(text) }
      i += 1
    }
    variables += environment.map { "\($0.key)=\($0.value)" }
    let arguments = words.map { strdup($0) } + [nil], all = variables.map { strdup($0) } + [nil]
    defer { for text in arguments + all { free(text) } }
    var id: pid_t = 0
    let failure = BusyProgram.start { tureen_program_start(words[0], arguments, all, folder, input, input.count, &id) }
    guard failure == 0 else {
      throw HostError(.fileNotReadable, "'\(words[0])' cannot be run: \(String(cString: strerror(failure)))")
    }
    self.id = id
  }

  /// Asks the program and those that it has started to end.
  package func terminate() { hasEnded.withLock { if !$0 { _ = kill(-id, SIGTERM) } } }

  /// Waits for its end.
  /// - Returns: How it ended badly, such as `ended with status 3`; nil if it did not.
  package func wait() -> String? {
    var info = siginfo_t()
    // Not reaped before it is noted: a signal must not go to another process with the same id.
    while waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT) != 0, errno == EINTR {}
    return hasEnded.withLock { hasEnded in
      hasEnded = true
      var status: Int32 = 0
      while waitpid(id, &status, 0) < 0, errno == EINTR {}
      let signal = status & 0x7f, code = (status >> 8) & 0xff
      if signal != 0 { return "was ended by signal \(signal)" }
      return code == 0 ? nil : "ended with status \(code)"
    }
  }
}
