/// Gzip of zero bytes, without a library: the blocks of a compressed megabyte, repeated.
enum Gzip {
  static func zeros(_ count: Int) -> [UInt8] {
    var bits = BitWriter()
    var rest = count
    // One block with fixed codes: a literal zero, then copies of it.
    bits.write(1, 1)
    bits.write(1, 2)
    if rest > 0 {
      bits.writeCode(0x30, 8)
      rest -= 1
    }
    while rest >= 258 {
      bits.writeCode(0b1100_0101, 8)  // length 258
      bits.writeCode(0, 5)  // distance 1
      rest -= 258
    }
    for _ in 0..<rest { bits.writeCode(0x30, 8) }
    bits.writeCode(0, 7)  // the end
    return [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 3] + bits.finish() + little(crc(zeros: count))
      + little(UInt32(truncatingIfNeeded: count))
  }

  private struct BitWriter {
    private var bytes: [UInt8] = [], bits: UInt64 = 0, count = 0

    /// Least significant bit first.
    mutating func write(_ value: UInt64, _ width: Int) {
      bits |= value << UInt64(count)
      count += width
      while count >= 8 {
        bytes.append(UInt8(truncatingIfNeeded: bits))
        bits >>= 8
        count -= 8
      }
    }

    /// Most significant bit first, as the codes are.
    mutating func writeCode(_ code: UInt64, _ width: Int) {
      for bit in (0..<width).reversed() { write(code >> UInt64(bit) & 1, 1) }
    }

    mutating func finish() -> [UInt8] {
      if count > 0 { write(0, 8 - count) }
      return bytes
    }
  }

  private static func little(_ value: UInt32) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * UInt32($0))) } }

  private static func crc(zeros count: Int) -> UInt32 {
    let table = (0..<256).map { start -> UInt32 in
      var value = UInt32(start)
      for _ in 0..<8 { value = value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
      return value
    }
    var value = ~UInt32(0)
    for _ in 0..<count { value = table[Int(value & 0xff)] ^ (value >> 8) }
    return ~value
  }
}
