import CLuaBridge

/// What the scripts of this process print.
public enum ScriptOutput {
  /// Writes it out.
  ///
  /// - Returns: The errno with which standard output failed, now or earlier; 0 if it has everything, or if its reader is gone.
  public static func flush() -> Int32 { tureen_output_failure() }
}
