import Glibc

/// A pseudo-terminal of a certain size for a child.
struct Terminal {
  struct OpenError: Error { let code: Int32 }

  var columns: UInt16 = 100
  var rows: UInt16 = 40

  /// - Returns: The master end, and the name of the child's end.
  func open() throws -> (master: Int32, name: String) {
    let master = Glibc.open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
    var number: UInt32 = 0, isLocked: Int32 = 0
    var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
    guard master >= 0, ioctl(master, Self.getNumber, &number) == 0, ioctl(master, Self.setLock, &isLocked) == 0,
      ioctl(master, UInt(TIOCSWINSZ), &size) == 0
    else { throw OpenError(code: errno) }
    return (master, "/dev/pts/\(number)")
  }

  /// TIOCGPTN and TIOCSPTLCK, which Swift does not import.
  private static let getNumber: UInt = 0x8004_5430, setLock: UInt = 0x4004_5431
}
