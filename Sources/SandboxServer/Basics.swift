// For every file of this module: texts are equal if their bytes are, and no double becomes an integer that does not fit.
@_exported import Support
