import ArgumentParser
import Glibc
import LuaBridge
import Tureen

struct ReplCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "repl",
    abstract: "Run Lua statements as you type them.",
    usage: "tureen repl [<options>]",
    discussion: """
      The modules are globals: smartstore, mobilesync, network, keyvalue, force, oauth, json. await waits for a call: \
      await(smartstore.soupExists, "contacts"). The value of an expression is printed; lists of records are printed as tables. A \
      statement may take several lines. A local exists only in its statement.

      Tab completes names and, inside quotes, soups. The arrow keys find earlier lines, which are kept in repl_history under the \
      home. Ctrl-C clears the line or interrupts the statement; Ctrl-D exits. Events are printed as they arrive.

      If standard input is not a terminal, its statements are run one after the other, without a prompt; the exit status is 1 if \
      one of them failed.
      """)

  @OptionGroup var place: HostOptions

  @OptionGroup var project: ProjectOptions

  func run() throws {
    let (host, sandbox) = try place.prepare(configDirectory: project.folder)
    let state = try ScriptState(host: host)
    let isTerminal = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
    let status: Int32
    do {
      let repl = try Repl(state, host: host)
      if isTerminal { greet() }
      status = try isTerminal ? repl.converse() : repl.runInput()
    } catch {
      complain((error as? ScriptState.Raised)?.message ?? "\(error)")
      status = ExitStatus.scriptFailed
    }
    state.close()
    sandbox.stop()
    guard status == 0 else { throw ExitCode(status) }
  }

  private func greet() {
    write("Tureen \(Tureen.version), Lua 5.4. Tab completes, Ctrl-C ends what runs, Ctrl-D leaves.\n", to: STDOUT_FILENO)
  }
}
