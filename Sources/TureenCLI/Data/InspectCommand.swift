import ArgumentParser
import Dispatch
import Glibc
import Inspector
import Tureen

struct InspectCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Show the home in a browser: stores, syncs, conflicts and what is not sent, live.",
    usage: "tureen inspect [<options>]",
    discussion: """
      Prints the address of a page that only this machine can open, and serves it until Ctrl-C. The part after '#' is the key to \
      the data: with the whole address, a program can read the stores. Each page also shows the command that says the same.

      Changes nothing, and holds up no other process. With --write the page can decide conflicts, discard changes and run \
      syncs, and asks first.
      """
        + ExitStatus.help([
          (0, "ended by Ctrl-C or SIGTERM"), (1, "the home cannot be read"), (64, "wrong usage"),
          (67, "the org or user is not known"), (69, "the port is in use"),
          (78, "a configuration file is wrong; the message names file, line and key"),
        ]))

  @Option(help: "The port; 0 is one that is free.")
  var port = 0

  @Flag(name: .customLong("write"), help: "Let the page decide conflicts, discard changes and run syncs.")
  var writes = false

  @Flag(name: .customLong("open"), help: "Open the page in the browser.")
  var opensBrowser = false

  @OptionGroup var project: ProjectOptions
  @OptionGroup var place: HostOptions

  func validate() throws {
    guard (0...65535).contains(port) else { throw ValidationError("--port must be between 0 and 65535") }
  }

  func run() throws {
    let (settings, sandbox) = try place.settings(configDirectory: project.folder, looksOnly: true)
    let inspector: Inspector
    do {
      inspector = try Inspector.start(settings, port: port, writes: writes, options: place.given + project.given)
    } catch {
      complain("\(error.message)")
      throw ExitCode(ExitStatus.of(error))
    }
    // Before the announcement, because a reader of it may send a signal at once.
    let interrupted = DispatchSemaphore(value: 0)
    let watch = InterruptWatch(grace: nil) { interrupted.signal() }
    write(inspector.url + "\n", to: STDOUT_FILENO)
    complain(writes ? "the page may change data; Ctrl-C ends it" : "the page only looks; Ctrl-C ends it", .info)
    let opened = opensBrowser ? OpenedPage(inspector.url) : nil
    if opensBrowser, opened == nil { complain("no browser can be opened; open the address yourself") }
    interrupted.wait()
    withExtendedLifetime((watch, opened)) {}
    let stopped = DispatchSemaphore(value: 0)
    Task.detached {
      await inspector.stop()
      stopped.signal()
    }
    stopped.wait()
    sandbox.stop()
  }
}

/// A page that the browser was asked to open: a file of this user leads there, because other users can read the arguments of
/// the browser's process, where the key to the data would be. The file ends with this value.
private final class OpenedPage {
  private let path: String

  /// Returns nil if no browser could be started.
  init?(_ url: String) {
    let folder = getenv("XDG_RUNTIME_DIR").map { String(cString: $0) } ?? "/tmp"
    var template = Array("\(folder)/tureen-inspect-XXXXXX.html\0".utf8CString)
    let descriptor = mkstemps(&template, 5)
    guard descriptor >= 0 else { return nil }
    path = String(decoding: template.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let text =
      "<!DOCTYPE html><meta charset=\"utf-8\"><title>Tureen</title><meta http-equiv=\"refresh\" content=\"0; url=\(url)\">"
    write(text, to: descriptor)
    close(descriptor)
    guard Browser.open("file://\(path)") else {
      unlink(path)
      return nil
    }
  }

  deinit { unlink(path) }
}
