import JSON

/// A run over time as a picture: a bar for each request, a mark for each step that was stored.
struct RunPicture {
  private let run: JSONValue

  /// Events that are drawn.
  private static let most = 200
  private static let width = 960, left = 330.0, right = 880.0, row = 23.0, top = 104.0

  /// - Parameter run: An element of the result of `getRuns` with its events.
  init(_ run: JSONValue) { self.run = run }

  var text: String {
    let all = (run["events"]?.arrayValue ?? []).filter { $0["kind"]?.stringValue != "end" }
    let events = all.prefix(Self.most), words = RunText(run)
    var picture = SVGPicture(width: Self.width, title: "Run \(run.figure("run")) of \(words.sync): \(words.result)")
    picture.text("run \(run.figure("run")): \(words.sync)", x: 16, y: 32, class: "head")
    picture.text(SVGPicture.cut(words.result, 130), x: 16, y: 54)
    let took = words.took.isEmpty ? "" : ", took \(words.took)"
    picture.text(
      SVGPicture.cut("\(TimeText.minute(run.figure("startedAt")))\(took), by \(words.by)", 130), x: 16, y: 74, class: "quiet")
    guard !events.isEmpty else {
      picture.text("The history keeps no requests of this run.", x: 16, y: 104, class: "quiet")
      return picture.document(height: 120)
    }
    let from = min(run.figure("startedAt"), events.map { $0.figure("at") }.min() ?? 0)
    let to = max(run["endedAt"]?.integerValue ?? 0, from + 1, events.map { $0.figure("at") + $0.figure("ms") }.max() ?? 0)
    let bottom = Self.top + Double(events.count) * Self.row + 6
    for part in [0, 0.25, 0.5, 0.75, 1] {
      let x = Self.left + part * (Self.right - Self.left)
      picture.line(x: x, from: Self.top - 4, to: bottom)
      picture.text(
        DurationText.text(Int64(part * Double(to - from))), x: x, y: Self.top - 10, class: "quiet", anchor: .middle)
    }
    for (i, event) in events.enumerated() { draw(event, Self.top + Double(i) * Self.row, from, to, &picture) }
    let left = Int64(all.count - events.count) + run.figure("omitted")
    if left > 0 { picture.text("\(left) more are not shown", x: 16, y: bottom + 18, class: "quiet") }
    return picture.document(height: bottom + (left > 0 ? 30 : 12))
  }

  /// Characters of a label.
  private static let longest = 42

  /// Without the part of the path that all requests to an org have.
  private static func short(_ request: String) -> String {
    request.replacing(#/ /services/data/v[0-9.]+//#, with: " …/", maxReplacements: 1)
  }

  private func draw(_ event: JSONValue, _ y: Double, _ from: Int64, _ to: Int64, _ picture: inout SVGPicture) {
    func x(_ time: Int64) -> Double {
      Self.left + Double(time - from) / Double(to - from) * (Self.right - Self.left)
    }
    let start = x(event.figure("at"))
    guard event["kind"]?.stringValue == "request" else {
      let soup = event["soupName"]?.stringValue.map { " of \($0)" } ?? ""
      let said = "\(event["kind"]?.stringValue ?? "") written: \(event.figure("rows")) records\(soup)"
      picture.text(SVGPicture.cut(said, Self.longest), x: Self.left - 12, y: y + 15, class: "quiet", anchor: .end)
      return picture.mark(x: start, y: y + 11, tip: said)
    }
    let status = event["status"]?.integerValue, isBad = status.map { $0 >= 400 } ?? true
    let request = "\(event["method"]?.stringValue ?? "") \(event["path"]?.stringValue ?? "")"
    let again = event.figure("attempt") > 1 ? ", attempt \(event.figure("attempt"))" : ""
    let outcome = status.map { "\($0)" } ?? event["error"]?.stringValue ?? "no answer"
    picture.text(
      SVGPicture.cut(Self.short(request), Self.longest), x: Self.left - 12, y: y + 15, class: isBad ? "bad-text" : "ink",
      anchor: .end)
    let end = max(start + 3, x(event.figure("at") + event.figure("ms")))
    let kind = run["kind"]?.stringValue == "syncUp" ? "up" : "down"
    picture.bar(
      x: start, y: y + 5, width: end - start, height: 13, class: isBad ? "bad" : kind,
      tip: "\(request): \(outcome), \(event.figure("ms")) ms\(again)")
    picture.text(outcome, x: min(end + 6, Double(Self.width) - 62), y: y + 15, class: isBad ? "bad-text" : "quiet")
  }
}
