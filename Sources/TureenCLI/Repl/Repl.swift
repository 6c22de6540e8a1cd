import CRepl
import Glibc
import LuaBridge
import Tureen

/// A prompt for Lua: reads statements, runs them in one state and shows the results. Belongs to one thread.
final class Repl {
  private let state: ScriptState
  private let host: Host
  private let stop = ScriptState.Break()
  private let interrupts: ReplInterrupts
  private let eventDescriptor: Int32
  private var isTerminal = false
  /// The terminal's columns that the script knows; 0 before the first.
  private var columns = 0
  private var wasInterrupted = false
  /// Set by the words `exit` and `quit`.
  private var isLeaving = false
  // State of reading standard input that is not a terminal.
  private var input: [UInt8] = []
  private var hasInputEnded = false

  init(_ state: ScriptState, host: Host) throws {
    self.state = state
    self.host = host
    interrupts = ReplInterrupts(stop)
    state.watch(stop)
    let values = Self.text(tureen_repl_values, tureen_repl_values_length)
    let prompt = Self.text(tureen_repl_text, tureen_repl_text_length)
    try state.keep(
      text: "package.preload['tureen.repl.values'] = function() \(values) end \(prompt)", name: "=[tureen repl.lua]")
    eventDescriptor = Int32(try state.ask("fd")) ?? -1
  }

  private static func text(_ start: UnsafePointer<CChar>, _ count: Int) -> String {
    String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
  }

  // MARK: A terminal

  /// Talks to a person until Ctrl-D. - Returns: the exit status.
  func converse() throws -> Int32 {
    isTerminal = true
    try fitToTerminal()
    var hooks = tureen_editor_hooks(
      context: Unmanaged.passUnretained(self).toOpaque(), events_fd: eventDescriptor,
      events: { context in Repl.from(context).deliver() },
      complete: { context, line, length in
        strdup(Repl.from(context).candidates(Repl.text(line, length)))
      })
    guard let editor = tureen_editor_open(&hooks) else { throw ScriptState.Raised(message: "the terminal cannot be used") }
    defer { tureen_editor_close(editor) }
    let history = (try? host.homeDirectory).map(History.init(home:))
    for line in history?.load() ?? [] { tureen_editor_remember(editor, line) }
    return try converse(editor, history)
  }

  private func converse(_ editor: OpaquePointer, _ history: History?) throws -> Int32 {
    var isComplete = true
    while true {
      var text: UnsafeMutablePointer<CChar>?
      switch (isComplete ? "> " : "… ").withCString({ tureen_editor_read(editor, $0, &text) }) {
      case Int32(TUREEN_EDITOR_LINE):
        guard let text else { return 0 }
        defer { free(text) }
        let line = String(cString: text)
        if line.contains(where: { $0 != " " }) {
          tureen_editor_remember(editor, line)
          // As in shells, a line that begins with a space is not stored.
          if !line.hasPrefix(" ") { history?.append(line) }
        }
        isComplete = try run(line)
        if isLeaving { return 0 }
      case Int32(TUREEN_EDITOR_INTERRUPT):
        try state.ask("cancel")
        isComplete = true
      default:
        print("")
        return 0
      }
    }
  }

  /// Tells the script the current width of the terminal.
  private func fitToTerminal() throws {
    let width = TerminalWidth.ofTerminal ?? 80
    guard width != columns else { return }
    columns = width
    let hasColor = getenv("NO_COLOR").map { $0.pointee == 0 } ?? true
    try state.ask("setup", "\(width) \(hasColor ? 1 : 0)")
  }

  private static func from(_ context: UnsafeMutableRawPointer?) -> Repl {
    Unmanaged<Repl>.fromOpaque(context!).takeUnretainedValue()
  }

  /// Delivers events while a line is being typed. Ctrl-C ends a loop in a callback like any other.
  private func deliver() {
    try? fitToTerminal()
    _ = try? state.ask("poll")
    _ = interrupts.take()
  }

  private func candidates(_ line: String) -> String {
    guard let found = try? state.ask("complete", line) else { return "0" }
    guard found.hasPrefix("soup\n") else { return found }
    let typed = found.dropFirst(5)
    let names = host.soupNames().filter { $0.hasPrefix(typed) }
    return "\(typed.utf8.count)\n" + names.joined(separator: "\n")
  }

  // MARK: Statements

  /// Passes a line to the script and waits until it has run. - Returns: False if the statement continues in the next line.
  private func run(_ line: String) throws -> Bool {
    if isTerminal { try fitToTerminal() }
    var status = try asking("line", line)
    while status == "running" {
      if !isTerminal, try state.ask("pending") == "0" {
        status = try asking("idle")
        guard status == "running" else { break }
      }
      _ = wait()
      if isTerminal { try fitToTerminal() }
      if takeInterrupt() {
        if isTerminal { write("\n", to: STDOUT_FILENO) }  // behind the ^C that the terminal has shown
        status = try asking("cancel")
      } else {
        status = try asking("poll")
      }
    }
    _ = takeInterrupt()
    isLeaving = status == "exit"
    return status != "more"
  }

  /// A break may hit the prompt's own Lua code instead of the statement.
  private func asking(_ verb: String, _ text: String = "") throws -> String {
    do {
      return try state.ask(verb, text)
    } catch  where takeInterrupt() {
      return try state.ask("cancel")
    }
  }

  private func takeInterrupt() -> Bool {
    let isInterrupted = interrupts.take()
    wasInterrupted = wasInterrupted || isInterrupted
    return isInterrupted
  }

  /// Waits for an event, an interrupt, or input. - Returns: True if there is input to read.
  private func wait(forInput descriptor: Int32 = -1) -> Bool {
    var ready = [eventDescriptor, interrupts.descriptor, descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    poll(&ready, nfds_t(ready.count), -1)
    return ready[2].revents != 0
  }

  // MARK: A pipe

  /// Runs the statements on standard input, then waits for pending calls.
  /// - Returns: The exit status: 1 if a statement failed, 130 if it was interrupted.
  func runInput() throws -> Int32 {
    try state.ask("setup", "\(Self.pipeWidth) 0")
    while !isLeaving, let line = try nextLine() { _ = try run(line) }
    while !wasInterrupted, try state.ask("pending") != "0" {
      _ = wait()
      if !takeInterrupt() { _ = try asking("poll") }
    }
    if wasInterrupted { return ExitStatus.interrupted }
    return try state.ask("failed") == "0" ? 0 : ExitStatus.scriptFailed
  }

  /// The next line of standard input; nil at the end and after an interrupt. Delivers events while it waits.
  private func nextLine() throws -> String? {
    while !wasInterrupted {
      if let end = input.firstIndex(of: UInt8(ascii: "\n")) {
        defer { input.removeFirst(end + 1) }
        return String(decoding: input[..<end], as: UTF8.self)
      }
      if hasInputEnded {
        defer { input = [] }
        return input.isEmpty ? nil : String(decoding: input, as: UTF8.self)
      }
      if wait(forInput: STDIN_FILENO) {
        var chunk = [UInt8](repeating: 0, count: 4096)
        let count = read(STDIN_FILENO, &chunk, chunk.count)
        if count > 0 { input += chunk[..<count] } else { hasInputEnded = count == 0 || errno != EINTR }
      } else if !takeInterrupt() {
        _ = try asking("poll")
      }
    }
    return nil
  }

  /// The longest line of input that is not a terminal.
  private static let pipeWidth = 120
}
