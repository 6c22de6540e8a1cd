import ArgumentParser
import Glibc
import LuaBridge
import Tureen

struct ReplCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "repl",
    abstract: "Runs Lua statements as they are typed.",
    discussion: """
      The modules are at hand: smartstore, mobilesync, network, keyvalue, force, oauth, json, and await, which waits for a call: \
      await(smartstore.soupExists, "contacts"). The value of an expression is shown; lists of records as tables. A statement \
      may take several lines. What a local holds is gone with its statement.

      Tab completes names and, inside quotes, soups. The arrow keys find what was typed before: repl_history under the home. \
      Ctrl-C clears the line, or ends what runs; Ctrl-D leaves. Events are shown as they come.

      Where standard input is no terminal its statements are run one after the other, without a prompt; the exit status is 1 \
      when one of them failed.
      """)

  @OptionGroup var place: HostOptions

  @Option(help: "A folder with bootconfig.json, userstore.json, usersyncs.json and the like.")
  var config: String?

  func run() throws {
    let (host, sandbox) = try place.prepare(configDirectory: config)
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
