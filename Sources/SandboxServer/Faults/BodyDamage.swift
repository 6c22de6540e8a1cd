/// Damages response bodies. The same randomness gives the same damage.
enum BodyDamage {
  /// Flips one bit in each of `count` different bytes, or in every byte if the body is shorter.
  static func flip(_ body: inout [UInt8], _ count: Int, _ random: SeedRandom) {
    var random = random
    var places: Set<Int> = []
    let wanted = min(count, body.count)
    while places.count < wanted {
      let place = random.below(body.count)
      // Take the next free byte: when most bytes are taken, drawing until a free one comes up is
      // slow.
      var free = place
      while places.contains(free) { free = (free + 1) % body.count }
      places.insert(free)
      body[free] ^= 1 << UInt8(random.below(8))
    }
  }

  /// Removes a bracket or a colon outside strings, so that the text is not valid JSON. Appends a
  /// brace if there is none to remove.
  static func breakJSON(_ body: inout [UInt8], _ random: SeedRandom) {
    var random = random
    var places: [Int] = []
    var isInString = false, isEscaped = false
    for (index, byte) in body.enumerated() {
      switch byte {
      case _ where isEscaped: isEscaped = false
      case UInt8(ascii: "\\") where isInString: isEscaped = true
      case UInt8(ascii: "\""): isInString.toggle()
      case _ where "{}[]:".utf8.contains(byte): if !isInString { places.append(index) }
      default: break
      }
    }
    guard !places.isEmpty else { return body.append(UInt8(ascii: "{")) }
    body.remove(at: random.pick(places))
  }

  /// Inserts the byte FF at a random position.
  static func breakUTF8(_ body: inout [UInt8], _ random: SeedRandom) {
    var random = random
    body.insert(0xFF, at: random.below(body.count + 1))
  }

  /// Replaces the body by a gzip header and random bytes; the first one declares a reserved block
  /// type.
  static func fakeGzip(_ reply: inout ServerReply, _ random: SeedRandom) {
    var random = random
    reply.headers.removeAll { $0.name.lowercased() == "content-encoding" }
    reply.headers.append(("Content-Encoding", "gzip"))
    reply.body =
      [0x1F, 0x8B, 0x08, 0, 0, 0, 0, 0, 0, 0xFF, 0x07] + (0..<max(16, reply.body.count / 4)).map { _ in UInt8(random.below(256)) }
  }
}
