import Glibc
import JSON
import RestClient
import Support
import Tureen

/// Shows a copy on stderr: a bar on a terminal, a line every ten seconds elsewhere; or every step as JSON on stdout.
final class CopyDisplay {
  private let isJSON: Bool
  private let isTerminal = isatty(STDERR_FILENO) == 1 && LogFormat.current == .text
  private var drawn = false
  /// The time at which the next bar or line is due, in ms of the monotonic clock.
  private var due: Int64

  init(isJSON: Bool) {
    self.isJSON = isJSON
    due = SystemClock.monotonicMilliseconds() + (isTerminal ? SyncProgress.graceMs : SyncProgress.lineMs)
  }

  func show(_ progress: StoreTransfer.Progress) { show(ProgressTexts.copy(progress), progress.json) }

  func show(_ progress: HomeBackup.Progress) { show(progress.text, progress.json) }

  private func show(_ text: @autoclosure () -> String, _ json: @autoclosure () -> JSONObject) {
    if isJSON { return write(TerminalText.escapedJSON(json().text) + "\n", to: STDOUT_FILENO) }
    let now = SystemClock.monotonicMilliseconds()
    guard now >= due else { return }
    let line = text()
    if isTerminal {
      write("\r\(TerminalText.escaped(line))\u{1b}[K", to: STDERR_FILENO)
      drawn = true
    } else {
      complain(line, .info)
    }
    due = now + (isTerminal ? SyncProgress.barMs : SyncProgress.lineMs)
  }

  /// Removes the bar.
  func finish() {
    if drawn { write("\r\u{1b}[K", to: STDERR_FILENO) }
    drawn = false
  }
}
