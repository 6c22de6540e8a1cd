import JSON
import LuaBridge
import RecordScan
import Synchronization
import TestSupport
import Tureen

/// The three readers of JSON: the scanner of records, the decoder of values, and the decoder for scripts. Each accepts the texts
/// that the others accept, and reads the same values.
struct JSONTarget: FuzzTarget {
  let name = "json"
  let usualRounds = 900
  /// Scripts decode the inputs of a session together.
  let sessionRounds = 450
  let dictionary = [
    "{\"records\":[", "]}", "\"a\":", "\"records\":", "\"Id\":", "\\ud83d\\ude00", "\\ud800", "\\udc00", "\\\"", "\\/", "e+1",
    "E-1",
    "-", "0.0", "tru", "nul", "\u{7f}", "\u{2028}", "é", "e\u{301}", "[[[[[[", "]]]]]]", ",,", "\u{1f}",
  ]

  func open() -> any FuzzSession { Session() }

  private final class Session: FuzzSession, @unchecked Sendable {  // one thread at a time
    private var inputs: [(text: [UInt8], value: JSONValue?)] = []
    /// Bytes of an input beyond which scripts do not decode it: the script would be too long.
    private static let mostBytes = 8 << 10

    func run(_ input: [UInt8]) throws -> FuzzOutcome {
      let decoded = Result { () throws(JSONError) in try JSONValue(parsing: input) }
      try JSONReaders.compare(input, decoded)
      let value = try? decoded.get()
      if input.count <= Self.mostBytes { inputs.append((input, value)) }
      switch decoded {
      case .success(let value): return .accepted(FuzzSignal.shape(value))
      case .failure(let error): return .refused(error.message)
      }
    }

    func finish() throws {
      let decoded = try ScriptDecoder.decoded(inputs.map(\.text))
      for ((text, value), again) in zip(inputs, decoded) {
        func check(_ holds: Bool, _ message: String) throws(FuzzFailure) {
          guard holds else { throw FuzzFailure(message: message, input: text) }
        }
        try check(
          (value != nil) == (again != .refused), "the decoder for scripts \(again == .refused ? "refuses" : "accepts") it alone")
        guard let value, case .text(let encoded) = again else { continue }
        try check(
          try JSONValue(parsing: encoded).asScriptsHoldIt == value.asScriptsHoldIt,
          "a script reads \(encoded.prefix(300)) instead of \(value.text.prefix(300))")
      }
    }
  }
}

/// The decoder for scripts.
enum ScriptDecoder {
  enum Decoded: Equatable {
    case refused
    /// A value without a JSON text: an infinity.
    case withoutText
    case text(String)
  }

  /// Decodes texts in a script, which encodes their values again.
  static func decoded(_ texts: [[UInt8]]) throws -> [Decoded] {
    let folder = try TemporaryFolder(), notes = Mutex<[String]>([])
    var settings = HostSettings()
    settings.home = folder.path
    settings.services = [
      "note": { _, arguments in
        notes.withLock { $0.append(arguments["value"]?.stringValue ?? "") }
        return true
      }
    ]
    let state = try ScriptState(host: Host(settings: settings))
    defer { state.close() }
    for part in stride(from: 0, to: texts.count, by: 100) {
      let list = texts[part..<min(part + 100, texts.count)].map(quoted).joined(separator: ",\n")
      let outcome = state.run(
        text: """
          local tureen = require "tureen"
          for _, text in ipairs { \(list) } do
            local value, err = tureen.json.decode(text)
            local has_text, again = pcall(tureen.json.encode, value)
            tureen.exec(nil, nil, "note", "text", { value = err and "" or has_text and again or "-" })
          end
          """)
      guard outcome == .done else { throw FuzzFailure(message: "the script that decodes ends with \(outcome)") }
    }
    let found = notes.withLock { $0 }
    try FuzzFailure.unless(found.count == texts.count, "a script decodes \(found.count) of \(texts.count) texts")
    return found.map { $0 == "" ? .refused : $0 == "-" ? .withoutText : .text($0) }
  }

  private static func quoted(_ bytes: [UInt8]) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var out = [UInt8(ascii: "\"")]
    for byte in bytes { out += [UInt8(ascii: "\\"), UInt8(ascii: "x"), digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
    return String(decoding: out + [UInt8(ascii: "\"")], as: UTF8.self)
  }
}

/// The scanner and the decoder of values.
private enum JSONReaders {
  static func compare(_ bytes: [UInt8], _ decoded: Result<JSONValue, JSONError>) throws {
    try compareAcceptance(bytes, decoded)
    guard let value = try? decoded.get() else { return }
    try compareTexts(bytes, value)
    try comparePart(bytes, value)
    if let object = value.objectValue {
      try compareRecord(bytes, object)
      try comparePage(bytes, object)
    }
    if let elements = value.arrayValue { try compareElements(bytes, elements) }
  }

  private static func scanned<T>(_ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws -> T) throws(FuzzFailure) -> T {
    do {
      return try bytes.withUnsafeBytes { try body($0) }
    } catch let failure as FuzzFailure {
      throw failure
    } catch {
      throw FuzzFailure(message: "the scanner refuses what the decoder accepts: \(error)")
    }
  }

  private static func value(_ text: UnsafeRawBufferPointer) throws -> JSONValue { try JSONValue(parsing: text) }

  private static func isSame(_ a: JSONValue, _ b: JSONValue) -> Bool { a.serialized() == b.serialized() }

  // MARK: Acceptance

  private static func compareAcceptance(_ bytes: [UInt8], _ decoded: Result<JSONValue, JSONError>) throws {
    let refusal = bytes.withUnsafeBytes { raw -> ScanError? in
      var walker = JSONWalker(raw)
      do throws(ScanError) {
        _ = try walker.skipValue(depth: 0)
        try walker.expectEnd()
        return nil
      } catch {
        return error
      }
    }
    let isObject = bytes.withUnsafeBytes { JSONWalker.isObject($0) }
    let file = try? JSONFile(name: "f", text: bytes)
    switch decoded {
    case .success(let value):
      try FuzzFailure.unless(refusal == nil, "the decoder accepts what the scanner refuses: \(refusal?.message ?? "")")
      try FuzzFailure.unless(isObject == (value.objectValue != nil), "isObject is \(isObject)")
      try FuzzFailure.unless(file != nil, "JSONFile refuses what the decoder accepts")
    case .failure(let error):
      try FuzzFailure.unless(refusal != nil, "the scanner accepts what the decoder refuses: \(error)")
      try FuzzFailure.unless(
        refusal?.offset == error.offset && (0...bytes.count).contains(error.offset),
        "the decoder stops at byte \(error.offset), the scanner at \(refusal?.offset ?? -1)")
      try FuzzFailure.unless(!isObject, "isObject accepts what the decoder refuses")
      // Files may begin with a byte order mark; other texts may not.
      let mark: [UInt8] = [0xef, 0xbb, 0xbf]
      let isMarked = bytes.starts(with: mark) && (try? JSONValue(parsing: Array(bytes.dropFirst(mark.count)))) != nil
      try FuzzFailure.unless((file != nil) == isMarked, "JSONFile and the decoder disagree")
    }
  }

  /// The writers of values and of indented text give the same value again.
  private static func compareTexts(_ bytes: [UInt8], _ value: JSONValue) throws {
    let written = value.serialized()
    let again = try? JSONValue(parsing: written)
    try FuzzFailure.unless(
      again.map { isSame($0, value) } ?? false, "written as \(value.text.prefix(300)), which reads differently")
    let indented = JSONLayout.indented(bytes)
    try FuzzFailure.unless(
      (try? JSONValue(parsing: indented)).map { isSame($0, value) } ?? false,
      "indented as \(String(decoding: indented.prefix(300), as: UTF8.self)), which reads differently")
    var replaced = bytes
    replaced.withUnsafeMutableBytes { JSONStringContents.replaceLoneSurrogates(in: $0) }
    try FuzzFailure.unless(
      (try? JSONValue(parsing: replaced)).map { isSame($0, value) } ?? false, "without lone surrogates it reads differently")
  }

  /// An object with one member left as text has the same members.
  private static func comparePart(_ bytes: [UInt8], _ value: JSONValue) throws {
    for key in ["a", "records"] + (value.objectValue?.keys.suffix(1) ?? []) {
      let part: PartlyParsed
      do { part = try PartlyParsed(parsing: bytes, leaving: key) } catch {
        throw FuzzFailure(message: "PartlyParsed refuses what the decoder accepts: \(error)")
      }
      var whole = part.value.objectValue
      if let list = part.list {
        let text = try JSONValue(parsing: Array(bytes[list.range]))
        let firstOther = text.arrayValue?.firstIndex { $0.objectValue == nil }
        try FuzzFailure.unless(list.firstNonObject?.position == firstOther, "PartlyParsed names another first non-object")
        whole?[key] = text
      }
      let members = whole.map { JSONValue.object(sorted($0)) } ?? part.value
      let expected = value.objectValue.map { JSONValue.object(sorted($0)) } ?? value
      try FuzzFailure.unless(isSame(members, expected), "PartlyParsed reads \(members.text.prefix(300))")
    }
  }

  private static func sorted(_ object: JSONObject) -> JSONObject {
    JSONObject(object.sorted { Array($0.key.utf8).lexicographicallyPrecedes(Array($1.key.utf8)) }.map { ($0.key, $0.value) })
  }

  // MARK: Records

  /// Paths into an object: its first keys, and the keys inside them, and some that lead nowhere.
  private static func paths(into object: JSONObject) -> [[[UInt8]]] {
    var paths = [["a"], ["a", "b"], ["missing"], ["missing", "too"]]
    for (key, value) in object.prefix(4) {
      paths.append([key])
      paths.append([key, "a"])
      for inner in (value.objectValue ?? [:]).prefix(3) {
        paths.append([key, inner.key])
        if let last = inner.value.objectValue?.keys.last { paths.append([key, inner.key, last]) }
      }
    }
    return paths.map { path in path.map { Array($0.utf8) } }
  }

  private static func compareRecord(_ bytes: [UInt8], _ object: JSONObject) throws {
    let paths = paths(into: object), owned = object.keys.last ?? "a"
    var scanner = RecordScanner(plan: ScanPlan(keys: paths, ownedKeys: [owned]))
    try scanned(bytes) { raw in
      try scanner.scanObject(raw)
      try compare(scanner, 0, paths, .object(object), raw)
    }
    try FuzzFailure.unless(scanner.records[0].hasOwnedKey == (object[owned] != nil), "hasOwnedKey is wrong for '\(owned)'")
    try FuzzFailure.unless(scanner.records[0].isEmpty == object.isEmpty, "isEmpty is wrong")
  }

  private static func compareElements(_ bytes: [UInt8], _ elements: [JSONValue]) throws {
    let first = elements.lazy.compactMap(\.objectValue).first ?? [:], paths = paths(into: first)
    let plan = ScanPlan(keys: paths)
    let isPage = elements.allSatisfy { $0.objectValue != nil }
    var scanner = RecordScanner(plan: plan)
    let accepts = bytes.withUnsafeBytes { (try? scanner.scanArray($0)) != nil }
    try FuzzFailure.unless(accepts == isPage, "scanArray \(accepts ? "accepts" : "refuses") an array of objects \(isPage)")
    let start = bytes.firstIndex(of: UInt8(ascii: "[")) ?? 0
    try scanned(bytes) { raw in
      _ = try scanner.scanElements(raw, from: start, depth: 0)
      try FuzzFailure.unless(scanner.records.count == elements.count, "\(scanner.records.count) of \(elements.count) elements")
      for (i, element) in elements.enumerated() { try compare(scanner, i, paths, element, raw) }
    }
  }

  /// The records and the envelope of a page, for each member that may hold the records.
  private static func comparePage(_ bytes: [UInt8], _ object: JSONObject) throws {
    for key in ["records", object.keys.first ?? "a", "missing"] {
      let member = object[key], list = member?.arrayValue
      let isPage = list?.allSatisfy { $0.objectValue != nil } ?? (member == nil)
      let first = list?.first?.objectValue ?? [:], paths = paths(into: first),
        envelope = Array(object.keys.prefix(3).filter { $0 != key })
      var scanner = RecordScanner(plan: ScanPlan(keys: paths))
      let found = bytes.withUnsafeBytes { try? scanner.scanPage($0, recordsKey: key, envelopeKeys: envelope) }
      // Only the last of several members with one key counts, and its position does not matter to a decoder.
      try FuzzFailure.unless(
        (found != nil) == isPage, "scanPage \(found == nil ? "refuses" : "accepts") '\(key)', which holds records: \(isPage)")
      guard let found else { continue }
      try FuzzFailure.unless(found == (member != nil), "scanPage finds records: \(found)")
      try FuzzFailure.unless(scanner.records.count == list?.count ?? 0, "\(scanner.records.count) of \(list?.count ?? 0) records")
      try scanned(bytes) { raw in
        for (i, element) in (list ?? []).enumerated() { try compare(scanner, i, paths, element, raw) }
        for (i, name) in envelope.enumerated() { try compare(scanner.envelope[i], object[name], "envelope '\(name)'", raw) }
      }
    }
  }

  /// Compares one record of a scan with its value.
  private static func compare(
    _ scanner: RecordScanner, _ number: Int, _ paths: [[[UInt8]]], _ element: JSONValue, _ raw: UnsafeRawBufferPointer
  ) throws {
    let record = scanner.records[number]
    let slice = ScannedValue(kind: record.kind, start: record.start, count: record.count)
    try compare(slice, element, "record \(number)", raw)
    for (field, path) in paths.enumerated() {
      let found = scanner.value(record: number, field: field)
      let keys = path.map { String(decoding: $0, as: UTF8.self) }
      let expected = follow(element, keys[...])
      if expected.entersArray {
        try FuzzFailure.unless(
          found.kind == .arrayStep, "record \(number) at \(keys): \(found.kind) instead of a step into an array")
      } else {
        try compare(found, expected.value, "record \(number) at \(keys)", raw)
      }
    }
  }

  private static func follow(_ value: JSONValue, _ keys: ArraySlice<String>) -> (value: JSONValue?, entersArray: Bool) {
    guard let key = keys.first else { return (value, false) }
    if value.arrayValue != nil, keys.startIndex > 0 { return (nil, true) }
    guard let next = value.objectValue?[key] else { return (nil, false) }
    return follow(next, keys.dropFirst())
  }

  private static func compare(_ found: ScannedValue, _ expected: JSONValue?, _ place: String, _ raw: UnsafeRawBufferPointer)
    throws
  {
    guard let expected else {
      return try FuzzFailure.unless(found.kind == .missing, "\(place): \(found.kind) instead of nothing")
    }
    try FuzzFailure.unless(
      found.kind != .missing && found.kind != .arrayStep, "\(place): \(found.kind) instead of \(expected.kindName)")
    var text: [UInt8] = []
    found.appendJSON(from: raw, to: &text)
    try FuzzFailure.unless(
      isSame(try JSONValue(parsing: text), expected),
      "\(place): \(String(decoding: text.prefix(200), as: UTF8.self)) instead of \(expected.text.prefix(200))")
    if let string = expected.stringValue {
      let read = found.string(in: raw)
      try FuzzFailure.unless(
        read.map { Array($0.utf8) == Array(string.utf8) } ?? false, "\(place): its string reads '\(read ?? "")'")
    }
  }
}
