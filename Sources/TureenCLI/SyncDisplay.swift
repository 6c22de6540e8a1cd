@preconcurrency import Dispatch
import Glibc
import JSON
import LuaBridge
import Support
import Synchronization
import Tureen

/// Shows running syncs: a bar on a terminal's stderr, JSON lines, or nothing. Any thread.
///
/// The bar appears once a sync has taken half a second, and is drawn only while the script waits: what the script prints is
/// never written into it.
final class SyncDisplay: Sendable {
  enum Style: Sendable, Equatable {
    case none, progress
    /// To this descriptor.
    case json(Int32)
  }

  private struct Sync {
    var title: String
    var percent: Int64
    var done: Int64
    var total: Int64
    let began: Int64
  }

  private struct State {
    var syncs: [(id: Int64, sync: Sync)] = []
    var isDrawn = false
    /// Taken away for the script; to be drawn again as soon as it waits.
    var isDue = false
    var isWaiting = false
    var isFinished = false
    /// The syncs whose warnings were shown.
    var warned: Set<WarnedSync> = []
  }

  private struct WarnedSync: Hashable {
    let store: String
    let isGlobal: Bool
    let id: Int64
  }

  private let style: Style
  private let usesColor: Bool
  /// Those who read JSON find the warnings in there.
  private let showsWarnings: Bool
  private let state = Mutex(State())
  private let timer: (any DispatchSourceTimer)?

  /// Milliseconds before the bar appears.
  private static let delay: Int64 = 500
  private static let interval = DispatchTimeInterval.milliseconds(100)

  init(style: Style) {
    let isTerminal = isatty(STDERR_FILENO) == 1
    self.style = style == .progress && !isTerminal ? .none : style
    showsWarnings = style == .progress
    usesColor = getenv("NO_COLOR").map { $0.pointee == 0 } ?? true
    guard self.style == .progress else {
      timer = nil
      return
    }
    let timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "tureen.progress"))
    self.timer = timer
    timer.schedule(deadline: .now() + SyncDisplay.interval, repeating: SyncDisplay.interval)
    timer.setEventHandler { [weak self] in self?.draw() }
    timer.resume()
  }

  /// Draws while this bridge's script waits, and clears the bar before it goes on.
  func follow(_ bridge: Bridge) {
    guard style == .progress else { return }
    bridge.observeWaiting { [weak self] isWaiting in self?.setWaiting(isWaiting) }
  }

  private func setWaiting(_ isWaiting: Bool) {
    state.withLock { state in
      state.isWaiting = isWaiting
      if !isWaiting {
        state.isDue = state.isDue || state.isDrawn
        SyncDisplay.erase(&state)
      } else if state.isDue {
        draw(&state)
      }
    }
  }

  /// Takes an update of a sync.
  func show(_ update: SyncUpdate, _ store: StoreReference) {
    if showsWarnings, update.isTerminal { showWarnings(update, store) }
    switch style {
    case .none: break
    case .json(let descriptor): printLine(update, store, to: descriptor)
    case .progress: note(update)
    }
  }

  /// Once for each sync, on stderr, where the bar would be.
  private func showWarnings(_ update: SyncUpdate, _ store: StoreReference) {
    guard let state = try? JSONValue(parsing: update.state), let warnings = state["warnings"]?.arrayValue, !warnings.isEmpty
    else { return }
    let name = state["name"]?.stringValue.map { "'\($0)'" } ?? String(update.syncId)
    self.state.withLock { shared in
      let sync = WarnedSync(store: store.name, isGlobal: store.isGlobal, id: update.syncId)
      guard shared.warned.insert(sync).inserted else { return }
      SyncDisplay.erase(&shared)
      for warning in warnings.compactMap(\.stringValue) { complain("warning: sync \(name): \(warning)") }
    }
  }

  private func printLine(_ update: SyncUpdate, _ store: StoreReference, to descriptor: Int32) {
    guard var detail = (try? JSONValue(parsing: update.state))?.objectValue else { return }
    detail["isGlobalStore"] = .bool(store.isGlobal)
    detail["storeName"] = .string(store.name)
    let line: JSONObject = ["event": "sync", "detail": .object(detail)]
    // One line whole, then the next.
    state.withLock { _ in write(TerminalText.escapedJSON(line.text) + "\n", to: descriptor) }
  }

  private func note(_ update: SyncUpdate) {
    let value = (try? JSONValue(parsing: update.state)) ?? .null
    state.withLock { state in
      state.syncs.removeAll { $0.id == update.syncId && update.isTerminal }
      guard !update.isTerminal else { return }
      let known = state.syncs.firstIndex { $0.id == update.syncId }
      let total = value["totalSize"]?.integerValue ?? -1, percent = value["progress"]?.integerValue ?? 0
      let verb = value["type"]?.stringValue == "syncUp" ? "up" : "down"
      let name = value["name"]?.stringValue ?? "\(value["soupName"]?.stringValue ?? "") \(verb)"
      let sync = Sync(
        title: name, percent: percent, done: max(0, total) * percent / 100, total: total,
        began: known.map { state.syncs[$0].sync.began } ?? SystemClock.monotonicMilliseconds())
      if let known { state.syncs[known].sync = sync } else { state.syncs.append((update.syncId, sync)) }
    }
  }

  private func draw() { state.withLock { draw(&$0) } }

  private func draw(_ state: inout State) {
    state.isDue = false
    guard state.isWaiting, !state.isFinished else { return }
    let now = SystemClock.monotonicMilliseconds()
    guard let sync = state.syncs.first(where: { now - $0.sync.began >= SyncDisplay.delay })?.sync else { return }
    write("\r" + line(sync) + "\u{1b}[K", to: STDERR_FILENO)
    state.isDrawn = true
  }

  private func line(_ sync: Sync) -> String {
    let width = 24, filled = Int(max(0, min(100, sync.percent))) * width / 100
    let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: width - filled)
    let counts = sync.total >= 0 ? "\(sync.done) of \(sync.total)" : "asking the server"
    let shown = usesColor ? "\u{1b}[36m\(bar)\u{1b}[0m" : bar
    return "\(TerminalText.escaped(sync.title))  \(shown) \(sync.percent)%  \(counts)"
  }

  /// Takes the bar away, for a message of somebody else.
  func clear() { state.withLock { SyncDisplay.erase(&$0) } }

  /// Ends the display.
  func finish() {
    timer?.cancel()
    state.withLock { state in
      SyncDisplay.erase(&state)
      state.isFinished = true
    }
  }

  private static func erase(_ state: inout State) {
    guard state.isDrawn else { return }
    write("\r\u{1b}[K", to: STDERR_FILENO)
    state.isDrawn = false
  }
}
