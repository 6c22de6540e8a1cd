import Dispatch
import Glibc
import Support

/// Opens URLs in the user's browser: the program in `BROWSER`, else `xdg-open`. Does not use a shell.
package enum Browser {
  /// Opens a URL. The browser's output is discarded, and it keeps running when this process ends.
  /// - Returns: True if a program was started.
  package static func open(_ url: String) -> Bool { open(url) { Environment[$0] } }

  static func open(_ url: String, environment: (String) -> String?) -> Bool {
    candidates(url, environment).contains { start($0) }
  }

  /// Returns the commands to try, in order; none without a display.
  static func candidates(_ url: String, _ environment: (String) -> String?) -> [[String]] {
    guard environment("DISPLAY") != nil || environment("WAYLAND_DISPLAY") != nil else { return [] }
    guard let chosen = environment("BROWSER") else { return [["xdg-open", url]] }
    // The usual syntax: several commands separated by colons, with `%s` as the placeholder of the URL.
    return chosen.split(separator: ":").compactMap { entry in
      let words = entry.split(separator: " ").map(String.init)
      guard !words.isEmpty else { return nil }
      return words.contains { $0.containsASCII("%s") } ? words.map { filled($0, url) } : words + [url]
    }
  }

  private static func filled(_ word: String, _ url: String) -> String {
    guard let place = word.firstRange(ofASCII: "%s") else { return word }
    return word[..<place.lowerBound] + url + word[place.upperBound...]
  }

  /// POSIX_SPAWN_SETSID, which Swift does not import.
  private static let ownSession: Int16 = 0x80

  private static func start(_ words: [String]) -> Bool {
    var actions = posix_spawn_file_actions_t(), attributes = posix_spawnattr_t()
    posix_spawn_file_actions_init(&actions)
    posix_spawnattr_init(&attributes)
    defer {
      posix_spawn_file_actions_destroy(&actions)
      posix_spawnattr_destroy(&attributes)
    }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
    for stream in [STDOUT_FILENO, STDERR_FILENO] { posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_WRONLY, 0) }
    // A new session, so that Ctrl-C does not end the browser, and the default signal mask and handlers.
    var none = sigset_t(), all = sigset_t()
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF) | ownSession)
    var arguments = words.map { strdup($0) } + [nil]
    defer { for word in arguments { free(word) } }
    var id: pid_t = 0
    guard posix_spawnp(&id, words[0], &actions, &attributes, &arguments, environ) == 0 else { return false }
    // Reap the process, so that it does not remain a zombie.
    DispatchQueue.global().async { [id] in
      var status: Int32 = 0
      while waitpid(id, &status, 0) < 0, errno == EINTR {}
    }
    return true
  }
}
