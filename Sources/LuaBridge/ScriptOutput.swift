import CLuaBridge

/// What the scripts of this process print.
public enum ScriptOutput {
  /// Writes it out.
  ///
  /// - Returns: 0 if standard output has everything, or if its reader is gone; the errno with which it fails now; -1 if it failed
  ///   earlier.
  public static func flush() -> Int32 { tureen_output_failure() }
}
