import Support

/// A drawing as an SVG file for mails and tickets: light and dark, without scripts, fonts or anything from elsewhere.
struct SVGPicture {
  let width: Int
  /// The text of the whole for a screen reader.
  let title: String
  private var parts: [String] = []

  init(width: Int, title: String) { (self.width, self.title) = (width, title) }

  enum Anchor: String { case start, middle, end }

  mutating func text(_ text: String, x: Double, y: Double, class name: String = "ink", anchor: Anchor = .start) {
    parts.append(
      #"<text class="\#(name)" x="\#(Self.number(x))" y="\#(Self.number(y))" text-anchor="\#(anchor.rawValue)">"#
        + Self.escaped(text) + "</text>")
  }

  mutating func bar(x: Double, y: Double, width: Double, height: Double, class name: String, tip: String) {
    parts.append(
      #"<rect class="\#(name)" x="\#(Self.number(x))" y="\#(Self.number(y))" width="\#(Self.number(width))" "#
        + #"height="\#(Self.number(height))" rx="2.5"><title>\#(Self.escaped(tip))</title></rect>"#)
  }

  /// A mark of a moment.
  mutating func mark(x: Double, y: Double, tip: String) {
    let start = "M\(Self.number(x)) \(Self.number(y - 7))"
    parts.append(#"<path class="mark" d="\#(start)l6 7-6 7-6-7z"><title>\#(Self.escaped(tip))</title></path>"#)
  }

  mutating func line(x: Double, from top: Double, to bottom: Double) {
    let x = Self.number(x)
    parts.append(
      #"<line class="grid" x1="\#(x)" x2="\#(x)" y1="\#(Self.number(top))" y2="\#(Self.number(bottom))"/>"#)
  }

  mutating func rule(y: Double) {
    parts.append(#"<line class="grid" x1="16" x2="\#(width - 16)" y1="\#(Self.number(y))" y2="\#(Self.number(y))"/>"#)
  }

  /// The file.
  func document(height: Double) -> String {
    """
    <svg xmlns="http://www.w3.org/2000/svg" width="\(width)" height="\(Self.number(height))" \
    viewBox="0 0 \(width) \(Self.number(height))" role="img" aria-label="\(Self.escaped(title))">
    <title>\(Self.escaped(title))</title>
    <style>\(Self.style)</style>
    <rect class="ground" width="100%" height="100%"/>
    \(parts.joined(separator: "\n"))
    </svg>

    """
  }

  private static let style = """
    text{font:13px system-ui,"Segoe UI","Noto Sans","DejaVu Sans",sans-serif;fill:#1a211e}.head{font-size:17px;font-weight:600}\
    .quiet{fill:#5a635d}.bad-text{fill:#b5281c}.strong{font-weight:600}.ground{fill:#fffefb}.grid{stroke:#dbd5c7}\
    .down{fill:#29649f}.up{fill:#8a5700}.bad{fill:#b5281c}.mark{fill:#0b6459}.chosen{fill:#a1246a}\
    @media (prefers-color-scheme:dark){text{fill:#e8ebe7}.quiet{fill:#a3aea8}.bad-text{fill:#f68c7e}.ground{fill:#181e1f}\
    .grid{stroke:#333e3e}.down{fill:#7fb6ec}.up{fill:#e4ae48}.bad{fill:#f68c7e}.mark{fill:#63cdb9}.chosen{fill:#ed81b9}}
    """

  /// With one digit after the point, as a picture needs no more.
  private static func number(_ value: Double) -> String {
    let tenths = Int(saturating: (value * 10).rounded())
    return tenths % 10 == 0 ? "\(tenths / 10)" : "\(Double(tenths) / 10)"
  }

  /// Also without characters that XML does not permit: texts of servers may have them.
  static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case "\"": result += "&quot;"
      case "\n", "\r", "\t": result += " "
      case _ where scalar < " " || scalar.value == 0xFFFE || scalar.value == 0xFFFF: result += "\u{FFFD}"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  static func cut(_ text: String, _ count: Int) -> String {
    text.count > count ? text.prefix(count - 1) + "…" : text
  }
}
