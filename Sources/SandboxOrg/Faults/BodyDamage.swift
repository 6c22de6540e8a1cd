/// Ways to spoil a body. The same randomness gives the same damage.
enum BodyDamage {
  /// Turns over one bit in each of `count` bytes at different places; all of them when there are not so many.
  static func flip(_ body: inout [UInt8], _ count: Int, _ random: SeedRandom) {
    var random = random
    var places: Set<Int> = []
    let wanted = min(count, body.count)
    while places.count < wanted {
      let place = random.below(body.count)
      // Beyond half of the bytes looking for free ones would take long: the next free one does.
      var free = place
      while places.contains(free) { free = (free + 1) % body.count }
      places.insert(free)
      body[free] ^= 1 << UInt8(random.below(8))
    }
  }

  /// Takes away a bracket or a colon that stands outside strings: what is left is never JSON. A text without one gets a brace
  /// too many.
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

  /// Puts in the byte FF.
  static func breakUTF8(_ body: inout [UInt8], _ random: SeedRandom) {
    var random = random
    body.insert(0xFF, at: random.below(body.count + 1))
  }

  /// A gzip header, then random bytes whose first says that the block has a type there is not.
  static func pretendGzip(_ reply: inout ServerReply, _ random: SeedRandom) {
    var random = random
    reply.headers.removeAll { $0.name.lowercased() == "content-encoding" }
    reply.headers.append(("Content-Encoding", "gzip"))
    reply.body =
      [0x1F, 0x8B, 0x08, 0, 0, 0, 0, 0, 0, 0xFF, 0x07] + (0..<max(16, reply.body.count / 4)).map { _ in UInt8(random.below(256)) }
  }
}
