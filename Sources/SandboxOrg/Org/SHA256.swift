/// SHA-256 and HMAC (FIPS 180-4, RFC 2104), for the signature of a token answer. Not for secrets that matter: the sandbox
/// has no other use for a cryptography library.
package enum SHA256 {
  package static func authenticationCode(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
    var block = key.count > 64 ? digest(key) : key
    block += [UInt8](repeating: 0, count: 64 - block.count)
    return digest(block.map { $0 ^ 0x5C } + digest(block.map { $0 ^ 0x36 } + message))
  }

  package static func digest(_ message: [UInt8]) -> [UInt8] {
    var state: [UInt32] = [
      0x6A09_E667, 0xBB67_AE85, 0x3C6E_F372, 0xA54F_F53A, 0x510E_527F, 0x9B05_688C, 0x1F83_D9AB, 0x5BE0_CD19,
    ]
    var padded = message + [0x80]
    while padded.count % 64 != 56 { padded.append(0) }
    let bits = UInt64(message.count) * 8
    for shift in stride(from: 56, through: 0, by: -8) { padded.append(UInt8(truncatingIfNeeded: bits >> UInt64(shift))) }
    for start in stride(from: 0, to: padded.count, by: 64) { compress(padded[start..<start + 64], &state) }
    return state.flatMap { word in [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> UInt32($0)) } }
  }

  private static func compress(_ block: ArraySlice<UInt8>, _ state: inout [UInt32]) {
    var schedule = stride(from: block.startIndex, to: block.endIndex, by: 4).map { index in
      (0..<4).reduce(UInt32(0)) { $0 << 8 | UInt32(block[index + $1]) }
    }
    for index in 16..<64 {
      let a = schedule[index - 15]
      let b = schedule[index - 2]
      let first = rotated(a, 7) ^ rotated(a, 18) ^ (a >> 3)
      let second = rotated(b, 17) ^ rotated(b, 19) ^ (b >> 10)
      schedule.append(schedule[index - 16] &+ first &+ schedule[index - 7] &+ second)
    }
    var word = state
    for index in 0..<64 {
      let mix = rotated(word[4], 6) ^ rotated(word[4], 11) ^ rotated(word[4], 25)
      let choice = (word[4] & word[5]) ^ (~word[4] & word[6])
      let first = word[7] &+ mix &+ choice &+ constants[index] &+ schedule[index]
      let sum = rotated(word[0], 2) ^ rotated(word[0], 13) ^ rotated(word[0], 22)
      let majority = (word[0] & word[1]) ^ (word[0] & word[2]) ^ (word[1] & word[2])
      word = [first &+ sum &+ majority, word[0], word[1], word[2], word[3] &+ first, word[4], word[5], word[6]]
    }
    for index in 0..<8 { state[index] = state[index] &+ word[index] }
  }

  private static func rotated(_ value: UInt32, _ count: UInt32) -> UInt32 { value >> count | value << (32 - count) }

  /// The fractional parts of the cube roots of the first 64 primes, by integer arithmetic: floor(2^32 · ∛p) mod 2^32.
  private static let constants: [UInt32] = {
    var primes: [UInt64] = []
    var candidate: UInt64 = 2
    while primes.count < 64 {
      if primes.allSatisfy({ candidate % $0 != 0 }) { primes.append(candidate) }
      candidate += 1
    }
    return primes.map { UInt32(truncatingIfNeeded: scaledCubeRoot($0)) }
  }()

  /// floor(2^32 · ∛value), by bisection on 128-bit products.
  private static func scaledCubeRoot(_ value: UInt64) -> UInt64 {
    var low: UInt64 = 0
    var high: UInt64 = 1 << 36
    while high - low > 1 {
      let middle = (low + high) / 2
      let cube = UInt128(middle) * UInt128(middle) * UInt128(middle)
      if cube <= UInt128(value) << 96 { low = middle } else { high = middle }
    }
    return low
  }
}
