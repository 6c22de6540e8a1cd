import Support

/// The offsets of a time zone from UTC.
///
/// - Note: FoundationEssentials has no named zones, and the C library's `TZ` applies to the whole
///   process. Named zones are therefore read from the system's zone files (RFC 8536).
struct TimeZoneRules: Sendable, Equatable {
  /// The changes of the offset, in ascending order; times are seconds since 1970 UTC.
  private var transitions: [Transition] = []
  /// The offset before the first transition.
  private var firstOffset: Int
  /// The rule after the last transition; nil if the last offset stays in force.
  private var later: YearlyRule?

  private struct Transition: Sendable, Equatable {
    let time: Int64
    let offset: Int
  }

  static let utc = TimeZoneRules(offset: 0)

  /// A zone with a fixed offset in seconds east of UTC.
  init(offset: Int) { firstOffset = offset }

  /// Finds a zone.
  ///
  /// - Parameters:
  ///   - name: `UTC`, an offset such as `+05:30`, or a name such as `Europe/Berlin`.
  ///   - zoneFile: Returns the bytes of a named zone's file.
  /// - Returns: nil for an unknown name.
  init?(_ name: String, zoneFile: (String) -> [UInt8]? = TimeZoneRules.installedFile) {
    if ["UTC", "GMT", "Z"].contains(name) {
      self = .utc
      return
    }
    var reader = DateReader(name.utf8)
    if let offset = reader.offset(), reader.isAtEnd {
      self.init(offset: offset)
      return
    }
    let isName = name.utf8.allSatisfy { byte in
      byte.isASCIILetter || byte.isASCIIDigit || "/_+-".utf8.contains(byte)
    }
    guard isName, !name.isEmpty, !name.hasPrefix("/"), let file = zoneFile(name) else { return nil }
    self.init(file: file)
  }

  static let folder = "/usr/share/zoneinfo"

  static func installedFile(_ name: String) -> [UInt8]? { FileSystem.read("\(folder)/\(name)") }

  /// Returns the offset in seconds east of UTC.
  ///
  /// - Parameter seconds: Since 1970 UTC.
  func offset(at seconds: Int64) -> Int {
    guard let last = transitions.last, seconds >= last.time else { return offsetBefore(seconds) }
    return later?.offset(at: seconds) ?? last.offset
  }

  private func offsetBefore(_ seconds: Int64) -> Int {
    guard !transitions.isEmpty else { return later?.offset(at: seconds) ?? firstOffset }
    var low = 0, high = transitions.count
    while low < high {
      let middle = (low + high) / 2
      if transitions[middle].time <= seconds { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? firstOffset : transitions[low - 1].offset
  }

  /// Converts wall-clock seconds to seconds since 1970 UTC. If two instants match, returns the
  /// earlier one, so that a watermark never skips. A time that the clock jumps over gets the offset
  /// before the jump.
  func seconds(ofLocal local: Int64) -> Int64 {
    let before = offset(at: local - 86_400), after = offset(at: local + 86_400)
    let earlier = local - Int64(max(before, after)), other = local - Int64(min(before, after))
    if offset(at: earlier) == Int(local - earlier) { return earlier }
    if offset(at: other) == Int(local - other) { return other }
    return local - Int64(before)
  }
}

extension TimeZoneRules {
  /// Parses a zone file.
  private init?(file: [UInt8]) {
    var reader = ZoneFileReader(bytes: file)
    guard let first = reader.header(), first.version >= UInt8(ascii: "2") else { return nil }
    reader.skip(first.bodySize(timeSize: 4))
    guard let header = reader.header(), header.fits(in: reader.remaining) else { return nil }
    let times = (0..<header.times).map { _ in reader.integer(8) }
    let kinds = (0..<header.times).map { _ in Int(reader.integer(1) & 0xff) }
    var offsets: [Int] = []
    for _ in 0..<header.types {
      offsets.append(Int(reader.integer(4)))
      reader.skip(2)
    }
    guard let standard = offsets.first, kinds.allSatisfy({ $0 < offsets.count }) else { return nil }
    firstOffset = standard
    transitions = zip(times, kinds).map { Transition(time: $0, offset: offsets[$1]) }
    reader.skip(header.characters + header.leaps * 12 + header.standardFlags + header.universalFlags)
    later = YearlyRule(reader.footer())
  }
}

private struct ZoneFileReader {
  struct Header {
    let version: UInt8
    let universalFlags: Int, standardFlags: Int, leaps: Int, times: Int, types: Int, characters: Int

    func bodySize(timeSize: Int) -> Int {
      times * (timeSize + 1) + types * 6 + characters + leaps * (timeSize + 4) + standardFlags + universalFlags
    }

    func fits(in count: Int) -> Bool { types > 0 && bodySize(timeSize: 8) <= count }
  }

  let bytes: [UInt8]
  var position = 0

  var remaining: Int { max(0, bytes.count - position) }

  mutating func skip(_ count: Int) { position += count }

  /// Reads a big-endian signed integer; 0 past the end.
  mutating func integer(_ width: Int) -> Int64 {
    guard remaining >= width else { return 0 }
    var value = width > 1 && bytes[position] & 0x80 != 0 ? Int64(-1) : 0
    for byte in bytes[position..<(position + width)] { value = value << 8 | Int64(byte) }
    position += width
    return value
  }

  mutating func header() -> Header? {
    guard remaining >= 44, bytes[position...].starts(with: "TZif".utf8) else { return nil }
    let version = bytes[position + 4]
    position += 20
    let counts = (0..<6).map { _ in Int(integer(4)) }
    guard counts.allSatisfy({ (0...100_000).contains($0) }) else { return nil }
    return Header(
      version: version, universalFlags: counts[0], standardFlags: counts[1], leaps: counts[2], times: counts[3],
      types: counts[4], characters: counts[5])
  }

  /// Returns the rule between the last two line breaks.
  func footer() -> String {
    guard remaining > 1, bytes[position] == 0x0a else { return "" }
    return String(decoding: bytes[(position + 1)...].prefix { $0 != 0x0a }, as: UTF8.self)
  }
}
