/// Formats a table for people: titles and lines of aligned columns. Rows can be added after the widths are determined.
package struct TextTable: Sendable {
  package struct Column: Sendable {
    package let title: String
    package let isNumeric: Bool

    package init(_ title: String, isNumeric: Bool = false) {
      self.title = title
      self.isNumeric = isNumeric
    }
  }

  private let columns: [Column]
  /// The widths of the visible columns. Columns at the end that do not fit are omitted.
  private let widths: [Int]

  private static let gap = 2, narrowest = 6

  /// - Parameters:
  ///   - sample: The rows that determine the widths, escaped by ``cell(_:)``.
  ///   - width: The terminal's width in columns; nil for no limit.
  package init(_ columns: [Column], sample: [[String]], width: Int? = nil) {
    var widths = columns.map { DisplayWidth.of(Self.cell($0.title)) }
    for row in sample {
      for (i, text) in row.enumerated() where i < widths.count { widths[i] = max(widths[i], DisplayWidth.of(text)) }
    }
    if let width { widths = Self.fitted(widths, columns, into: width) }
    self.columns = columns
    self.widths = widths
  }

  /// The titles of the omitted columns.
  package var leftOut: [String] { columns[widths.count...].map(\.title) }

  /// Fits the widths into the terminal: narrows the widest columns first, numbers last, then omits columns at the end.
  private static func fitted(_ natural: [Int], _ columns: [Column], into width: Int) -> [Int] {
    var widths = natural
    func total() -> Int { widths.reduce(0, +) + gap * (widths.count - 1) }
    for keepsNumbers in [true, false] {
      while total() > width {
        let candidates = widths.indices.filter { widths[$0] > narrowest && !(keepsNumbers && columns[$0].isNumeric) }
        guard let widest = candidates.max(by: { widths[$0] < widths[$1] }) else { break }
        widths[widest] -= 1
      }
      guard total() > width else { break }
      while widths.count > 1, total() > width, keepsNumbers == false || !columns[..<widths.count].contains(where: \.isNumeric) {
        widths.removeLast()
      }
    }
    if widths.count == 1 { widths[0] = min(widths[0], max(1, width)) }
    return widths
  }

  package var heading: String { line(columns.map { Self.cell($0.title) }) }

  /// Returns a line of the table. - Parameter cells: Texts escaped by ``cell(_:)``.
  package func line(_ cells: [String]) -> String {
    var line = ""
    for (i, width) in widths.enumerated() {
      let text = DisplayWidth.shortened(i < cells.count ? cells[i] : "", to: width)
      let padding = String(repeating: " ", count: max(0, width - DisplayWidth.of(text)))
      if i > 0 { line += String(repeating: " ", count: Self.gap) }
      line += columns[i].isNumeric ? padding + text : text + padding
    }
    while line.last == " " { line.removeLast() }
    return line + "\n"
  }

  /// Returns a text on one line, without control characters for the terminal.
  package static func cell(_ text: String) -> String {
    let escaped = TerminalText.escaped(text)
    guard escaped.utf8.contains(where: { $0 == 9 || $0 == 10 }) else { return escaped }
    return escaped.replacing("\n", with: "\\n").replacing("\t", with: "\\t")
  }

  /// Returns a complete small table.
  /// - Parameter rows: The cells' texts, which need not be escaped.
  package static func text(_ columns: [Column], _ rows: [[String]], width: Int? = nil) -> String {
    let rows = rows.map { $0.map(cell) }
    let table = TextTable(columns, sample: rows, width: width)
    return table.heading + rows.map(table.line).joined()
  }
}
