@preconcurrency import Dispatch
import Glibc
import JSON
import LuaBridge
import RestClient
import Support
import Synchronization
import Tureen

/// Shows running syncs on stderr: a bar on a terminal, lines elsewhere, JSON lines, or nothing. Thread-safe.
///
/// ``SyncProgress`` decides what to show and when; ``ProgressTexts`` has the words. The bar is drawn only while the script
/// waits, so the script's output never mixes with it.
final class SyncDisplay: Sendable {
  enum Style: Sendable, Equatable {
    case none, progress
    /// JSON lines on this descriptor.
    case json(Int32)
  }

  private struct State {
    var progress = SyncProgress()
    var drawn: SyncProgress.Bar?
    /// The bar was erased for the script and is drawn again as soon as the script waits.
    var isDue = false
    var isWaiting = false
    var isFinished = false
    /// Permanent lines. They are held back until the script waits, because it may be in the middle of a line.
    var lines: [String] = []
    /// Failures that the script may report itself, as uncaught errors.
    var failures: [Failure] = []
    /// The syncs whose warnings have been shown.
    var warned: Set<WarnedSync> = []
  }

  private struct Failure {
    let line: String
    let domain: String, code: String
    /// Monotonic, in ms.
    let at: Int64
  }

  /// How long a script has for reporting a failure itself, in ms.
  private static let patienceMs: Int64 = 1_000

  private struct WarnedSync: Hashable {
    let store: String
    let isGlobal: Bool
    let id: Int64
  }

  private let style: Style
  private let isTerminal: Bool
  private let usesColor: Bool
  private let tellsFailures: Bool
  private let state = Mutex(State())
  private let timer: (any DispatchSourceTimer)?

  private static let interval = DispatchTimeInterval.milliseconds(100)

  /// - Parameter tellsFailures: False if the caller reports failed syncs itself.
  init(style: Style, tellsFailures: Bool = true) {
    self.style = style
    self.tellsFailures = tellsFailures
    // A bar would be between the lines of a log in JSON.
    isTerminal = isatty(STDERR_FILENO) == 1 && LogFormat.current == .text
    usesColor = getenv("NO_COLOR").map { $0.pointee == 0 } ?? true
    guard style == .progress else {
      timer = nil
      return
    }
    let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "tureen.progress"))
    self.timer = timer
    timer.schedule(deadline: .now() + SyncDisplay.interval, repeating: SyncDisplay.interval)
    timer.setEventHandler { [weak self] in self?.draw() }
    timer.resume()
  }

  /// Draws while the bridge's script waits, and clears the bar before the script continues.
  func follow(_ bridge: Bridge) {
    guard style == .progress else { return }
    bridge.observeWaiting { [weak self] isWaiting in self?.setWaiting(isWaiting) }
  }

  private func setWaiting(_ isWaiting: Bool) {
    state.withLock { state in
      state.isWaiting = isWaiting
      if !isWaiting {
        state.isDue = state.isDue || state.drawn != nil
        SyncDisplay.erase(&state)
      } else {
        SyncDisplay.printLines(&state)
        if state.isDue { draw(&state) }
      }
    }
  }

  /// Shows an update of a sync.
  func show(_ update: SyncUpdate, _ store: StoreReference) {
    switch style {
    case .none: break
    case .json(let descriptor): printLine(update, store, to: descriptor)
    case .progress:
      guard let value = try? JSONValue(parsing: update.state) else { return }
      if update.isTerminal { showWarnings(value, update.syncId, store) }
      note(value, update, store)
    }
  }

  /// Prints a sync's warnings once.
  private func showWarnings(_ value: JSONValue, _ id: Int64, _ store: StoreReference) {
    guard let warnings = value["warnings"]?.arrayValue, !warnings.isEmpty else { return }
    let name = value["name"]?.stringValue.map { "'\($0)'" } ?? String(id)
    state.withLock { shared in
      guard shared.warned.insert(WarnedSync(store: store.name, isGlobal: store.isGlobal, id: id)).inserted else { return }
      SyncDisplay.erase(&shared)
      for warning in warnings.compactMap(\.stringValue) {
        complain(TerminalText.line(ProgressTexts.warning(name, warning)), .warning)
      }
    }
  }

  private func printLine(_ update: SyncUpdate, _ store: StoreReference, to descriptor: Int32) {
    guard var detail = (try? JSONValue(parsing: update.state))?.objectValue else { return }
    detail["isGlobalStore"] = .bool(store.isGlobal)
    detail["storeName"] = .string(store.name)
    let line: JSONObject = ["event": "sync", "detail": .object(detail)]
    // Under the lock, so that lines of several syncs do not interleave.
    state.withLock { _ in write(TerminalText.escapedJSON(line.text) + "\n", to: descriptor) }
  }

  private func note(_ value: JSONValue, _ update: SyncUpdate, _ store: StoreReference) {
    let now = SystemClock.monotonicMilliseconds(), hasFailed = value["status"]?.stringValue == "FAILED"
    state.withLock { state in
      let line = state.progress.note(value, id: update.syncId, of: store, at: now, reason: update.error?.message)
      guard let line else { return }
      guard !hasFailed else {
        guard tellsFailures else { return }
        let error = update.error
        state.failures.append(Failure(line: line, domain: error?.domain ?? "", code: error?.code ?? "", at: now))
        return
      }
      state.lines.append(line)
      if state.isWaiting || !isTerminal { SyncDisplay.printLines(&state) }
    }
  }

  /// Prints failures that the script has had time to report.
  private func takeFailures(_ state: inout State, where isDue: (Failure) -> Bool) {
    let due = state.failures.filter(isDue)
    guard !due.isEmpty else { return }
    state.failures.removeAll(where: isDue)
    state.lines += due.map(\.line)
    if state.isWaiting || !isTerminal || state.isFinished { SyncDisplay.printLines(&state) }
  }

  private func draw() { state.withLock { draw(&$0) } }

  private func draw(_ state: inout State) {
    state.isDue = false
    guard !state.isFinished else { return }
    let now = SystemClock.monotonicMilliseconds()
    takeFailures(&state) { $0.at + Self.patienceMs <= now }
    guard isTerminal else {
      for line in state.progress.lines(at: now) { complain(TerminalText.line(line), .info) }
      return
    }
    guard state.isWaiting, let bar = state.progress.bar(at: now), bar != state.drawn else { return }
    write("\r" + line(bar) + "\u{1b}[K", to: STDERR_FILENO)
    state.drawn = bar
  }

  private func line(_ shown: SyncProgress.Bar) -> String {
    let title = TerminalText.line(shown.title)
    guard let percent = shown.percent else { return "\(title)  \(shown.counts)" }
    let width = 24, filled = Int(max(0, min(100, percent))) * width / 100
    let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
    return "\(title)  \(usesColor ? "\u{1b}[36m\(bar)\u{1b}[0m" : bar) \(percent)%  \(shown.counts)"
  }

  /// Removes the bar before another message is printed.
  func clear() { state.withLock { SyncDisplay.erase(&$0) } }

  /// Prints the lines that are left and stops drawing.
  ///
  /// - Parameter reported: The error that ended the script and has been printed: a failure is told once.
  func finish(reported: ScriptState.Failure? = nil) {
    timer?.cancel()
    state.withLock { state in
      SyncDisplay.erase(&state)
      // Other syncs that failed in the same way are still told.
      if let told = state.failures.lastIndex(where: { $0.domain == reported?.domain && $0.code == reported?.code }) {
        state.failures.remove(at: told)
      }
      takeFailures(&state) { _ in true }
      SyncDisplay.printLines(&state)
      state.isFinished = true
    }
  }

  private static func printLines(_ state: inout State) {
    guard !state.lines.isEmpty else { return }
    erase(&state)
    for line in state.lines { complain(TerminalText.line(line), .info) }
    state.lines = []
  }

  private static func erase(_ state: inout State) {
    guard state.drawn != nil else { return }
    write("\r\u{1b}[K", to: STDERR_FILENO)
    state.drawn = nil
  }
}
