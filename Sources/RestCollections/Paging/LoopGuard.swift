import JSON

/// Detects a server whose pages form a loop.
///
/// Within a run, the hashes of all addresses are known. The cursor stores only one address, which
/// is replaced by a later one each time the distance has doubled (Brent's algorithm), so that a
/// loop is found even across runs of one page each.
struct LoopGuard: Sendable, Equatable {
  private var seen: Set<UInt64> = []
  private var kept: UInt64?
  private var distance = 0
  private var longest = 1

  init() {}

  /// Records an address; returns false if it occurred before.
  mutating func follow(_ address: String) -> Bool {
    let hash = StableHash.of(address)
    guard hash != kept, seen.insert(hash).inserted else { return false }
    distance += 1
    if kept == nil || distance == longest { (kept, distance, longest) = (hash, 0, kept == nil ? 1 : longest * 2) }
    return true
  }

  var json: JSONObject {
    var json: JSONObject = ["distance": .integer(Int64(distance)), "longest": .integer(Int64(longest))]
    if let kept { json["kept"] = .integer(Int64(bitPattern: kept)) }
    return json
  }

  /// Fails for JSON that ``json`` did not produce.
  init?(_ json: JSONObject?) {
    guard let distance = json?["distance"]?.integerValue, let longest = json?["longest"]?.integerValue,
      (0...longest).contains(distance), longest <= 1 << 40
    else { return nil }
    (self.distance, self.longest) = (Int(distance), Int(longest))
    kept = json?["kept"]?.integerValue.map { UInt64(bitPattern: $0) }
  }
}

/// Hashes text with the same result in every process and release, because hashes are stored.
enum StableHash {
  /// FNV-1a, 64 bits.
  static func of(_ text: String) -> UInt64 { of(text.utf8) }

  static func of(_ bytes: some Sequence<UInt8>) -> UInt64 {
    bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}
