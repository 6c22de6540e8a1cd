import CZlib
import SandboxServer

/// Draws pictures of accounts: real PNG files, always the same for an account.
enum Avatar {
  /// Answers `GET /avatars/u/<id>`; nil for any other path. Avatars do not count towards a rate
  /// limit.
  static func reply(to request: ServerRequest) -> ServerReply? {
    guard request.segments.count == 3, request.segments[0] == "avatars", request.segments[1] == "u",
      ["GET", "HEAD"].contains(request.method)
    else { return nil }
    guard let id = Int64(request.segments[2]), ForgeSeed.accounts.contains(where: { $0.id == id }) else {
      return ForgeError.notFound.reply
    }
    let wish = request.parameter("s").flatMap { Int($0) } ?? Tuning.avatarPixels
    let bytes = png(of: id, side: min(max(wish, 5), Tuning.largestAvatarPixels))
    let tag = EntityTag.of(bytes)
    let headers = [(name: "ETag", value: tag), (name: "Cache-Control", value: "public, max-age=300")]
    if request.header("if-none-match") == tag { return ServerReply(status: 304, headers: headers, body: []) }
    return ServerReply(status: 200, headers: [("Content-Type", "image/png")] + headers, body: bytes)
  }

  /// Draws five by five squares, mirrored left to right, in the account's color.
  static func png(of id: Int64, side: Int) -> [UInt8] {
    var random = SeedRandom(UInt64(bitPattern: id) &* 77)
    let color = (0..<3).map { _ in UInt8(80 + random.below(140)) }
    let cells = (0..<15).map { _ in random.chance(50) }
    var rows: [UInt8] = []
    rows.reserveCapacity(side * (side * 3 + 1))
    for y in 0..<side {
      rows.append(0)  // filter type: none
      for x in 0..<side {
        let column = min(4, x * 5 / side), row = min(4, y * 5 / side)
        rows += cells[row * 3 + min(column, 4 - column)] ? color : [240, 240, 240]
      }
    }
    let size = number(side)
    return [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A] + chunk("IHDR", size + size + [8, 2, 0, 0, 0])
      + chunk("IDAT", deflated(rows)) + chunk("IEND", [])
  }

  private static func chunk(_ name: String, _ bytes: [UInt8]) -> [UInt8] {
    let content = Array(name.utf8) + bytes
    return number(bytes.count) + content + number(Int(crc32(0, content, UInt32(content.count))))
  }

  /// Returns four bytes, big-endian.
  private static func number(_ value: Int) -> [UInt8] {
    [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
  }

  private static func deflated(_ bytes: [UInt8]) -> [UInt8] {
    var count = compressBound(UInt(bytes.count))
    return [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, used in
      let status = compress(buffer.baseAddress, &count, bytes, UInt(bytes.count))
      used = status == Z_OK ? Int(count) : 0
    }
  }
}
