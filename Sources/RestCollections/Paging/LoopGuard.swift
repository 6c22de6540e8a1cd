import JSON

/// Notices when a server's pages lead in a circle.
///
/// In one run every address that came is known by its hash. What is kept with the cursor is one address, exchanged for a
/// later one each time the distance has doubled (Brent's method): a circle shows across runs of one page each, too.
struct LoopGuard: Sendable, Equatable {
  private var seen: Set<UInt64> = []
  private var kept: UInt64?
  private var distance = 0
  private var longest = 1

  init() {}

  /// Takes down an address; false when it came before.
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

  /// nil for what was not written by ``json``.
  init?(_ json: JSONObject?) {
    guard let distance = json?["distance"]?.integerValue, let longest = json?["longest"]?.integerValue,
      (0...longest).contains(distance), longest <= 1 << 40
    else { return nil }
    (self.distance, self.longest) = (Int(distance), Int(longest))
    kept = json?["kept"]?.integerValue.map { UInt64(bitPattern: $0) }
  }
}

/// The same in every process and every release: it is stored.
enum StableHash {
  /// FNV-1a, 64 bits.
  static func of(_ text: String) -> UInt64 { of(text.utf8) }

  static func of(_ bytes: some Sequence<UInt8>) -> UInt64 {
    bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}
