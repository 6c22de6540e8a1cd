import Support

/// Percent-encodes path segments, queries and forms.
public typealias PercentEncoding = Support.PercentEncoding
